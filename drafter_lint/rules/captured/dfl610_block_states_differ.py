"""A block drafter is handed other states than it was trained on.

## What it checks
The boundaries the target will hand over against those a DFlash or DSpark drafter names in its config.

## Why it bites
Block drafters count layers by their output, the speculators library and EAGLE-3 by their input. vLLM 0.21.0 read a
DFlash drafter's `target_layer_ids` as if they were the latter, one layer early; later releases add one, but drop the
list where the config also has an `eagle_config`, and take three default layers. Widths agree, the server starts, and
every block is drafted from the wrong states.

## Fix
Take a release that reads the ids as they are meant, or write them as `eagle_aux_hidden_state_layer_ids`, which every
release reads as boundaries.

## Limits
Drafters inside the target (DeepSeek-V4 and V4.1) are left out: which of the two their ids mean depends on the model.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter
from drafter_lint.findings import Fix, Found, Outcome, weakest
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import first_of, once
from drafter_lint.scope import Deployment


@rule("DFL610", "block-states-differ", Outcome.SILENT)
def check(at: Deployment[BlockDrafter]) -> Checks:
    """Needed against captured, boundary by boundary."""
    drafter, capture, layers = at.drafter, at.plan.capture, at.target.num_layers
    if capture is None or not capture.active or layers is None or drafter.container == "target" or at.plan.refusals:
        return
    written = next(iter(drafter.layer_ids), None)
    if written is None:
        return
    added = 1 if drafter.counts == "outputs" else 0
    need = tuple(sorted({identifier + added for identifier in written.ids.value}))
    if need == capture.boundaries or not all(0 <= boundary <= layers.value for boundary in need):
        return
    how = f"read {capture.reading}" if capture.read else "the engine's default"
    yield Found(
        message=(
            f"the target hands over boundaries {list(capture.boundaries)} ({how}); "
            f"this drafter names {list(need)} (the {drafter.counts} of layers {list(written.ids.value)})"
        ),
        locations=first_of((written.ids.at.saying(f"boundaries {list(need)}"),)),
        measured={"needed": [*need], "captured": [*capture.boundaries]},
        evidence=once((*capture.evidence, *at.plan.evidence_of("capture"))),
        confidence=weakest(capture.confidence),
        fix=Fix(
            f"a release that reads the list as it is meant; in vLLM, eagle_aux_hidden_state_layer_ids: {list(need)}"
        ),
    )
