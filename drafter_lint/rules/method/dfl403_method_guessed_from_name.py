"""The method is guessed from the drafter's path.

## What it checks
Whether the engine resolved the method from the spelling of the drafter's path or id.

## Why it bites
The whole path counts, parent folders included: moving or renaming the folder changes the method, and a folder called
`my-eagle-3-run` is taken for EAGLE-1. The guess is right today; nothing keeps it right.

## Fix
Write the method out.

## Limits
Says nothing about whether the guess is right: a wrong guess is reported as the method it leads to.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.rules.shared import first_of, spelling_of_guess
from drafter_lint.scope import Deployment


@rule("DFL403", "method-guessed-from-name", Outcome.HYGIENE)
def check(at: Deployment[Drafter]) -> Checks:
    """Nobody wrote the method; the path decided."""
    plan, given = at.plan, at.request.drafter
    if not plan.understood or plan.method_origin != "name" or plan.method is None or given is None:
        return
    if at.request.assumed:
        return
    part = spelling_of_guess(given.value, plan.method)
    decided = f"the part {part!r} of the path {given.value}" if part else f"the path {given.value}"
    overruled = at.request.method
    instead = f" in place of the {overruled.value} that was asked for" if overruled else ""
    yield Found(
        message=f"method {plan.method} was chosen from {decided}{instead}",
        locations=first_of((given.at.saying(f"read as {plan.method}"), *((overruled.at,) if overruled else ()))),
        measured={"method": plan.method, "path": given.value, "part": part},
        evidence=plan.evidence_of("method"),
        fix=right_method(at) or Fix("write the method out"),
    )
