"""No drafter is named although the method needs one.

## What it checks
Whether the command names the draft model where the resolved method cannot do without.

## Why it bites
Some engines take the target itself as drafter and die on the first attribute it lacks; others stop while they read
their arguments.

## Fix
Name the drafter: `--speculative-draft-model-path` in SGLang, `"model"` in vLLM's speculative configuration.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL409", "draft-path-missing", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "draft-path-missing", Fix("name the drafter in the command"))
