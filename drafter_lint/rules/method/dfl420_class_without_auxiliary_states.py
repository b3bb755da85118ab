"""The drafter is loaded into a class made for something else.

## What it checks
The class the engine builds for the drafter, against what its tensors are: an EAGLE-3 head in a class that takes one
state, an EAGLE head in a plain language model.

## Why it bites
`architectures: ["LlamaForCausalLM"]` is a good name for an EAGLE head in vLLM, which puts the method in front of it.
In SGLang it is a plain Llama: no tensor of the head finds a place, nothing is said above debug level, and the server
drafts from random weights. Where a shape happens to clash, loading stops there and the message speaks of the shape.

## Fix
Write the name this engine has for the head's class into architectures.

## Limits
Which tensors are lost is not listed again: all of them, in effect.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, first_of, once, refusals
from drafter_lint.scope import Deployment


@rule("DFL420", "class-without-auxiliary-states", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """One finding for the class, in place of one for each tensor it loses."""
    if class_cause(at) != "class-without-auxiliary-states":
        return
    drafter, plan = at.drafter, at.plan
    stopped = refusals(at, "class-without-auxiliary-states")
    kept = [fate for fate in plan.tensors if fate.fate in {"taken", "cut"}]
    what = "an EAGLE-3 head" if drafter.generation == 3 else "an EAGLE head"
    loss = f"{len(kept)} of its {len(plan.tensors)} tensors find a place"
    reason = f"; {stopped[0].says}" if stopped else ""
    named = drafter.architecture
    yield Found(
        message=f"{what} is loaded into {plan.draft_class}: {loss}{reason}",
        locations=first_of((named.at.saying(f"class {plan.draft_class}") if named else at.request.at(), *_fc(drafter))),
        measured={"draft_class": plan.draft_class, "taken": len(kept), "tensors": len(plan.tensors)},
        evidence=once((*plan.evidence_of("class"), *(item for refusal in stopped for item in refusal.evidence))),
        fix=Fix("write the name this engine has for the head's class into architectures"),
        outcome=Outcome.REFUSES if stopped else None,
    )


def _fc(drafter: Eagle) -> tuple[Location, ...]:
    return (drafter.tensor_at("fc.weight", "no place in that class"),) if drafter.fc else ()
