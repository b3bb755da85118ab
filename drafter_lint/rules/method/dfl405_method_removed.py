"""The method was removed from this version of the engine.

## What it checks
Whether the method asked for existed in earlier releases of the engine and is gone from this one.

## Why it bites
A command that worked for months stops at start after an upgrade, with a message that looks like a spelling mistake.

## Fix
Stay on a release that has the method, or use a drafter of another one.

## Limits
Knows the releases that were read.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused_together
from drafter_lint.scope import Deployment


@rule("DFL405", "method-removed", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused_together(
        at, "method-removed", Fix("stay on a release that has this method, or use a drafter of another one")
    )
