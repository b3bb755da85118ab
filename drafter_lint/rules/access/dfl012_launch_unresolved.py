"""A launch command that a document does not spell out.

## What it checks
That a command found in a script, a manifest or a page can be read, and that its drafter, its target and the version of
its engine are written there.

## Why it bites
A command nobody could read must not look like one that passed.

## Fix
Say what a variable holds with `--var NAME=VALUE`, or name the engine and its version with `--engine`.

## Limits
Nothing is run: a value that comes from another file, from the environment or from a program is not known here.
"""

from __future__ import annotations

from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Stated


@rule("DFL012", "launch-unresolved", Outcome.SILENT)
def check(at: Stated) -> Checks:
    """Something the verdict rests on is not written there."""
    if at.reason:
        place = ":".join(filter(None, (at.at.file, str(at.at.line or ""))))
        yield NotChecked(f"{place}: {at.reason}", needed=at.needed)
