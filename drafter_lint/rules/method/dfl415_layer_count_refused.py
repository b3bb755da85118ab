"""The engine refuses the drafter's number of layers.

## What it checks
`num_hidden_layers` of the drafter against what the draft class supports in this version.

## Why it bites
Drafters of more than one layer are refused at load by older releases; a `num_hidden_layers` copied from the target is
refused the same way.

## Fix
Use a release that supports several drafter layers, or correct the number if it was copied.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL415", "layer-count-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(
        at,
        "layer-count-refused",
        Fix("a release that supports this many drafter layers, or the true number in num_hidden_layers"),
    )
