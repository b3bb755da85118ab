"""The engine refuses for a reason no other rule names.

## What it checks
Every refusal of the plan that no other rule tells of.

## Why it bites
A refusal is a refusal, even without a page of its own.

## Fix
The message says what is refused.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL499", "refused-otherwise", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "refused-otherwise")
