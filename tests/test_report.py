"""Verdicts and exit codes: what a run's findings add up to."""

from __future__ import annotations

import pytest

from drafter_lint.findings import Confidence, Finding, FindingsError, Outcome, Skip, weakest
from drafter_lint.report import Check, Cost, EngineSubject, FailOn, Report, Subject

COST = Cost(requests=0, bytes=0, seconds=0.0)
DRAFTER = Subject(role="drafter", spelling="d", name="acme/duck-eagle3", commit="1c0ffee1234")


def finding(outcome: Outcome) -> Finding:
    return Finding(
        code="DFL999",
        name="made-up",
        outcome=outcome,
        confidence=Confidence.CERTAIN,
        message=f"something {outcome.value}",
        locations=(),
        measured={},
        evidence=(),
        fix=None,
    )


def check(*outcomes: Outcome, unread: bool = False, engine: str = "sglang", asked: bool = True) -> Check:
    skips = (Skip("DFL004", "hub-unreachable", "it stalled", needed=True),) if unread else (Skip("DFL1", "x", "no"),)
    return Check(
        drafter=DRAFTER,
        target=None,
        engine=EngineSubject(name=engine, version="1", knowledge="observed", newest="1", basis=("1",), asked=asked),
        request=None,
        recognition=None,
        target_read=None,
        plans=(),
        findings=tuple(finding(outcome) for outcome in outcomes),
        not_checked=skips,
        checked=3,
    )


def report(*checks: Check, fail_on: FailOn = "silent") -> Report:
    return Report(checks=checks, cost=COST, fail_on=fail_on)


@pytest.mark.parametrize(
    ("outcomes", "unread", "verdict"),
    [
        ((), False, "ok"),
        ((Outcome.HYGIENE,), False, "hygiene"),
        ((Outcome.SLOW, Outcome.HYGIENE), False, "slow"),
        ((Outcome.SILENT, Outcome.SLOW), False, "silent"),
        ((Outcome.SILENT, Outcome.REFUSES), False, "refuses"),
        ((), True, "unknown"),
        ((Outcome.SLOW,), True, "unknown"),
        ((Outcome.SILENT,), True, "silent"),
        ((Outcome.REFUSES,), True, "refuses"),
    ],
)
def test_the_verdict_is_the_worst_outcome(outcomes: tuple[Outcome, ...], unread: bool, verdict: str) -> None:
    assert check(*outcomes, unread=unread).verdict == verdict


@pytest.mark.parametrize(
    ("fail_on", "outcome", "code"),
    [
        ("silent", Outcome.REFUSES, 1),
        ("silent", Outcome.SILENT, 1),
        ("silent", Outcome.SLOW, 0),
        ("refuses", Outcome.SILENT, 0),
        ("slow", Outcome.SLOW, 1),
        ("hygiene", Outcome.HYGIENE, 1),
        ("never", Outcome.REFUSES, 0),
    ],
)
def test_fail_on_decides_from_where_on_a_run_fails(fail_on: FailOn, outcome: Outcome, code: int) -> None:
    assert report(check(outcome), fail_on=fail_on).exit_code == code


def test_unread_is_three_unless_something_worse_was_found() -> None:
    assert report(check(unread=True)).exit_code == 3
    assert report(check(Outcome.SILENT, unread=True)).exit_code == 1
    assert report(check(unread=True), check(Outcome.SILENT)).exit_code == 1
    assert report(check(), check(unread=True)).exit_code == 3


def test_engines_nobody_asked_for_decide_only_when_all_fail() -> None:
    bad, good = check(Outcome.REFUSES, asked=False), check(engine="vllm", asked=False)
    assert report(bad, good).exit_code == 0
    assert report(bad, check(Outcome.SILENT, engine="vllm", asked=False)).exit_code == 1
    assert report(bad, check(engine="vllm", unread=True, asked=False)).exit_code == 3


def test_raise_for_findings() -> None:
    report(check(Outcome.SLOW)).raise_for_findings()
    with pytest.raises(FindingsError, match="DFL999 made-up: something silent"):
        report(check(Outcome.SILENT)).raise_for_findings()


def test_a_subject_shows_both_spellings_and_the_commit() -> None:
    assert DRAFTER.shown == "d -> acme/duck-eagle3 @ 1c0ffee"
    assert Subject(role="target", spelling="./t", name="./t").shown == "./t"


def test_the_weakest_confidence_counts() -> None:
    assert weakest(Confidence.CERTAIN, Confidence.POSSIBLE, Confidence.LIKELY) is Confidence.POSSIBLE
    assert weakest() is Confidence.CERTAIN
