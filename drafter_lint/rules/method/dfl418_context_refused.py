"""The engine refuses the drafter's context length.

## What it checks
`max_position_embeddings` of the drafter against the context the server is asked for.

## Why it bites
Drafters are trained on short sequences and say so. Some engines then stop at start, although the drafter would serve
longer ones.

## Fix
Ask for a context the drafter's config allows, or raise `max_position_embeddings` in it where its rotary embedding
permits.

## Limits
What the engine does where it does not refuse is told by window-short.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL418", "context-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(
        at, "context-refused", Fix("a context the drafter's max_position_embeddings allows, or a larger value there")
    )
