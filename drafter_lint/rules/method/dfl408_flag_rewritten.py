"""A value the engine changes by itself.

## What it checks
Values of the command, and defaults, that the engine replaces with others for the method at hand.

## Why it bites
Nothing breaks; what is measured is not what was asked for. The change shows as one log line at most.

## Fix
Write the value that will be used.

## Limits
Only rewrites that bear on speculation are looked at.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import typed_and_rewritten
from drafter_lint.scope import Deployment


@rule("DFL408", "flag-rewritten", Outcome.HYGIENE)
def check(at: Deployment[Drafter]) -> Checks:
    """What was typed is not what runs; a default that is changed is nobody's business."""
    for change in typed_and_rewritten(at):
        yield Found(
            message=f"{change.what}: {change.before} becomes {change.after}; {change.says}",
            locations=(change.at.saying(f"becomes {change.after}"),) if change.at else (at.request.at(),),
            measured={"before": change.before, "after": change.after},
            evidence=change.evidence,
            fix=Fix(f"{change.what} {change.after}"),
        )
