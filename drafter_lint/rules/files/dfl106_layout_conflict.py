"""A config that describes another kind of drafter than the tensors are.

## What it checks
What the config alone says against what the tensor names alone say.

## Why it bites
The files of two checkpoints were mixed, or a config was written by hand from another model's. Engines choose the
class by the config and look the tensors up by name, so whichever of the two is wrong, something does not arrive.

## Fix
Put the config of the same training run beside the weights.

## Limits
Generic architecture names such as LlamaForCausalLM are normal on drafters and are no conflict. What an engine makes
of the mixture is told by the rules that follow its plan.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone


@rule("DFL106", "layout-conflict", Outcome.HYGIENE)
def check(at: Alone[Drafter]) -> Checks:
    """Every disagreement recognition met."""
    for conflict in at.recognition.conflicts:
        yield Found(
            message=f"the config says {conflict.config_says}; the tensors say {conflict.tensors_say}",
            locations=conflict.locations,
            fix=Fix("use the config.json and the weights of one and the same export"),
            confidence=Confidence.LIKELY,
        )
