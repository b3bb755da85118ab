"""The drafter's own embedding is replaced by the target's.

## What it checks
Whether a drafter that ships `embed_tokens` runs with it.

## Why it bites
Most trainers freeze a copy of the target's embedding, and sharing costs nothing. A drafter whose embedding was trained
(P-EAGLE, `embed_requires_grad` in a speculators config) drafts from states it was not trained on.

## Fix
Serve with a release that keeps an embedding of the drafter's own.

## Limits
Whether the two embeddings differ is looked at elsewhere; without a sign that it was trained this is a remark only.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, first_of
from drafter_lint.scope import Deployment


@rule("DFL507", "embedding-replaced", Outcome.HYGIENE)
def check(at: Deployment[Eagle]) -> Checks:
    """Slow where the config says that the embedding was trained."""
    drafter, plan = at.drafter, at.plan
    own = drafter.canonical.get("embed_tokens.weight")
    if own is None or plan.embedding is None or plan.embedding.provider != "target" or class_cause(at):
        return
    trained = drafter.checkpoint.config.boolean("embed_requires_grad")
    sure = trained is not None and trained.value
    yield Found(
        message=f"own embedding {own.shown} is replaced by the target's; {plan.embedding.says}".rstrip("; "),
        locations=first_of(
            (drafter.tensor_at("embed_tokens.weight", "not used"), *((trained.at,) if trained and sure else ()))
        ),
        measured={"trained": sure},
        evidence=plan.embedding.evidence or plan.evidence_of("embedding"),
        fix=Fix("a release that keeps the drafter's own embedding") if sure else None,
        outcome=Outcome.SLOW if sure else None,
        confidence=Confidence.CERTAIN if sure else Confidence.POSSIBLE,
    )
