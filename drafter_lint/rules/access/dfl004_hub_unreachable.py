"""A checkpoint that is neither in the cache nor within reach.

## What it checks
That the Hub answers in time, or, offline, that the local cache holds what is needed.

## Why it bites
The check is incomplete. It says nothing about the pair, good or bad.

## Fix
Try again, raise `--timeout`, or fetch the checkpoint while online and check it with `--offline`.

## Limits
None known: a stall, a reset and a server error all end here.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL004", "hub-unreachable", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """No answer, or not in the cache."""
    yield from unread(at, Trouble.UNREACHABLE, Trouble.OFFLINE)
