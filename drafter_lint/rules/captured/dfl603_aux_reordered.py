"""The drafter's layer ids are not in ascending order.

## What it checks
The order of the list this engine reads.

## Why it bites
Engines hand the states over in the order of the layers, whatever the order of the list; a drafter whose `fc` was
trained in the list's order cannot be served. SGLang also decides by the first id of the list which dialect it is
written in.

## Fix
Write the ids in ascending order.

## Limits
Trainers join the states in ascending order, so the list is most likely written carelessly and the drafter fine.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.captured.states import compare
from drafter_lint.scope import Deployment


@rule("DFL603", "aux-reordered", Outcome.HYGIENE)
def check(at: Deployment[Eagle]) -> Checks:
    """Only where the list is read and what is captured is right."""
    parted = compare(at)
    if parted is None or parted.kind not in {"agree", "undecided"} or parted.capture.read is None:
        return
    written = parted.capture.read
    ascending = sorted(written.value)
    if list(written.value) == ascending or written.at.pointer is None:
        return
    yield Found(
        message=f"layer ids {list(written.value)} are captured in layer order: {list(parted.capture.boundaries)}",
        locations=(written.at.saying("not ascending"),),
        measured={"written": list(written.value), "captured": list(parted.capture.boundaries)},
        evidence=parted.evidence(at),
        fix=Fix(f"write them ascending: {ascending}", (SetConfig(written.at.pointer, [*ascending]),)),
    )
