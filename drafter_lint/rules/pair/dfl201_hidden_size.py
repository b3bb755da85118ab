"""A drafter built for hidden states of another width than the target's.

## What it checks
The width of one target state the drafter was built for (`target_hidden_size`, else its own `hidden_size`) against the
target's `hidden_size`.

## Why it bites
The states the target hands over go straight into the drafter's `fc`. Another width is a matrix product that cannot be
made: the server stops while loading or on the first request.

## Fix
Use a drafter trained for this target. Where only the declaration is missing (the drafter's own width differs from the
target's by design, and `fc` fits the target), add `target_hidden_size`.

## Limits
Equal widths prove nothing: models of one family share them.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Drafter, Eagle, Medusa, MlpSpeculator, Mtp
from drafter_lint.findings import Confidence, Fix, Found, Located, Outcome, SetConfig
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.pair.widths import fc_fits_target
from drafter_lint.scope import Pair


@rule("DFL201", "hidden-size", Outcome.REFUSES)
def check(at: Pair[Eagle | BlockDrafter | Mtp | Medusa | MlpSpeculator]) -> Checks:
    """State width against the target's."""
    drafter, target = at.drafter, at.target
    if target.hidden_size is None:
        yield NotChecked(f"the config of {target.checkpoint.subject} names no hidden_size", needed=True)
        return
    declared = _declared(drafter)
    if declared is None:
        yield NotChecked("the drafter's config names neither hidden_size nor target_hidden_size", needed=True)
        return
    width = target.hidden_size.value
    if declared.value == width:
        return
    undeclared = isinstance(drafter, Eagle) and drafter.target_hidden_size is None and fc_fits_target(drafter, width)
    fix = Fix("use a drafter trained for this target")
    if undeclared:
        fix = Fix(f'"target_hidden_size": {width}', (SetConfig("/target_hidden_size", width),))
    yield Found(
        message=f"the drafter takes states {declared.value} wide; the target hands over {width}"
        + (", which fc fits: target_hidden_size is not declared" if undeclared else ""),
        locations=(
            declared.at.saying(f"{declared.value} wide"),
            target.hidden_size.at.saying(f"{width} wide"),
            *((drafter.tensor_at("fc.weight"),) if isinstance(drafter, (Eagle, BlockDrafter)) else ()),
        ),
        measured={"drafter": declared.value, "target": width},
        fix=fix,
        confidence=Confidence.LIKELY,
    )


def _declared(drafter: Drafter) -> Located[int] | None:
    """The width of one state, as far as it is declared."""
    if isinstance(drafter, Mtp):
        return drafter.state_width
    wider = drafter.target_hidden_size if isinstance(drafter, (Eagle, BlockDrafter)) else None
    return wider or drafter.hidden_size
