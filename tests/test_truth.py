"""The judge of every plan: what the real engines did, against what the plan says they will do."""

from __future__ import annotations

import pytest

from truth_cases import TruthCase, load_cases
from truth_judge import Judgement, disagreeing, judge, listed

CASES = load_cases()
#: The recorder looked for whole rows and could not recognise a tensor that is filled up with zeros.
MISRECORDED = {"inter_cfg_wrong": {"dropped"}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_right_pair_is_never_refused_or_silent_and_a_refused_one_never_clean(case: TruthCase) -> None:
    rows = tuple(judge(case, told=True))
    assert disagreeing(rows) == {key for key in listed(told=True) if key[0] == case.id}
    for row in rows:
        if row.recorded == "refuses":
            assert row.predicted == "refuses", row
        if row.predicted == "refuses":
            assert row.recorded in ("refuses", "loads"), row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_from_the_files_alone_every_recorded_detail_agrees_and_nothing_is_unknown(case: TruthCase) -> None:
    rows: tuple[Judgement, ...] = tuple(judge(case, told=False))
    assert disagreeing(rows) == {key for key in listed(told=False) if key[0] == case.id}
    assert [row for row in rows if row.predicted == "unknown"] == []
    wrong = {
        (row.engine, row.version, fact)
        for row in rows
        for fact, (recorded, predicted) in row.facts.items()
        if recorded != predicted
    }
    assert {fact for _, _, fact in wrong} == MISRECORDED.get(case.id, set())


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
def test_few_runs_are_listed_as_disagreeing(engine: str) -> None:
    """One in a hundred once the check is told what the drafter was trained with; `make truth` prints the shares."""
    recorded = sum(
        case.tells(run, version, "outcome")
        for case in CASES
        for run in case.runs
        if run.engine == engine
        for version in run.versions
    )
    for knows, most in ((True, 0.01), (False, 0.05)):
        known = {key for key in listed(told=knows) if key[1] == engine}
        assert 0 < len(known) <= most * recorded
