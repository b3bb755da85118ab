"""The drafter runs without CUDA graphs.

## What it checks
Whether the engine records the drafter's steps as CUDA graphs, where the plan knows that it does not.

## Why it bites
A small draft model is bound by the launching of its kernels, hundreds a token, and not by what they compute. vLLM's
model runner V2, the default from 0.30.0 on, runs plain draft models from 0.31.0 on and captures no graph for them; V1
captures piecewise ones.

## Fix
Serve with the model runner that captures them.

## Limits
Read in the sources, not measured: how much it costs depends on the device and on the size of the draft model. Nothing
is said where graphs are switched off for the target too.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment

#: Flags that switch graphs off for target and drafter alike.
_EAGER = ("--enforce-eager", "--disable-cuda-graph")


@rule("DFL701", "cuda-graph-disabled", Outcome.SLOW)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    if at.plan.refusals or any(flag in at.request.options for flag in _EAGER):
        return
    for step in at.plan.steps:
        if step.topic == "graphs":
            yield Found(
                message=step.says,
                locations=(at.request.drafter.at if at.request.drafter else at.request.at(),),
                evidence=step.evidence,
                fix=Fix("serve with the model runner that captures them"),
                confidence=Confidence.LIKELY,
            )
