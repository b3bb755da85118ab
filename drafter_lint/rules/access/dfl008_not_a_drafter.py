"""A checkpoint that is not a drafter.

## What it checks
What the files given as the drafter are: a LoRA adapter, a token map, or something else that proposes no tokens.

## Why it bites
Training tools leave several things beside each other, and an adapter next to a draft head is easily named in its place.

## Fix
Name the checkpoint that holds the draft head.

## Limits
Recognised by tensor names and config keys. An ordinary language model is a legitimate drafter for some methods and is
not reported here.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter, Layout
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Alone


@rule("DFL008", "not-a-drafter", Outcome.REFUSES)
def check(at: Alone[Drafter]) -> Checks:
    """Recognised as something that drafts nothing."""
    if at.drafter.layout is not Layout.NOT_A_DRAFTER:
        return
    reasons = "; ".join(reason for match in at.recognition.matches for reason in match.reasons)
    yield NotChecked(f"{at.drafter.checkpoint.subject} is {at.drafter.title}, no drafter ({reasons})", needed=True)
