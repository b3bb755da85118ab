"""--fix, --diff and --unsafe-fixes on the command line, and --engine auto, which says what is fixed for."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from command_line import COMMAND, DRAFTER, MISTAKEN, SMALL, TARGET, call, enter
from drafter_lint import mending
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.fixes import FileChange, Fixes
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.report import Cost, Report
from drafter_lint.sources.local import LocalSource

ABSOLUTE = {"d2t": "I64 256 = absolute(512)", "t2d": "BOOL 512 = matches(d2t)"}
FOUNDING = Path("docs/examples/serve.sh")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch)


def script(text: str = MISTAKEN) -> Path:
    """A launch script beside the pair."""
    path = Path("serve.sh")
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    return path


def test_the_founding_script_becomes_clean(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    shutil.copytree(root / "fixtures" / "recipes", tmp_path / "fixtures" / "recipes")
    shutil.copytree(root / "fixtures" / "targets", tmp_path / "fixtures" / "targets")
    path = Path("founding.sh")
    shutil.copy(root / FOUNDING, path)
    before = path.read_text("utf-8")
    found = call("scan", str(path))
    assert (found.code, "[DFL401]" in found.out) == (1, True)
    done = call("scan", str(path), "--fix")
    assert (done.code, "[DFL" in done.out) == (0, False)
    assert done.err.splitlines()[:2] == [
        "fixed founding.sh",
        "    DFL401 eagle3-run-as-eagle: method EAGLE3: --speculative-algorithm EAGLE3",
    ]
    assert path.read_text("utf-8") == before.replace(
        "--speculative-algorithm EAGLE ", "--speculative-algorithm EAGLE3 "
    )
    assert call("scan", str(path), "--fix") == (0, done.out, "")


@pytest.mark.parametrize("words", [("scan", "serve.sh"), ("check", "--launch", "serve.sh")], ids=lambda words: words[0])
def test_a_difference_is_a_patch_and_nothing_is_written(words: tuple[str, ...]) -> None:
    path = script()
    before = path.read_bytes()
    shown = call(*words, "--diff")
    assert (shown.code, path.read_bytes()) == (1, before)
    assert shown.out.startswith("--- a/serve.sh\n+++ b/serve.sh\n@@ ")
    assert call(*words, "--diff", "--fix").out == shown.out
    assert path.read_bytes() == before
    if shutil.which("patch") is None:
        pytest.skip("there is no patch here")
    subprocess.run(["patch", "-p1"], input=shown.out.encode(), check=True, capture_output=True)
    patched = path.read_bytes()
    path.write_bytes(before)
    assert call(*words, "--fix").code == 0
    assert path.read_bytes() == patched


def test_a_clean_script_has_no_difference() -> None:
    script(COMMAND)
    assert call("scan", "serve.sh", "--diff") == (0, "", "")


def test_reports_are_of_what_is_there_after_the_fix() -> None:
    script()
    done = call("scan", "serve.sh", "--fix", "--format", "concise", "--report", "json=after.json", "-q")
    assert (done.code, done.err) == (0, "")
    assert '"code": "DFL401"' not in Path("after.json").read_text("utf-8")


def test_what_is_left_is_named_with_what_to_do() -> None:
    words = MISTAKEN.split()
    done = call("check", "--launch", " ".join(words), "--fix")
    assert done.code == 1
    assert done.err == (
        "left DFL401 eagle3-run-as-eagle: the command stands in no file; "
        "by hand: method EAGLE3: --speculative-algorithm EAGLE3\n"
    )


def test_what_is_piped_in_cannot_be_mended_but_is_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"#!/bin/sh\n{MISTAKEN}\n"))
    Path("-").mkdir()  # and a name of its own is no help
    done = call("scan", "-", "--fix")
    assert (done.code, "DFL401" in done.out) == (1, True)
    assert done.err.startswith("left DFL401 eagle3-run-as-eagle (-): ")


def absolute() -> Path:
    """A drafter in a folder whose d2t holds ids, with bytes that are not zero everywhere else."""
    folder = Path("drafter")
    Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8")).patched({"tensors": ABSOLUTE}).write(folder)
    weights = folder / "model.safetensors"
    reference = Reference(spelling="drafter", kind="local", name="drafter")
    tensors = Checkpoint(reference, LocalSource("drafter"), role="drafter").tensors
    data = bytearray(weights.read_bytes())
    for name, tensor in tensors.items():
        if name not in ABSOLUTE:
            data[tensor.start : tensor.end] = bytes((tensor.start + i) % 251 for i in range(tensor.end - tensor.start))
    weights.write_bytes(data)
    return weights


def test_unsafe_fixes_rewrite_a_map_and_no_other_byte() -> None:
    weights = absolute()
    before = weights.read_bytes()
    (start,) = [at for at in range(len(before) - 2048) if before[at : at + 24] == _ids(0, 2, 4)]
    command = ("check", "drafter", "-t", TARGET, "-e", "sglang")
    safe = call(*command, "--fix")
    assert (safe.code, weights.read_bytes() == before) == (1, True)
    assert "--unsafe-fixes carries it out" in safe.err
    shown = call(*command, "--unsafe-fixes", "--diff")
    assert shown.out.startswith(f"Tensor d2t of drafter/model.safetensors, bytes {start} to {start + 2047}: ")
    assert weights.read_bytes() == before
    done = call(*command, "--unsafe-fixes")
    after = weights.read_bytes()
    # What is left was there before: the ids of that map leave out the token that ends an answer.
    assert (done.code, re.findall(r"\[(DFL\d+)\]", done.out)) == (0, ["DFL322"])
    assert done.err.startswith("fixed drafter/model.safetensors\n    DFL302 d2t-absolute: ")
    assert after[start : start + 2048] == _ids(*range(256))
    assert (after[:start], after[start + 2048 :]) == (before[:start], before[start + 2048 :])


def _ids(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, "little") for value in values)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions mean something else there")
def test_a_file_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    path = script()
    monkeypatch.setattr("os.access", lambda *_: False)
    done = call("scan", "serve.sh", "--fix")
    assert (done.code, done.err) == (2, "error: --fix: serve.sh is read-only\n")
    assert "EAGLE " in path.read_text("utf-8")


def test_fixes_that_go_in_circles_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    empty = Report(checks=(), cost=Cost(requests=0, bytes=0, seconds=0))
    change = cast("FileChange", object())
    monkeypatch.setattr(mending, "plan_fixes", lambda *_, **__: Fixes(changes=(change,)))
    monkeypatch.setattr(mending, "apply", lambda _: rounds.append(1))
    found = mending.mended(lambda: empty, unsafe=False, variables={})
    assert len(rounds) == len(found.done) == mending.MAX_ROUNDS


def distribution(folder: Path, name: str, version: str) -> None:
    """What an installed distribution leaves to be read."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")


