"""The verification lets through tokens the target would not have sampled.

## What it checks
Whether the way drafted tokens are verified keeps the target's distribution.

## Why it bites
Speculative decoding is worth having because the answers do not change. A lossy verification accepts more, so every
measure of acceptance looks better, and the answers are no longer the target's. vLLM's `synthetic` accepts at rates that
were typed in, whatever was drafted: it is made for measuring an engine, not for serving.

## Fix
Leave `rejection_sample_method` out, or measure the answers as well as the speed.

## Limits
What a lossy verification costs in quality no file says.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment


@rule("DFL432", "verification-lossy", Outcome.HYGIENE)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan names the step."""
    for step in at.plan.steps:
        if step.topic == "lossy" and step.at is not None:
            yield Found(
                message=step.says,
                locations=(step.at.saying("not the target's distribution"),),
                evidence=step.evidence,
                fix=Fix("leave it out"),
            )
