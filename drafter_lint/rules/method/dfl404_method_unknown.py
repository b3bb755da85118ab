"""The engine knows no method of that name.

## What it checks
Whether the algorithm or method asked for is among those this version of the engine knows.

## Why it bites
The engine stops while it reads its arguments, or after the target has been loaded. Spellings differ: what one engine
calls `EAGLE3` another calls `eagle3` and reads case by case.

## Fix
Use the engine's own word for the drafter's method.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.rules.shared import refusals, refused_together
from drafter_lint.scope import Deployment


@rule("DFL404", "method-unknown", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan refuses the method by name."""
    # A method nobody typed and nobody knows: the drafter was not recognised, which is told elsewhere.
    nameless = at.request.method is not None and not at.request.method.value
    if refusals(at, "method-unknown") and not nameless:
        yield from refused_together(at, "method-unknown", right_method(at))