def test_auto_is_the_engine_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = (DRAFTER, "-t", TARGET, "-e", "auto", "--format", "concise", "-v")
    nothing = call("check", *pair)
    assert nothing.code == 2
    assert "no sglang or vllm is installed" in nothing.err
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    distribution(tmp_path / "site", "sglang", "0.5.9")
    assert "sglang 0.5.9" in call("check", *pair).out
    distribution(tmp_path / "site", "vllm", "0.32.0+cu130")
    both = call("check", *pair).out
    assert "sglang 0.5.9" in both
    assert "vllm 0.32.0+cu130" in both
    flags = call("check", *pair, "--", "--speculative-algorithm", "EAGLE3").out
    assert "sglang 0.5.9" in flags
    assert "vllm" not in flags


def test_auto_takes_the_version_of_the_document_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    distribution(tmp_path / "site", "sglang", "0.5.9")
    image = f"docker run lmsysorg/sglang:v0.5.14 {COMMAND}"
    for text, version in ((COMMAND, "0.5.9"), (image, "0.5.14")):
        script(text)
        for words in (("scan", "serve.sh"), ("check", "--launch", "serve.sh")):
            assert f"sglang {version} (" in call(*words, "-e", "auto").out, (text, words)
    Path("drafter-lint.toml").write_text('engines = ["auto"]\n', "utf-8")
    script()
    assert "sglang 0.5.9 (" in call("scan", "serve.sh").out
