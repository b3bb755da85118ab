"""The engine refuses a flag's value.

## What it checks
Values of flags and of speculative keys against what this version of the engine accepts.

## Why it bites
The engine stops while it reads its arguments.

## Fix
Use a value this version accepts.

## Limits
Values are checked where they bear on speculation.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL421", "flag-value", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "flag-value", Fix("a value this version accepts"))
