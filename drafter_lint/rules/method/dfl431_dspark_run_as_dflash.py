"""A DSpark drafter is run with method dflash.

## What it checks
The method the engine resolves against the head the drafter has.

## Why it bites
DSpark stands on DFlash's backbone and adds a Markov head, which corrects each token of a block by the one before it.
Written by the speculators library, such a drafter names its class itself, so vLLM loads it under method dflash as well:
every tensor finds its place, the head is never called, and the block starts one position off where DSpark draws from
the anchor. The server answers; most drafts are rejected.

## Fix
Method dspark, or no method where the engine finds it out itself.

## Limits
How many drafts are still accepted without the head depends on the drafter.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment


@rule("DFL431", "dspark-run-as-dflash", Outcome.SILENT)
def check(at: Deployment[BlockDrafter]) -> Checks:
    """The backbone's method for a drafter with a head on it."""
    plan, method = at.plan, at.request.method
    if at.drafter.variant != "DSpark" or (plan.method or "").lower() != "dflash" or plan.refusals:
        return
    place = method.at if method else at.request.at()
    yield Found(
        message=f"{at.drafter.title} is run with method {plan.method}: its Markov head is loaded and never called",
        locations=(place.saying("the backbone's method"), at.drafter.tensor_at("markov_head.markov_w1.weight")),
        measured={"method": plan.method},
        evidence=plan.evidence_of("class"),
        confidence=Confidence.LIKELY,
        fix=Fix("method dspark"),
    )
