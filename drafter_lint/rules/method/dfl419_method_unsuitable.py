"""A method this checkpoint cannot be run with.

## What it checks
A method that exists in the engine against what the drafter is: an EAGLE-3 head started as a plain draft model, as
Medusa or as a multi-token-prediction layer, or an ordinary language model started as a head.

## Why it bites
Some releases stop at the first attribute or argument the class lacks, after the target has been loaded. Older ones
serve, hand over nothing the drafter needs, and accept no draft token.

## Fix
Ask for the method the drafter was made for.

## Limits
EAGLE against EAGLE-3 has its own pages.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.rules.shared import method_at_odds, refusals, run_as_head, told
from drafter_lint.scope import Deployment


@rule("DFL419", "method-unsuitable", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan refuses, or runs a head as something it is not."""
    plan = at.plan
    stopped = refusals(at, "method-unsuitable")
    if stopped:
        said = list(dict.fromkeys(refusal.says for refusal in stopped))
        if run_as_head(at):
            said = [f"ordinary language model started with method {plan.method}: {said[0]}"]
        yield told(stopped, message="; ".join(said), fix=right_method(at))
        return
    head = method_at_odds(at) == "method-unsuitable"
    if not plan.refusals and (head or _plain_model(at)):
        asked = at.request.method.at if at.request.method else at.request.at(f"resolves to {plan.method}")
        what = "EAGLE-3 drafter" if head else "ordinary language model"
        lost = "it is handed no auxiliary states" if head else "its own embedding and head are replaced by the target's"
        yield Found(
            message=f"{what} started with method {plan.method}: {lost}",
            locations=(asked, *((at.drafter.architecture.at,) if at.drafter.architecture else ())),
            measured={"method": plan.method},
            evidence=plan.evidence_of("method"),
            fix=right_method(at),
            outcome=Outcome.SILENT,
        )


def _plain_model(at: Deployment[Drafter]) -> bool:
    """True if a model that needs no states of the target is bound to the target's embedding and head."""
    return run_as_head(at) and at.plan.head is not None and at.plan.head.provider == "target"
