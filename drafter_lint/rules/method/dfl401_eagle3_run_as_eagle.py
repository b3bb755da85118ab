"""EAGLE-3 drafter started in EAGLE mode: every draft token will be rejected.

## What it checks
The method the engine resolves against the drafter's generation. An EAGLE-3 drafter joins several auxiliary hidden
states of the target in its `fc`; only the EAGLE-3 method makes the target hand them over.

## Why it bites
In EAGLE mode the target hands over its last state alone. Engines apply `fc` only where the width that arrives differs
from the drafter's own, and both are usually the same number, so `fc` is skipped without a word: the server starts and
answers, and the accept length stays at 1.0. Where the widths differ, or the engine builds its class name from the
method, it refuses instead.

## Fix
Ask for the engine's EAGLE-3 method: `--speculative-algorithm EAGLE3` in SGLang, `"method": "eagle3"` in vLLM.

## Limits
Rests on the drafter having been recognised as EAGLE-3 from its tensors or its config.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.rules.shared import first_of, method_at_odds, once, refusals
from drafter_lint.scope import Deployment


@rule("DFL401", "eagle3-run-as-eagle", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """The resolved method hands over one state; the drafter joins several."""
    if method_at_odds(at) != "eagle3-run-as-eagle":
        return
    drafter, plan = at.drafter, at.plan
    stopped = refusals(at, "eagle3-run-as-eagle")
    handed = drafter.target_hidden_size or at.target.hidden_size
    takes = drafter.fc.shape[-1] if drafter.fc and drafter.fc.shape else None
    width = f"{handed.value} values a token, the last layer's" if handed else "its last layer's state alone"
    needs = f"; fc of this drafter takes {takes}" if takes else ""
    times = f" = {drafter.states} x {drafter.state_width}" if takes and drafter.states else ""
    message = f"EAGLE-3 drafter started with method {plan.method}: the target will hand over {width}{needs}{times}"
    if stopped:
        message += f"; {stopped[0].says}"
    asked = at.request.method.at.saying(width) if at.request.method else at.request.at(f"resolves to {plan.method}")
    yield Found(
        message=message,
        locations=first_of((asked, *_shown(drafter, times))),
        measured={"method": plan.method, "handed_over": handed.value if handed else None, "fc_takes": takes},
        evidence=once(
            (
                *(plan.fc.evidence if plan.fc else ()),
                *plan.evidence_of("method"),
                *(e for r in stopped for e in r.evidence),
            )
        ),
        fix=right_method(at),
        outcome=Outcome.REFUSES if stopped else None,
    )


def _shown(drafter: Eagle, times: str) -> tuple[Location, ...]:
    fc = (drafter.tensor_at("fc.weight", f"takes{times}".replace("takes =", "takes")),) if drafter.fc else ()
    return (*((drafter.architecture.at,) if drafter.architecture else ()), *fc)
