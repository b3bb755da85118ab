"""A vocabulary map that was never filled in.

## What it checks
Whether `d2t` is all zeros although the vocabulary is reduced.

## Why it bites
Zeros are what trainers create the map with. Left so, draft id i means target id i: the drafter can only ever propose
the first ids of the vocabulary, and was trained on others.

## Fix
Export the map the drafter was trained with.

## Limits
All zeros are right where every id is drafted. If `t2d` says the drafter was trained on just the first ids, the map is
right too and the drafter merely cannot propose the rest: that is reported as slow.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known


@rule("DFL303", "d2t-placeholder", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """All zeros over a reduced vocabulary."""
    drafted = faulty(at, "d2t-placeholder")
    if drafted is None:
        return
    trained_so = drafted.map.drafted == tuple(range(drafted.rows))
    remark = ", and t2d says the drafter was trained on those" if trained_so else ""
    if drafted.map.drafted is not None and len(drafted.map.drafted) == drafted.map.t2d_length:
        remark = f"; t2d is as it was created too, true for all {drafted.map.t2d_length} ids"
    found = Found(
        message=f"d2t is all zeros: only target tokens 0 to {drafted.rows - 1} of {drafted.vocabulary} can be proposed"
        + remark,
        locations=(at.drafter.tensor_at("d2t", "all zeros"),),
        measured={"drafted": drafted.rows, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("export the d2t the drafter was trained with"),
        outcome=Outcome.SLOW if trained_so else None,
        confidence=Confidence.LIKELY if trained_so else Confidence.CERTAIN,
    )
    yield told(at, "d2t-placeholder", found)
