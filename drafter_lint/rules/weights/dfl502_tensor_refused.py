"""A tensor of the drafter has no parameter, and the engine stops.

## What it checks
Every tensor of the file against the parameters of the draft class, in engines that refuse an unknown name.

## Why it bites
vLLM stops at the first unknown name, after the target has been loaded. One wrapper in front of every name, a bias, or
a second layer that the config does not declare is enough.

## Fix
Rename or remove the tensors, or correct the field that decides which parameters are built.

## Limits
The engine names the first tensor only; all of them are listed here.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, refusals, told
from drafter_lint.scope import Deployment


@rule("DFL502", "tensor-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """One finding for all unknown names."""
    stopped = refusals(at, "tensor-refused")
    if not stopped:
        return
    names = [name for refusal in stopped for name in refusal.tensors]
    where = at.plan.draft_class or "the draft class"
    message = f"{len(names)} tensors have no parameter in {where}: {listed(names)}" if names else stopped[0].says
    fix = Fix("rename or remove them, or correct the field that decides which parameters are built")
    yield told(stopped, message=message, fix=fix)
