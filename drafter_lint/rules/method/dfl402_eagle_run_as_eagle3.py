"""EAGLE-1 drafter started in EAGLE-3 mode.

## What it checks
The method the engine resolves against the drafter's generation. An EAGLE-1/2 drafter joins the target's last hidden
state to the embedding; the EAGLE-3 method hands over several auxiliary states and builds another class.

## Why it bites
The class the method asks for has another `fc`, another layer and a vocabulary map. Most engines stop at the first
tensor that does not fit, or at the first attribute the class lacks; what does not stop drafts from untrained weights.

## Fix
Ask for the engine's EAGLE method: `--speculative-algorithm EAGLE` in SGLang, `"method": "eagle"` in vLLM.

## Limits
Rests on the drafter having been recognised as EAGLE-1/2 from its tensors: `fc` of shape [H, 2H].
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.rules.shared import first_of, method_at_odds, once, refusals
from drafter_lint.scope import Deployment


@rule("DFL402", "eagle-run-as-eagle3", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """The resolved method asks for auxiliary states; the drafter takes one final state."""
    if method_at_odds(at) != "eagle-run-as-eagle3":
        return
    drafter, plan = at.drafter, at.plan
    stopped = refusals(at, "eagle-run-as-eagle3")
    takes = drafter.fc.shape[-1] if drafter.fc and drafter.fc.shape else None
    takes_says = f": fc takes {takes}, one state beside the embedding" if takes else ""
    message = f"EAGLE-1 drafter started with method {plan.method}{takes_says}"
    if stopped:
        message += f"; {stopped[0].says}"
    asked = at.request.method.at if at.request.method else at.request.at(f"resolves to {plan.method}")
    fc = (drafter.tensor_at("fc.weight", "[H, 2H]"),) if drafter.fc else ()
    yield Found(
        message=message,
        locations=first_of((asked.saying("hands over several auxiliary states"), *fc)),
        measured={"method": plan.method, "fc_takes": takes},
        evidence=once((*plan.evidence_of("method"), *(item for refusal in stopped for item in refusal.evidence))),
        fix=right_method(at),
        outcome=Outcome.REFUSES if stopped else None,
    )
