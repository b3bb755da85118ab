"""The engine turns the drafter's architecture into another family's class.

## What it checks
The architecture the engine ends up with, against the one the drafter's config names, where that leads to a refusal or
to a class that is not made for the drafter.

## Why it bites
vLLM rewrites a draft model's configuration by `model_type` before it looks at the method: an EAGLE-3 drafter with
`model_type: deepseek_v3` is taken for a DeepSeek multi-token-prediction layer, and the class of that name does not
exist. The message names an architecture that stands in no file.

## Fix
Use a `model_type` of the same family that the engine does not rewrite (`deepseek_v2` for latent attention).

## Limits
A name the engine merely puts its method in front of is told by architecture-unregistered.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, first_of, once, refusals
from drafter_lint.scope import Deployment


@rule("DFL412", "architecture-rewritten", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """Another name stands where architectures[0] stood, and it is no use to this drafter."""
    stopped = refusals(at, "architecture-rewritten")
    written = at.drafter.architecture
    if written is None or not (stopped or class_cause(at) == "architecture-rewritten"):
        return
    model_type = at.drafter.model_type
    because = (model_type.at.saying("decides the rewriting"),) if model_type else ()
    outcome = Outcome.REFUSES if stopped else Outcome.SILENT
    reason = f"; {stopped[0].says}" if stopped else "; that class takes no auxiliary states"
    yield Found(
        message=f"architecture {written.value} of the drafter becomes {at.plan.architecture}{reason}",
        locations=first_of((written.at.saying(f"becomes {at.plan.architecture}"), *because)),
        measured={"written": written.value, "used": at.plan.architecture},
        evidence=once(
            (*at.plan.evidence_of("architecture"), *(item for refusal in stopped for item in refusal.evidence))
        ),
        fix=Fix("a model_type of the same family that this engine does not rewrite"),
        outcome=outcome,
    )
