"""A checkpoint that may not be read with the rights at hand.

## What it checks
That the Hub, or the file system, lets this user read the checkpoint.

## Why it bites
Nothing of the pair can be judged. A server started with the same token would be refused too.

## Fix
Set `HF_TOKEN` to a token that may read the repository, or mend the permissions of the folder.

## Limits
A token that may list a repository and not read its files is met only when a file is read.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL002", "hub-denied", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """Reading was refused."""
    yield from unread(at, Trouble.DENIED)
