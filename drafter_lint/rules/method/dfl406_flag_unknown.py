"""A flag or key this version of the engine does not know.

## What it checks
Every flag, and every key of vLLM's speculative configuration, against those of the version at hand.

## Why it bites
The engine stops while it reads its arguments. Flags come and go between releases, and each engine has its own words
for the same number.

## Fix
Leave the flag out, or use the name this version has for it.

## Limits
Keys an older version takes and never reads are told by flag-ignored.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL406", "flag-unknown", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "flag-unknown", Fix("leave it out, or use the name this version has for it"))
