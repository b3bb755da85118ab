"""The target drafts for itself with a full copy.

## What it checks
Whether the checkpoint that drafts is the target itself, and no multi-token-prediction layers ride inside it.

## Why it bites
A method that takes its drafter from the target loads the whole target a second time where there are no such layers:
every draft token is accepted, each costs as much as a token without speculation, and memory is spent twice.

## Fix
Name a drafter.

## Limits
Compares where the two were read from, not their weights.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.scope import Deployment


@rule("DFL704", "self-draft", Outcome.SLOW)
def check(at: Deployment[Drafter]) -> Checks:
    """The same checkpoint on both sides."""
    target, plan = at.target, at.plan
    if not self_drafting(at) or not plan.understood or not plan.speculates or plan.refusals:
        return
    if target.architecture is None or plan.draft_class != target.architecture.value:
        return
    given = at.request.drafter
    size = f" ({target.title})"
    yield Found(
        message=f"{target.checkpoint.subject} is target and drafter at once{size}: each draft costs a full step",
        locations=(given.at.saying("the target itself") if given else at.request.at("no drafter named"),),
        measured={"layers": target.num_layers.value if target.num_layers else None},
        evidence=plan.evidence_of("method"),
        fix=Fix("name a drafter"),
    )
