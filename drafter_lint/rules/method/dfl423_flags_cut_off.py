"""Speculative flags in a script that never reach the command.

## What it checks
That the speculative flags written below a command are part of it: that no comment, no blank behind a backslash and no
missing backslash ends the command before them.

## Why it bites
The shell ends the command there and runs it. What follows is tried as a command of its own, once the server has
stopped: the server runs without those flags, and without a word.

## Fix
Put the comment above the command, and a backslash at the very end of every line but the last.

## Limits
Only where a document shows both the command and the flags. Flags of other kinds that are cut off are not told of.
"""

from __future__ import annotations

from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Stated


@rule("DFL423", "flags-cut-off", Outcome.SILENT)
def check(at: Stated) -> Checks:
    """They stand behind the end of the command."""
    if not at.lost:
        return
    count = len(at.lost)
    flags = "1 speculative flag stands" if count == 1 else f"{count} speculative flags stand"
    yield Found(
        message=f"{flags} behind the end of the command, which starts without {'it' if count == 1 else 'them'}",
        locations=(*(place.saying("not part of the command") for place in at.lost), at.at.saying("the command")),
        measured={"flags": count},
        fix=Fix("end every line but the last with a backslash and nothing behind it, without comments between"),
    )
