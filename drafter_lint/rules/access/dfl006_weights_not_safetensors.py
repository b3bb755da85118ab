"""A drafter whose only weights are in files that are not opened.

## What it checks
That the drafter has safetensors weights. `.bin`, `.pt` and `.pth` files are pickles: opening one runs what it contains,
so none is ever opened here; GGUF is not read either.

## Why it bites
Tensor names and shapes are what most checks rest on. Engines may well load such files.

## Fix
Convert the weights to safetensors, or check a copy of the drafter that has been converted.

## Limits
The configuration is still checked; everything that needs a tensor name or a shape is not.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import unread
from drafter_lint.scope import Reading


@rule("DFL006", "weights-not-safetensors", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """Only weight files that are never opened."""
    yield from unread(at, Trouble.NOT_SAFETENSORS)
