"""A draft model made to draft all tokens in one pass, run one token at a time, or the other way round.

## What it checks
Whether the draft model was trained for parallel drafting (PARD: a mask token in its config), against how the engine
will run it.

## Why it bites
PARD models cost one pass for all drafted tokens. Without the engine's switch they run as ordinary draft models, one
pass a token, and their advantage is gone. An ordinary model run in parallel fills its positions with a token it never
learned to fill in.

## Fix
Switch parallel drafting on for such a model, and off for every other.

## Limits
SGLang has no parallel drafting for draft models; there the finding says so and has no command.
"""

from __future__ import annotations

from drafter_lint.drafters import DraftModel
from drafter_lint.findings import Confidence, Edit, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import added_key, needed
from drafter_lint.scope import Deployment


@rule("DFL708", "parallel-drafting-unused", Outcome.SLOW)
def check(at: Deployment[DraftModel]) -> Checks:
    """Needs against deeds."""
    drafter, plan = at.drafter, at.plan
    if plan.parallel_drafting is None or plan.refusals or plan.parallel_drafting == drafter.parallel:
        return
    asked = at.request.method.at if at.request.method else at.request.at()
    if drafter.parallel:
        mask = drafter.mask_token
        yield Found(
            message=f"a PARD model is run one token a pass by {plan.engine} {plan.version}: "
            "it was made to draft all of them in one",
            locations=(asked, *((mask.at.saying("mask token"),) if mask else ())),
            measured={"parallel_drafting": False},
            evidence=plan.evidence_of("map"),
            fix=_switched_on(at),
            confidence=Confidence.LIKELY,
        )
        return
    yield Found(
        message="parallel drafting is asked for, and nothing says that this model was trained to fill in tokens",
        locations=(asked, *((drafter.architecture.at,) if drafter.architecture else ())),
        measured={"parallel_drafting": True},
        evidence=plan.evidence_of("map"),
        fix=Fix("leave parallel drafting off"),
        outcome=Outcome.SILENT,
        confidence=Confidence.LIKELY,
    )


def _switched_on(at: Deployment[DraftModel]) -> Fix:
    missing = {
        key: value.value
        for key, value in needed(at).speculative_config.items()
        if key not in at.request.speculative_config and value.value is True
    }
    edits: tuple[Edit, ...] = ()
    for key in missing:
        edits = added_key(at.request, key, value=True)
    named = ", ".join(f'"{key}": true' for key in missing)
    return Fix(named or "an engine that drafts in parallel", edits)
