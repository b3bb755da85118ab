"""A suppression whose last day is over.

## What it checks
The `until` date of every suppression that covers a check, against the day of the run.

## Why it bites
It suppresses nothing any more: the findings it covered are told again and count.

## Fix
Mend what it was written for and remove it, or set a later date.

## Limits
The day is that of the machine the check runs on. On the last day itself the suppression still holds.
"""

from __future__ import annotations

from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Suppressing


@rule("DFL902", "expired-suppression", Outcome.HYGIENE)
def check(at: Suppressing) -> Checks:
    """Its last day is over."""
    if at.problem or not at.expired or at.until is None:
        return
    days = (at.today - at.until).days
    yield Found(
        message=f"the suppression of {at.code} held until {at.until.isoformat()}, {days} day{'s' * (days != 1)} ago",
        locations=(at.at.saying(at.reason),),
        measured={"until": at.until.isoformat(), "days": days},
        fix=Fix("remove the suppression, or set a later date"),
    )
