"""The engine refuses the drafter's quantization.

## What it checks
The quantization the drafter is loaded with: its own, the one asked for, or the one inherited from the target; and the
parts of prediction layers that are stored in another way than the engine builds them.

## Why it bites
A drafter in full precision beside a quantized target is loaded with the target's method by several engines unless
they are told otherwise. Quantised copies of a model often leave its prediction layers as they were, or pack a
projection that engines build as a plain layer: the target loads for minutes, and then a name or a shape is refused.

## Fix
Ask for the drafter's own precision where the engine has a flag for it; name a part that is stored plain among those
the quantization leaves out.

## Limits
Names of methods are compared, and of prediction layers the projections of SGLang's NextN classes, of vLLM's Qwen
modules under compressed-tensors, and the experts of DeepSeek-V4; no other packed weights.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL417", "quantization-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(
        at,
        "quantization-refused",
        Fix("name the drafter's own quantization, or none, where the engine has a flag for it"),
    )
