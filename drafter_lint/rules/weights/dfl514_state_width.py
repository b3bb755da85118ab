"""What the target hands over does not fit what takes it.

## What it checks
The width of a target state against the drafter's input, at the first draft.

## Why it bites
Loading knows nothing of it: the server comes up, and the first request dies in a matrix product whose message names two
shapes and no file.

## Fix
A drafter trained for this target. If the width is declared in the drafter's config, correct it there.

## Limits
A clash in the number of states is told by aux-count.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused_together
from drafter_lint.scope import Deployment


@rule("DFL514", "state-width", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused_together(at, "state-width", Fix("a drafter trained for this target"))
