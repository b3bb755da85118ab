"""The numbers of draft steps and tokens are refused.

## What it checks
The counts given (steps, top-k, draft tokens, speculative tokens) against what the engine demands of them.

## Why it bites
SGLang compares counts that were left out with numbers and stops with a type error; vLLM stops where no count is given
at all. Both messages name no flag.

## Fix
Give all counts that belong together, or none where the engine chooses itself.

## Limits
Counts that are accepted and changed are told by flag-rewritten.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import missing_counts
from drafter_lint.rules.shared import refusals, refused_together
from drafter_lint.scope import Deployment


@rule("DFL413", "token-counts", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    if refusals(at, "token-counts"):
        yield from refused_together(at, "token-counts", missing_counts(at))
