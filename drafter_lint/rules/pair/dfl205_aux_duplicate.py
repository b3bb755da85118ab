"""The same layer named twice.

## What it checks
Every list of auxiliary layer ids for repetitions.

## Why it bites
A layer is captured once, however often it is named. The states handed over are then fewer than the list promises and
than `fc` takes.

## Fix
Name each layer once, with as many layers as `fc` takes states.

## Limits
Whether the engine at hand reads this list is told by the rules on captured states.
"""

from __future__ import annotations

from collections import Counter

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Pair


@rule("DFL205", "aux-duplicate", Outcome.HYGIENE)
def check(at: Pair[Eagle | BlockDrafter]) -> Checks:
    """Repeated ids."""
    for written in at.drafter.layer_ids:
        ids = written.ids.value
        twice = sorted(identifier for identifier, times in Counter(ids).items() if times > 1)
        if twice:
            yield Found(
                message=f"layer ids {list(ids)} name {twice} more than once: {len(set(ids))} states, not {len(ids)}",
                locations=(written.ids.at.saying(f"{twice} repeated"),),
                measured={"ids": list(ids), "distinct": len(set(ids))},
                fix=Fix("name each layer once"),
            )
