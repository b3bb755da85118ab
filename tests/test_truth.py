"""The judge of every plan: what the real engines did, against what the plan says they will do."""

from __future__ import annotations

from functools import cache

import pytest

from truth_cases import TruthCase, load_cases
from truth_judge import Judgement, judge

CASES = [case for case in load_cases() if case.family == "eagle"]


@cache
def rows() -> tuple[Judgement, ...]:
    return tuple(row for case in CASES for row in judge(case, told=False))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_right_pair_is_never_refused_or_silent_and_a_refused_one_never_clean(case: TruthCase) -> None:
    for row in judge(case, told=True):
        if row.recorded == "refuses":
            assert row.predicted == "refuses", row
        if row.predicted == "refuses":
            assert row.recorded in ("refuses", "loads"), row


def test_every_recorded_detail_agrees_where_the_plan_goes_through() -> None:
    wrong = [
        (row.case, row.engine, row.version, fact, recorded, predicted)
        for row in rows()
        for fact, (recorded, predicted) in row.facts.items()
        if recorded != predicted
    ]
    # The recorder looked for whole rows and could not recognise a tensor that is filled up with zeros.
    assert {row[0] for row in wrong} <= {"inter_cfg_wrong"}


def test_nothing_ends_unknown() -> None:
    assert not [row for row in rows() if row.predicted == "unknown"]
