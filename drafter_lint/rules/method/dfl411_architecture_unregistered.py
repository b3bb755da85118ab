"""The engine has no class for the drafter's architecture.

## What it checks
`architectures[0]` of the drafter, as the engine reads it, against the classes registered in this version.

## Why it bites
Architecture names are not portable: `LlamaForCausalLMEagle3` belongs to SGLang, `Eagle3LlamaForCausalLM` to vLLM, and
neither knows the other's.

## Fix
Write the name this engine has for the same class into the drafter's config.json.

## Limits
Knows the classes of the releases that were read.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused_together
from drafter_lint.scope import Deployment


@rule("DFL411", "architecture-unregistered", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused_together(
        at, "architecture-unregistered", Fix("write the name this engine has for the same class into architectures")
    )
