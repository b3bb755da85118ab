"""The lock file: what it holds, and what is told when a checkpoint is not the one in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import made_reports as made
from command_line import DRAFTER, TARGET, call, enter
from drafter_lint import lock
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.linter import Selection
from drafter_lint.lock import Entry, Lock, compared, entry
from drafter_lint.reference import Reference
from drafter_lint.report import Subject
from drafter_lint.sources import MemorySource
from test_json import validated

PAIR = f'[[pair]]\ndrafter = "{DRAFTER}"\ntarget = "{TARGET}"\nengines = ["sglang==0.5.23"]\n'
HEADER = b'{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}'
WEIGHTS = len(HEADER).to_bytes(8, "little") + HEADER


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with the small pair and settings."""
    enter(tmp_path, monkeypatch)
    (tmp_path / "drafter-lint.toml").write_text(PAIR)
    return tmp_path


def findings() -> list[dict[str, Any]]:
    (check,) = validated(call("check", "--locked", "--format", "json").out)["checks"]
    found: list[dict[str, Any]] = check["findings"]
    return found


def checkpoint(commit: str | None, weights: bytes = b"\0" * 8) -> Checkpoint:
    files = {"config.json": b"{}", "model.safetensors": WEIGHTS + weights}
    name = "acme/pet"
    return Checkpoint(
        Reference(spelling=name, kind="hub", name=name), MemorySource(name, files, commit=commit), role="drafter"
    )


def test_a_lock_holds_names_commits_and_digests(folder: Path) -> None:
    assert call("lock") == (0, "drafter-lint.lock: 2 checkpoints\n", "")
    document = json.loads((folder / "drafter-lint.lock").read_text())
    drafter, target = document["checkpoints"]
    assert (document["version"], drafter["role"], target["role"]) == (1, "drafter", "target")
    assert (drafter["reference"], drafter["name"], drafter["commit"]) == (DRAFTER, "example/drafter", None)
    assert list(drafter["files"]) == ["config.json", "model.safetensors"]
    assert list(target["files"]) == ["config.json"]
    before = (folder / "drafter-lint.lock").read_bytes()
    assert call("lock").code == 0
    assert (folder / "drafter-lint.lock").read_bytes() == before
    assert [path.name for path in folder.iterdir() if "lock" in path.name] == ["drafter-lint.lock"]


def test_what_is_as_locked_says_nothing_and_what_moved_fails(folder: Path) -> None:
    call("lock")
    assert findings() == []
    assert call("check", "--locked").code == 0
    path = folder / DRAFTER
    path.write_text(path.read_text().replace('"eos_token_id": 511', '"eos_token_id": 510'))
    (found,) = findings()
    assert (found["code"], found["outcome"], found["measured"]["part"]) == ("DFL904", "hygiene", "config.json")
    assert (found["locations"][0]["file"], found["locations"][0]["line"]) == ("drafter-lint.lock", 6)
    for words in ((), ("--fail-on", "refuses"), ("--format", "sarif")):
        assert call("check", "--locked", *words).code == 1
    assert call("check", "--locked", "--fail-on", "never").code == 0
    assert call("check").code == 0
    assert call("check", "--locked", "--ignore", "DFL904").code == 0
    call("lock")
    assert call("check", "--locked").code == 0


def test_a_checkpoint_the_lock_does_not_know(folder: Path) -> None:
    call("lock")
    (folder / "other.recipe.toml").write_text((folder / DRAFTER).read_text())
    code, out, _ = call("check", "other.recipe.toml", "--target", TARGET, "--engine", "sglang", "--locked")
    assert code == 1
    assert "the lock file knows none" in out


def test_a_digest_is_of_the_header_and_not_of_the_weights() -> None:
    one, other = entry(checkpoint(None)), entry(checkpoint(None, weights=b"\1" * 8))
    assert one == other
    assert one.files["model.safetensors"] == lock._sha256(WEIGHTS)


def test_a_commit_that_moved() -> None:
    before = entry(checkpoint("1c0ffee" * 5))
    known = Lock(path=Path("l"), text='"reference": "acme/pet"', entries={("drafter", "acme/pet"): (before, 1)})
    subject = Subject(role="drafter", spelling="acme/pet", name="acme/pet")
    check = replace(made.check(), drafter=subject)
    (told,) = compared([check], known, [checkpoint("8d2e004" * 5)], selection=Selection())
    (found,) = told.findings
    assert found.message == "acme/pet: commit is 8d2e0048d2e0, the lock file says 1c0ffee1c0ff"
    assert told.verdict == "hygiene"
    (told,) = compared([check], known, [checkpoint("1c0ffee" * 5)], selection=Selection())
    assert told.verdict == "ok"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "drafter-lint.lock: no such file; drafter-lint lock writes it"),
        ("", "drafter-lint.lock: no lock file; drafter-lint lock writes it again"),
        ("[]", "drafter-lint.lock: no lock file"),
        ('{"version": 1, "checkpoints": [1]}', "drafter-lint.lock: no lock file"),
        ('{"version": 2, "checkpoints": []}', "drafter-lint.lock: written by another release of drafter-lint"),
    ],
)
def test_no_lock_file(folder: Path, text: str | None, expected: str) -> None:
    if text is not None:
        (folder / "drafter-lint.lock").write_text(text)
    code, out, err = call("check", "--locked")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {expected}")


def test_nothing_to_lock(folder: Path) -> None:
    (folder / "drafter-lint.toml").write_text("")
    assert call("lock").err == "error: there is no [[pair]] in the settings; write one into drafter-lint.toml\n"
    (folder / "drafter-lint.toml").write_text(PAIR.replace(DRAFTER, "./nowhere"))
    code, out, err = call("lock")
    assert (code, out) == (3, "")
    assert err == "error: ./nowhere: there is no such folder\n"
    assert not (folder / "drafter-lint.lock").exists()


def test_an_old_lock_stays_whole_if_a_new_one_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("lock")
    before = (folder / "drafter-lint.lock").read_bytes()

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(lock, "write_whole", broken)
    assert call("lock").err == "error: drafter-lint.lock could not be written: No space left on device\n"
    assert (folder / "drafter-lint.lock").read_bytes() == before


def test_an_entry_is_compared_by_value() -> None:
    assert Entry(role="drafter", reference="a", name="a", commit=None, files={}) != entry(checkpoint(None))
