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
from drafter_lint.rules.vocabulary.drafted import READERS, reduced_vocabulary
from drafter_lint.scope import Alone


@rule("DFL303", "d2t-placeholder", Outcome.SILENT)
def check(at: Alone[Eagle]) -> Checks:
    """All zeros over a reduced vocabulary."""
    drafted = reduced_vocabulary(at.drafter)
    if drafted is None or not drafted.placeholder:
        return
    trained_so = drafted.map.drafted == tuple(range(drafted.rows))
    yield Found(
        message=f"d2t is all zeros: only target tokens 0 to {drafted.rows - 1} of {drafted.vocabulary} can be proposed"
        + (", and t2d says the drafter was trained on those" if trained_so else ""),
        locations=(at.drafter.tensor_at("d2t", "all zeros"),),
        measured={"drafted": drafted.rows, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("export the d2t the drafter was trained with"),
        outcome=Outcome.SLOW if trained_so else None,
        confidence=Confidence.LIKELY if trained_so else Confidence.CERTAIN,
    )
