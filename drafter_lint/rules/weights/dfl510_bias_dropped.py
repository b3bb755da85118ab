"""A bias of the drafter goes nowhere.

## What it checks
Tensors called `.bias` that the loader has no parameter for and skips.

## Why it bites
A layer trained with a bias is run without it. vLLM skips an unknown bias even where it refuses every other unknown
name; SGLang skips it like any other.

## Fix
Declare the bias in the field this engine reads (`bias`, `attention_bias`), or fold it away before export.

## Limits
Whether the bias is zero is not read.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, lost, once
from drafter_lint.scope import Deployment


@rule("DFL510", "bias-dropped", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """One finding for all biases without a place."""
    fates = [fate for fate in lost(at) if fate.name.endswith(".bias")]
    if not fates:
        return
    names = [fate.name for fate in fates]
    yield Found(
        message=f"{len(fates)} biases find no place in {at.plan.draft_class}: {listed(names)}",
        locations=tuple(at.drafter.checkpoint.tensors.at(fate.name, fate.says) for fate in fates[:5]),
        measured={"dropped": len(fates), "names": [*names[:20]]},
        evidence=once(item for fate in fates for item in fate.evidence),
        fix=Fix("declare the bias in the field this engine reads"),
    )
