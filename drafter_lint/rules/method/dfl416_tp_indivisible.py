"""The drafter cannot be split over that many devices.

## What it checks
Head counts and widths of the drafter against the tensor-parallel size it is served at.

## Why it bites
The draft model is split like the target unless the engine is told otherwise, and has far fewer heads. vLLM's
`draft_tensor_parallel_size` has no effect on EAGLE heads and block drafters.

## Fix
Serve the drafter at a size that divides its heads where the engine has a flag for it, or lower the tensor-parallel
size.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused_together
from drafter_lint.scope import Deployment


@rule("DFL416", "tp-indivisible", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    fix = Fix("a tensor-parallel size that divides the drafter's heads, for it alone where there is a flag")
    yield from refused_together(at, "tp-indivisible", fix)
