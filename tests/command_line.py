"""The command line in this process, and a folder with one small pair, for tests of settings, scans and locks."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from drafter_lint import cli

SMALL = Path(__file__).parents[1] / "fixtures" / "small"
DRAFTER, TARGET = "d.recipe.toml", "t.recipe.toml"
#: A command for the pair below that nothing is to be said of.
COMMAND = (
    f"python3 -m sglang.launch_server --model-path {TARGET} --speculative-algorithm EAGLE3 "
    f"--speculative-draft-model-path {DRAFTER} --speculative-num-steps 3 --speculative-eagle-topk 1 "
    "--speculative-num-draft-tokens 4"
)
MISTAKEN = COMMAND.replace("EAGLE3", "EAGLE")


class Answer(NamedTuple):
    """The exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def call(*words: str) -> Answer:
    """Run the command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stop:
        cli.main(list(words))
    assert isinstance(stop.value.code, int)
    assert "Traceback" not in err.getvalue()
    return Answer(stop.value.code, out.getvalue(), err.getvalue())


def small_pair(folder: Path) -> None:
    """Write the pair into a folder."""
    shutil.copy(SMALL / "eagle3-llama.recipe.toml", folder / DRAFTER)
    shutil.copy(SMALL / "target-llama.recipe.toml", folder / TARGET)


def enter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a folder with the small pair, which is the root of a repository."""
    (folder / ".git").mkdir()
    small_pair(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
