"""A checkpoint that does not exist under the name given.

## What it checks
That the repository, revision or folder the user named is there.

## Why it bites
Nothing of the pair can be judged. The engine would stop as well, after it has asked for the GPUs.

## Fix
Correct the spelling of `owner/name`, the revision after `@`, or the path.

## Limits
The Hub answers the same for a repository that does not exist and for a private one the token may not see.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL001", "reference-not-found", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """The repository, revision or folder is not there."""
    yield from unread(at, Trouble.NOT_FOUND)
