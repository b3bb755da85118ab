"""The engine refuses the drafter's vocabulary.

## What it checks
Sizes and values of the drafter's vocabulary, its head and its map, against what the engine demands of them.

## Why it bites
Engines differ in when they look: at start, at load, or at the first draft token that leaves the vocabulary.

## Fix
Correct the vocabulary the files declare; the message has the numbers.

## Limits
Whether the tokens mean the same is looked at elsewhere.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL422", "vocabulary-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "vocabulary-refused", Fix("correct the vocabulary the drafter's files declare"))
