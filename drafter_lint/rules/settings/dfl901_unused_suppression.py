"""A suppression that has nothing to suppress.

## What it checks
That every suppression which covers a check takes at least one finding away, where its rule could judge.

## Why it bites
What it was written for is mended. The next finding of that rule would be silenced by it, with a reason that was given
for another one.

## Fix
Remove it.

## Limits
A suppression for pairs, engines or versions that are not part of the run says nothing. Only `drafter-lint check`
without arguments, which checks every pair of the settings, can tell that a suppression covers no pair at all. A rule
that was not selected, or could not judge, leaves it open too.
"""

from __future__ import annotations

from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Suppressing


@rule("DFL901", "unused-suppression", Outcome.HYGIENE)
def check(at: Suppressing) -> Checks:
    """Nothing was taken away."""
    if at.problem or at.expired or at.matched != 0:
        return
    yield Found(
        message=f"the suppression of {at.code} takes nothing away: there is no such finding where it holds",
        locations=(at.at.saying(at.reason),),
        measured={"suppressed": 0},
        fix=Fix("remove the suppression"),
    )
