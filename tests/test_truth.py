"""The judge of every plan: what the real engines did, against what the plan says they will do."""

from __future__ import annotations

import pytest

from truth_cases import TruthCase, load_cases
from truth_judge import Judgement, judge

CASES = load_cases()
#: The recorder looked for whole rows and could not recognise a tensor that is filled up with zeros.
MISRECORDED = {"inter_cfg_wrong": {"dropped"}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_right_pair_is_never_refused_or_silent_and_a_refused_one_never_clean(case: TruthCase) -> None:
    for row in judge(case, told=True):
        if row.recorded == "refuses":
            assert row.predicted == "refuses", row
        if row.predicted == "refuses":
            assert row.recorded in ("refuses", "loads"), row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_from_the_files_alone_every_recorded_detail_agrees_and_nothing_is_unknown(case: TruthCase) -> None:
    rows: tuple[Judgement, ...] = tuple(judge(case, told=False))
    assert [row for row in rows if row.predicted == "unknown"] == []
    wrong = {
        (row.engine, row.version, fact)
        for row in rows
        for fact, (recorded, predicted) in row.facts.items()
        if recorded != predicted
    }
    assert {fact for _, _, fact in wrong} == MISRECORDED.get(case.id, set())
