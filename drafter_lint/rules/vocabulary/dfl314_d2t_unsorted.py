"""A vocabulary map that leads to target tokens out of order.

## What it checks
That i + d2t[i] rises with i.

## Why it bites
Engines do not mind the order. Every trainer writes the drafted ids ascending, though, so a map in another order has
been through other hands, and head and map may no longer be in the same one.

## Fix
None is needed if the head's rows are in the order of the map.

## Limits
Only the order is looked at; ids that come up twice are reported as that.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known


@rule("DFL314", "d2t-unsorted", Outcome.HYGIENE)
def check(at: Known[Eagle]) -> Checks:
    """The first step down."""
    drafted = faulty(at, "d2t-unsorted")
    if drafted is None:
        return
    targets = drafted.targets
    first = next(i for i in range(1, len(targets)) if targets[i] < targets[i - 1])
    found = Found(
        message=f"d2t leads to target tokens out of order: draft token {first - 1} means {targets[first - 1]} and "
        f"draft token {first} means {targets[first]}",
        locations=(at.drafter.tensor_at("d2t", f"[{first}] steps down"),),
        measured={"draft_id": first, "target_id": targets[first], "before": targets[first - 1]},
        evidence=READERS,
        fix=Fix("check that lm_head's rows are in the order of d2t"),
    )
    yield told(at, "d2t-unsorted", found)
