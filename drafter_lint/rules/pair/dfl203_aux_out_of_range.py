"""Layer ids the target does not have.

## What it checks
Every list of auxiliary layer ids against the number of the target's layers. Id n, the last layer's output counted as an
input, is still in range.

## Why it bites
The drafter was trained on a deeper model, or the list was copied from one; below 0 it is a slip of the pen. An engine
that reads the list captures fewer states than `fc` takes and stops on the first request; one that does not read it
captures its defaults, which a drafter of a deeper model does not know.

## Fix
Use the drafter made for this target, or write the ids it was trained on.

## Limits
Ids in range can still be the wrong ones; the rules on captured states look at those.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Pair


@rule("DFL203", "aux-out-of-range", Outcome.SLOW)
def check(at: Pair[Eagle | BlockDrafter]) -> Checks:
    """Ids below 0 or above n."""
    layers, drafter = at.target.num_layers, at.drafter
    if layers is None or (isinstance(drafter, Eagle) and drafter.generation != 3):
        return
    # A block drafter's list says what it counts: the output of the last layer is n - 1.
    last = layers.value - 1 if isinstance(drafter, BlockDrafter) and drafter.counts == "outputs" else layers.value
    for written in drafter.layer_ids:
        outside = [identifier for identifier in written.ids.value if not 0 <= identifier <= last]
        if outside:
            yield Found(
                message=f"the config names layers {outside}; the target has {layers.value}",
                locations=(
                    written.ids.at.saying(f"{outside} out of range"),
                    layers.at.saying(f"{layers.value} layers"),
                ),
                measured={"ids": list(written.ids.value), "layers": layers.value},
                outcome=None if max(outside) > last else Outcome.HYGIENE,
                fix=Fix("use the drafter made for this target, or write the ids it was trained on"),
            )
