"""The input of `fc` is not what the target's states add up to.

## What it checks
EAGLE-3: that `fc` takes a whole number of target states. EAGLE-1: that it takes one state and one embedding. Block
drafters: that it takes one state for each layer the config names.

## Why it bites
`fc` joins the states the target hands over. If its input is no multiple of their width, no engine can feed it.

## Fix
Use the drafter made for this target.

## Limits
Whether the number of states agrees with the layers an engine captures is told by the rules that follow its plan.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Pair


@rule("DFL202", "fc-input-width", Outcome.REFUSES)
def check(at: Pair[Eagle | BlockDrafter]) -> Checks:
    """The width of fc's input against K times the target's width, and K against the layers named."""
    drafter, target = at.drafter, at.target
    if drafter.fc is None or len(drafter.fc.shape) != 2 or target.hidden_size is None:
        return
    width, takes = target.hidden_size.value, drafter.fc.shape[1]
    if width < 1 or drafter.state_width != width:
        return  # the widths themselves differ: hidden-size tells
    own = drafter.hidden_size.value if drafter.hidden_size else width
    first = isinstance(drafter, Eagle) and drafter.generation == 1
    fits = takes == own + width if first else takes % width == 0
    named = len(drafter.layer_ids[0].ids.value) if isinstance(drafter, BlockDrafter) and drafter.layer_ids else None
    if not fits or (named and takes != named * width):
        wanted = f"{own} + {width}" if first else f"a multiple of {width}"
        wanted = f"{named} x {width}, for the {named} layers it names" if fits else wanted
        yield Found(
            message=f"fc takes {takes} values; the target's states make it {wanted}",
            locations=(
                drafter.tensor_at("fc.weight", f"takes {takes}"),
                target.hidden_size.at.saying(f"{width} a state"),
            ),
            measured={"takes": takes, "width": width},
            fix=Fix("use a drafter trained for this target"),
        )
