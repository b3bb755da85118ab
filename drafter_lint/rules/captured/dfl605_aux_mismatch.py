"""The target hands over other states than the drafter was trained on.

## What it checks
The boundaries the target will hand over against those the drafter was trained on.

## Why it bites
Shapes agree, loading is clean, and every draft token is rejected.

## Fix
Write the ids in the dialect and the place this engine reads.

## Limits
Where a list can be read in two ways, this speaks only if neither reading is what is captured.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.captured.states import compare, shown, with_fix
from drafter_lint.scope import Deployment


@rule("DFL605", "aux-mismatch", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """They differ, and not by one shift for all."""
    parted = compare(at)
    if parted is None or parted.kind != "mismatch":
        return
    message = (
        f"the target hands over boundaries {list(parted.capture.boundaries)}, this drafter was trained on "
        f"{shown(parted.need)} ({parted.need.reason})"
    )
    yield with_fix(at, parted, parted.found(at, message))
