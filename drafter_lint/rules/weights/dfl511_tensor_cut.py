"""A tensor of the drafter is loaded in part.

## What it checks
Tensors with more columns than the parameter built for them, in loaders that take the columns they want and do not look
whether there are more.

## Why it bites
Weights whose input is split over devices are cut to size by their loader. With a wrong `num_attention_heads`, a missing
`head_dim` or a wrong `intermediate_size` the surplus is thrown away, nothing is said, and the layer is ruined.

## Fix
Correct the config field the parameter is built from.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle, Medusa, MlpSpeculator, Mtp
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, once
from drafter_lint.scope import Deployment


@rule("DFL511", "tensor-cut", Outcome.SILENT)
def check(at: Deployment[Eagle | BlockDrafter | Medusa | MlpSpeculator | Mtp]) -> Checks:
    """One finding for all tensors that are cut."""
    fates = [fate for fate in at.plan.tensors if fate.fate == "cut"]
    if not fates or class_cause(at):
        return
    yield Found(
        message="; ".join(f"{fate.name}: {fate.says}" for fate in fates[:5]),
        locations=tuple(at.drafter.checkpoint.tensors.at(fate.name, fate.says) for fate in fates[:5]),
        measured={"cut": [fate.name for fate in fates[:20]]},
        evidence=once(item for fate in fates for item in fate.evidence),
        fix=Fix("correct the config field the parameter is built from"),
    )
