"""A tensor of the drafter does not fit its parameter, and the engine stops.

## What it checks
The shape of every tensor against the parameter this engine builds for it from the config.

## Why it bites
The config decides what is built, the file what is put in. The engine stops at the first clash, after the target has
been loaded, and names a shape but rarely the field behind it.

## Fix
Correct the field, not the tensor: the tensors were trained as they are.

## Limits
A clash in the number of auxiliary states is told by aux-count.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, refusals, told
from drafter_lint.scope import Deployment


@rule("DFL504", "shape-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """One finding for all shapes that clash: a wrong field makes many of them."""
    stopped = refusals(at, "shape-refused")
    if not stopped:
        return
    names = [name for refusal in stopped for name in refusal.tensors]
    message = stopped[0].says
    if len(names) > 1:
        message += f"; {len(names) - 1} more do not fit: {listed(names[1:])}"
    yield told(stopped, message=message, fix=Fix("correct the config field the parameter is built from"))
