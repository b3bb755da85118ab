"""There is no weight file the engine can open.

## What it checks
Whether the drafter's folder holds weights this engine reads.

## Why it bites
The engine looks for them after the target has been loaded.

## Fix
Fetch or export the weights as safetensors.

## Limits
A file that is there and broken has pages of its own.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL513", "weights-missing", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "weights-missing", Fix("fetch or export the weights as safetensors"))
