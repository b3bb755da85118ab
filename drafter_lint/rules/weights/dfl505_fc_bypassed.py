"""The drafter's fc is not run although its method is right.

## What it checks
Whether the projection that joins the auxiliary states is applied to what the target hands over.

## Why it bites
`eagle_config.use_aux_hidden_state: false` beside an `fc` that joins several states is a contradiction the tensors
reveal. Engines that honour the field hand over the last state, skip `fc`, and accept no draft token; older releases
never read it.

## Fix
Set `eagle_config.use_aux_hidden_state` to true, or remove it.

## Limits
The same effect from the wrong method is told by eagle3-run-as-eagle.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, fc_bypassed, first_of, once, states_withheld
from drafter_lint.scope import Deployment


@rule("DFL505", "fc-bypassed", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """The plan does not run fc, and the method is not why."""
    drafter, plan = at.drafter, at.plan
    if not fc_bypassed(at) or states_withheld(at) or class_cause(at) or plan.fc is None or drafter.fc is None:
        return
    takes = drafter.fc.shape[-1] if drafter.fc.shape else None
    fed = plan.fc.fed if plan.fc.fed is not None else plan.capture.width if plan.capture else None
    times = f" = {drafter.states} x {drafter.state_width}" if drafter.states else ""
    handed = f"{fed} values a token are handed over" if fed else "the last state is handed over"
    switch = drafter.use_aux_hidden_state
    off = switch is not None and not switch.value
    yield Found(
        message=f"fc takes {takes}{times} and is not run: {handed}; {plan.fc.says}".rstrip("; "),
        locations=first_of((*((switch.at,) if switch and off else ()), drafter.tensor_at("fc.weight", "not run"))),
        measured={"fc_takes": takes, "handed_over": fed},
        evidence=once((*plan.fc.evidence, *(plan.capture.evidence if plan.capture else ()))),
        fix=Fix(
            "eagle_config.use_aux_hidden_state: true", (SetConfig("/eagle_config/use_aux_hidden_state", value=True),)
        )
        if off
        else None,
    )
