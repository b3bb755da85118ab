"""A broken checkpoint is told as what it is: never a traceback, never a clean bill, never an obeyed escape."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import pytest

from bad_folders import BIDI, ESC, HARMLESS, KINDS, Kind, locked
from hub_pairs import EVERY_ENGINE, Answer, run, small

JSON = ("--format", "json")


@pytest.fixture(autouse=True)
def _no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def pair(tmp_path: Path) -> dict[str, Path]:
    """A sound drafter and a sound target, as folders."""
    folders = {"drafter": tmp_path / "drafter-eagle3", "target": tmp_path / "target"}
    small("eagle3-llama").write(folders["drafter"])
    small("target-llama").without_weights().write(folders["target"])
    return folders


def check(pair: dict[str, Path]) -> Answer:
    """What is said of a pair in both formats; the two agree on the exit code."""
    args = ("check", str(pair["drafter"]), "--target", str(pair["target"]), *EVERY_ENGINE)
    answer, shown = run(*args, *JSON), run(*args, "-v")
    assert answer.code == shown.code
    for said in (answer, shown):
        assert said.code in {0, 1, 3}, said.err
        assert said.err == ""
        assert "Traceback" not in said.out
        assert obeyed(said.out) == set()
    assert len(shown.out) < 100_000
    assert all(item["checked"] for item in answer.checks)
    return answer


def obeyed(output: str) -> set[str]:
    """The characters of an output that a terminal would obey instead of showing them."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return {char for char in set(output) if char != "\n" and unicodedata.category(char) in kinds}


def test_the_pair_is_sound_before_it_is_broken(pair: dict[str, Path]) -> None:
    answer = check(pair)
    assert answer.code == 0
    assert answer.verdicts <= {"ok", "hygiene"}


#: What is broken in two ways, or broken so that it makes sense: sizes and ids that contradict something else.
SEVERAL = {
    *(
        "empty-folder",
        "gguf-and-no-config",
        "config-in-latin-1",
        "config-without-fields",
        "target-config-without-fields",
    ),
    *("hidden-size-huge", "hidden-size-null", "ids-huge", "ids-negative", "ids-many", "no-tensors"),
}


def told_once(answer: Answer) -> bool:
    """True if no engine's check tells of more than one thing: a finding, or else a file that could not be read."""
    for item in answer.checks:
        found = {finding["code"] for finding in item["findings"]}
        if len(found or {skip["code"] for skip in item["not_checked"] if "DFL000" < skip["code"] < "DFL100"}) > 1:
            return False
    return True


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_a_broken_checkpoint_is_told_as_what_it_is(pair: dict[str, Path], kind: Kind) -> None:
    kind.broken(pair[kind.side])
    answer = check(pair)
    assert told_once(answer) or kind.name in SEVERAL, "\n".join(answer.said)
    assert any(re.search(kind.says, line, re.DOTALL) for line in answer.said), "\n".join(answer.said) or "nothing"
    assert answer.code in kind.codes, "\n".join(answer.said)


@pytest.mark.parametrize("kind", HARMLESS, ids=lambda kind: str(kind.name))
def test_what_only_looks_strange_changes_nothing(pair: dict[str, Path], kind: Kind) -> None:
    sound = check(pair)
    kind.broken(pair[kind.side])
    answer = check(pair)
    assert (answer.code, answer.codes, answer.verdicts) == (sound.code, sound.codes, sound.verdicts)


def test_there_are_forty_kinds_and_no_two_of_one_name() -> None:
    names = [kind.name for kind in KINDS]
    assert len(names) == len(set(names)) >= 40


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "."])
def test_what_may_not_be_read(pair: dict[str, Path], file: str) -> None:
    locked(file)(pair["drafter"])
    if os.access(pair["drafter"] / file, os.R_OK):
        pytest.skip("this user may read everything")
    try:
        answer = check(pair)
    finally:
        (pair["drafter"] / file).chmod(0o700)
    assert answer.code == 3
    assert any(line.startswith("DFL002 drafter") and "ermission" in line for line in answer.said)


def test_one_folder_as_drafter_and_target(pair: dict[str, Path]) -> None:
    answer = check({"drafter": pair["drafter"], "target": pair["drafter"]})
    assert any(line.startswith("DFL704") for line in answer.said)


def test_target_and_drafter_the_wrong_way_round(pair: dict[str, Path]) -> None:
    answer = check({"drafter": pair["target"], "target": pair["drafter"]})
    assert answer.code in {1, 3}


def test_a_file_in_place_of_a_folder(tmp_path: Path, pair: dict[str, Path]) -> None:
    lone = tmp_path / "lone" / "notes.txt"
    lone.parent.mkdir()
    lone.write_text("nothing", encoding="utf-8")
    answer = check({**pair, "drafter": lone})
    assert answer.code in {1, 3}
    assert any("no config.json" in line for line in answer.said)


def test_a_file_of_a_sound_folder_stands_for_the_folder(pair: dict[str, Path]) -> None:
    assert check({**pair, "drafter": pair["drafter"] / "config.json"}).code == 0


@pytest.mark.parametrize("side", ["drafter", "target"])
def test_a_folder_that_is_not_there(pair: dict[str, Path], side: str) -> None:
    answer = check({**pair, side: pair[side].with_name("absent")})
    assert answer.code == 3
    assert any(line.startswith(f"DFL001 {side}") and "there is no such folder" in line for line in answer.said)


def test_a_folder_whose_name_a_terminal_would_obey(pair: dict[str, Path], tmp_path: Path) -> None:
    strange = pair["drafter"].rename(tmp_path / f"{ESC}red{BIDI}\n-eagle3")
    answer = check({**pair, "drafter": strange})
    assert answer.code in {0, 1}


def test_a_folder_with_ten_thousand_other_files(pair: dict[str, Path]) -> None:
    clutter = pair["drafter"] / "clutter"
    clutter.mkdir()
    for number in range(10_050):
        (clutter / f"{number}.txt").touch()
    assert check(pair).code == 0


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_inspecting_it_never_fails(pair: dict[str, Path], kind: Kind) -> None:
    kind.broken(pair[kind.side])
    for answer in (run("inspect", str(pair[kind.side])), run("inspect", str(pair[kind.side]), *JSON)):
        assert answer.code in {0, 3}, answer.err
        assert answer.err == ""
        assert "Traceback" not in answer.out


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_comparing_it_never_fails(pair: dict[str, Path], kind: Kind, tmp_path: Path) -> None:
    name = "eagle3-llama" if kind.side == "drafter" else "target-llama"
    sound = small(name).write(tmp_path / "sound")
    kind.broken(pair[kind.side])
    words = ("compare", str(sound), str(pair[kind.side]), "-v")
    shown = run(*words)
    for answer in (shown, run(*words, *JSON)):
        assert answer.code in {0, 3}, answer.err
        assert answer.err == ""
        assert obeyed(answer.out) == set()
    assert len(shown.out) < 100_000


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_a_plan_of_it_never_fails(pair: dict[str, Path], kind: Kind) -> None:
    kind.broken(pair[kind.side])
    answer = run("plan", str(pair["drafter"]), "--target", str(pair["target"]), *EVERY_ENGINE)
    assert answer.code in {0, 3}, answer.err
    assert answer.err == ""
    assert obeyed(answer.out) == set()
