"""A small repository with a launch file and the checkpoints it names, for what is run in one: hooks and the Action."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "fixtures" / "small"
#: The line and the column of the mistake in ``serve.sh``.
MISTAKE = (3, 27)
#: Nothing listens there.
NO_HUB = "http://127.0.0.1:9"
_LAUNCH = """\
python3 -m sglang.launch_server \\
  --model-path {target} \\
  --speculative-algorithm {algorithm} \\
  --speculative-draft-model-path {drafter} \\
  --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4
"""
_PAIR = """\
[[pair]]
drafter = "models/drafter.recipe.toml"
target = "models/target.recipe.toml"
engines = ["sglang==0.5.23"]
flags = ["--speculative-algorithm", "{algorithm}"]
"""


def models(folder: Path) -> None:
    """An EAGLE-3 drafter and its target."""
    (folder / "models").mkdir()
    shutil.copy(SMALL / "eagle3-llama.recipe.toml", folder / "models" / "drafter.recipe.toml")
    shutil.copy(SMALL / "target-llama.recipe.toml", folder / "models" / "target.recipe.toml")


def launch(folder: Path, algorithm: str) -> None:
    """``serve.sh``: right with EAGLE3, wrong with EAGLE."""
    text = _LAUNCH.format(algorithm=algorithm, drafter="models/drafter.recipe.toml", target="models/target.recipe.toml")
    (folder / "serve.sh").write_text(text, "utf-8")


def launch_from_hub(folder: Path) -> None:
    """``serve.sh`` with names that only the Hub can resolve."""
    text = _LAUNCH.format(algorithm="EAGLE3", drafter="example/drafter", target="example/target")
    (folder / "serve.sh").write_text(text, "utf-8")


def settings(folder: Path, algorithm: str) -> None:
    """``drafter-lint.toml`` with one pair."""
    (folder / "drafter-lint.toml").write_text(_PAIR.format(algorithm=algorithm), "utf-8")


def need_package_index() -> None:
    """Skip a test that builds an environment where nothing can be installed from."""
    if trouble := _index_trouble():
        pytest.skip(f"the package index cannot be used: {trouble}")


@cache
def _index_trouble() -> str:
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, "hatchling"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""
