"""A part of a checkpoint that is larger than anything published, and was not read.

## What it checks
Files and headers against bounds that the largest public checkpoints stay far below.

## Why it bites
A header or config of that size is damaged, hostile, or of a kind this tool does not know.

## Fix
Look at the file named; a safetensors header has a few kilobytes per hundred tensors.

## Limits
The bounds are ours, not the engines': an engine may still load the file.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL011", "too-large", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """Over a bound of ours."""
    yield from unread(at, Trouble.TOO_LARGE)
