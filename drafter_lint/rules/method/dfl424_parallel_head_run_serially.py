"""A P-EAGLE head run one token at a time.

## What it checks
Whether an EAGLE-3 head that was trained to draft every position of a step at once is run that way.

## Why it bites
A P-EAGLE head learned to fill the later positions from a mask token and one shared hidden state. An engine without
parallel drafting feeds it its own output instead, which it has not seen in training: tokens after the first are
accepted less often, and the one pass for all of them, which is what such a head is for, is lost. No release of SGLang
read has parallel drafting for EAGLE heads; what the head has for it is skipped while loading.

## Fix
Serve the head with an engine that drafts in parallel, or take an ordinary EAGLE-3 head.

## Limits
How much is lost no file says.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import method_at_odds
from drafter_lint.scope import Deployment


@rule("DFL424", "parallel-head-run-serially", Outcome.SLOW)
def check(at: Deployment[Eagle]) -> Checks:
    """Needs against deeds."""
    drafter, plan = at.drafter, at.plan
    if not drafter.parallel or plan.parallel_drafting is not False or plan.refusals or method_at_odds(at):
        return
    config = drafter.checkpoint.config
    asked = at.request.method.at if at.request.method else at.request.at()
    switch = (config.at("parallel_drafting", label="made for"),) if config.has("parallel_drafting") else ()
    yield Found(
        message=f"{plan.engine} {plan.version} runs this P-EAGLE head one token a pass; it was made for one pass",
        locations=(asked, *switch),
        measured={"parallel_drafting": False},
        evidence=plan.evidence_of("passes"),
        fix=Fix("serve it with an engine that drafts in parallel, or take an ordinary EAGLE-3 head"),
        confidence=Confidence.LIKELY,
    )
