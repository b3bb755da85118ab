"""A Git LFS pointer where a file's content should be.

## What it checks
That the files read are content and not the three-line text Git LFS leaves when it has not fetched them.

## Why it bites
A clone made without Git LFS looks complete: every file is there under its name. No engine can load it: a pointer is no
JSON and no safetensors file.

## Fix
Run `git lfs pull` in the clone, or download the repository with `hf download`.

## Limits
Only files that are read are looked at: config.json, the index, and the headers of the weights.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import place
from drafter_lint.scope import Reading


@rule("DFL007", "lfs-pointer", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """A pointer stands in place of the content."""
    if at.trouble.trouble is not Trouble.LFS_POINTER:
        return
    yield Found(
        message=f"{at.checkpoint.role} {at.trouble.what}: {at.trouble.detail}",
        locations=(place(at, "a pointer, not the content"),),
        fix=Fix(at.trouble.hint or "git lfs pull"),
    )
