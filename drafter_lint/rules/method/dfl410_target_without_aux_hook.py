"""The target's class cannot hand over auxiliary states in this version.

## What it checks
Whether the engine's class for the target has the hook that captures hidden states of inner layers, and is on the
engine's list where there is one; and whether the hook reaches its layers.

## Why it bites
EAGLE-3 needs states from three inner layers. Each model class gains the hook on its own, often several releases after
the model itself. SGLang's Qwen3.5 inherited one that tells the model which layers to capture and marks none of them: it
hands over nothing and stops at its first pass (0.5.11 to 0.5.21).

## Fix
Use a release whose class for this target has the hook, or a drafter that takes the last state only.

## Limits
Knows the classes of the releases that were read. Of a class that is not among them, one the model library brings or a
plugin, nothing is known, and nothing passes.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.engines.plan import HOOK_UNKNOWN
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import refused_together
from drafter_lint.scope import Deployment


@rule("DFL410", "target-without-aux-hook", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so, or that the class is none it knows."""
    for step in at.plan.steps:
        if step.topic == HOOK_UNKNOWN:
            yield NotChecked(step.says, needed=True)
    yield from refused_together(
        at,
        "target-without-aux-hook",
        Fix("a release whose class for this target captures inner states, or a drafter that takes the last state only"),
    )
