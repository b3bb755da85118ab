"""A suppression beside a command that names no rule, an unknown one, or no reason.

## What it checks
That a comment such as `# drafter-lint: ignore[DFL706] the window is short on purpose` names a rule, by code or by name,
and gives a reason.

## Why it bites
Without either it suppresses nothing: the finding is told as if the comment were not there.

## Fix
Write the code in brackets and the reason behind them.

## Limits
Only comments on the lines of a command, and the comment lines right above it, are read. In a settings file the same
mistakes are errors.
"""

from __future__ import annotations

from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Suppressing


@rule("DFL903", "suppression-incomplete", Outcome.HYGIENE)
def check(at: Suppressing) -> Checks:
    """It names no rule, or no reason."""
    if at.problem:
        named = f" of {at.code}" if at.code else ""
        yield Found(
            message=f"the suppression{named} has no effect: {at.problem}",
            locations=(at.at.saying(at.problem),),
            fix=Fix("write drafter-lint: ignore[CODE] and behind it the reason"),
        )
