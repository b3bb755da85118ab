"""The drafter's window is shorter than the context served.

## What it checks
`max_position_embeddings` of the drafter against the context the server is asked for, else the target's own, where the
engine does not refuse.

## Why it bites
Beyond its window a drafter drafts worse or not at all, depending on the engine. Most requests are shorter and see
nothing of it. Releases that look positions up behind the end of the drafter's rotary table stop with an error of the
device as soon as a request gets that far, or draft from what lies there in memory: graver than a remark where a
longer context was asked for.

## Fix
A drafter trained on longer sequences, or a shorter context.

## Limits
Says what the engine does where the plan knows; a refusal is told by context-refused. Rotary embeddings that scale are
not reckoned with.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.engines.plan import OVERRUN, OVERRUN_EAGER, RefusalKind
from drafter_lint.findings import Confidence, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import first_of, once
from drafter_lint.scope import Deployment

#: What a step of the plan says of positions beyond the window, and what comes of it where they were asked for.
_TOPICS: dict[str, Outcome | None] = {"context": None, OVERRUN: Outcome.REFUSES, OVERRUN_EAGER: Outcome.SILENT}


@rule("DFL706", "window-short", Outcome.HYGIENE)
def check(at: Deployment[Drafter]) -> Checks:
    """Compare the windows, and say what the engine makes of it."""
    window = at.drafter.layer_config.integer("max_position_embeddings")
    asked, own = at.request.context_length, at.target.max_position_embeddings
    served = asked or own
    if window is None or served is None or window.value >= served.value or not at.plan.understood:
        return
    if any(refusal.kind is RefusalKind.CONTEXT for refusal in at.plan.refusals):
        return
    whose = "context asked for" if asked else "target's window"
    steps = [step for step in at.plan.steps if step.topic in _TOPICS]
    meant = _TOPICS[steps[0].topic] if steps and asked else None
    raised = [change for change in at.plan.rewrites if change.at == window.at]
    does = "".join(f"; {says}" for says in [step.says for step in steps[:1]] + [change.says for change in raised[:1]])
    yield Found(
        message=f"drafter window {window.value} is shorter than the {whose}, {served.value}{does}",
        locations=first_of((window.at.saying(f"{window.value} positions"), served.at.saying(whose))),
        measured={"window": window.value, "served": served.value},
        evidence=once(
            (
                *(item for step in steps for item in step.evidence),
                *(item for change in raised for item in change.evidence),
            )
        ),
        outcome=meant,
        confidence=Confidence.LIKELY if meant else Confidence.CERTAIN,
    )
