"""Every fault of a Hub, at every stage: in time, by name, with the right exit code, and never as a clean check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hub_faults import FAULTS, STAGES, Fault, broken, check, expected, repositories
from hub_pairs import DRAFTER, TARGET, Answer
from loopback_hub import LoopbackHub, Stage

#: Faults that only the deadline ends are given a short one.
SHORT, LONG = 1.0, 20.0
#: What a busy machine may take beside waiting: that a deadline holds is asserted, not how fast this machine is.
GRACE = 10.0
ADVICE = ("try again", "HF_TOKEN", "accept the terms", "check the spelling")
SIDES = [
    *((DRAFTER, stage, fault) for stage in STAGES for fault in FAULTS),
    *((TARGET, stage, fault) for stage in ("info", "config") for fault in FAULTS if not fault.waits),
    *((TARGET, stage, fault) for stage in ("info", "config") for fault in FAULTS if fault.name == "stall"),
]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))


@pytest.fixture(scope="module")
def sound() -> Answer:
    """What is said of the pair when nothing is the matter."""
    with LoopbackHub(repositories()):
        answer = check(LONG)
    assert (answer.code, answer.err, answer.verdicts) == (0, "", {"ok"})
    return answer


def test_there_are_twelve_faults_and_more() -> None:
    assert len({fault.name for fault in FAULTS}) >= 12
    assert len({fault.words for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize(
    ("name", "stage", "fault"), [pytest.param(*case, id="-".join((*case[:2], case[2].words))) for case in SIDES]
)
def test_a_fault_is_told_in_time_and_the_rest_checked(sound: Answer, name: str, stage: Stage, fault: Fault) -> None:
    deadline = SHORT if fault.waits else LONG
    answer, hub = broken(fault, stage, deadline=deadline, name=name)
    assert answer.err == ""
    assert answer.report["io"]["seconds"] <= deadline + GRACE
    assert hub.token not in answer.out
    assert "Signature" not in answer.out
    wanted = expected(fault, stage)
    assert (answer.code, answer.verdicts) == (wanted.exit_code, {wanted.verdict})
    assert all(item["checked"] > 0 for item in answer.checks)
    if not wanted.code:
        assert said(answer) == said(sound)
        return
    about = f"{name}: {STAGES[stage]}".rstrip(": ")
    lines = [line for line in map(unstamped, answer.said) if line.startswith(wanted.code) and about in line]
    assert lines, answer.said
    if wanted.code < "DFL005":
        role = "drafter" if name == DRAFTER else "target"
        assert all(role in line and any(advice in line for advice in ADVICE) for line in lines), lines


def test_the_page_shows_this_table() -> None:
    """Its verdicts and exit codes; `make faults` measures its times."""
    page = (Path(__file__).parents[1] / "docs" / "hub.md").read_text("utf-8")
    _, _, table = page.partition("<!-- measured: faults -->\n")
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in table.strip().splitlines()[2:][: len(FAULTS)]
    ]
    shown = {row[0]: [tuple(cell.split(", ")[:2]) for cell in row[1:]] for row in rows}
    wanted = {fault.words: [expected(fault, stage) for stage in STAGES] for fault in FAULTS}
    assert shown == {words: [(item.verdict, str(item.exit_code)) for item in items] for words, items in wanted.items()}
    times = [float(cell.split(", ")[2]) for row in rows for cell in row[1:]]
    assert max(times) <= 1.25  # half a second over a deadline of two


def unstamped(line: str) -> str:
    """A line without the short commit behind a repository's name."""
    return re.sub(r" @ [0-9a-f]{7}\b", "", line)


def said(answer: Answer) -> list[object]:
    """What was found and not checked, and on what plan."""
    kept = ("verdict", "findings", "not_checked", "checked", "plan", "launch")
    return [{key: item[key] for key in kept} for item in answer.checks]
