"""A repository whose terms this account has not accepted.

## What it checks
That a gated repository is open to the token at hand.

## Why it bites
The repository exists and nothing in it can be read. A server started with the same token stops at the download.

## Fix
Open the repository's page, accept its terms, and use a token of that account.

## Limits
Terms that a person has to approve by hand look the same until they are.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL003", "gated", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """The terms have not been accepted."""
    yield from unread(at, Trouble.GATED)
