"""The target hands over another number of states than the drafter's fc joins.

## What it checks
The number of captured boundaries against K, where `fc` takes K states.

## Why it bites
Ids that name no layer, or the same layer twice, are lost on the way: two states arrive where three are expected, and
the first request dies in a matrix product. Some engines size `fc` from the length of the list and refuse its weights;
some always expect three.

## Fix
As many different ids as `fc` joins states, each of them a layer of the target.

## Limits
None.
"""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.captured.states import compare
from drafter_lint.rules.shared import once, refusals, states_built
from drafter_lint.scope import Deployment


@rule("DFL604", "aux-count", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """K of fc against the states that arrive; refused where the plan refuses."""
    stopped = refusals(at, "aux-count")
    parted = compare(at)
    if parted is None or parted.kind != "count":
        return
    drafter, capture = at.drafter, parted.capture
    takes = drafter.fc.shape[-1] if drafter.fc and drafter.fc.shape else None
    lost = f" of {list(capture.asked)} asked for" if set(capture.asked) != set(capture.boundaries) else ""
    reason = f"; {stopped[0].says}" if stopped else ""
    built = states_built(at, drafter)
    if built is not None and built != drafter.states:
        reason = f"; the engine builds it for {built}" + reason
    message = (
        f"{len(capture.boundaries)} states are handed over ({list(capture.boundaries)}{lost}); fc joins "
        f"{drafter.states}: {takes} = {drafter.states} x {drafter.state_width}{reason}"
    )
    found = parted.found(at, message)
    yield replace(
        found,
        locations=(*found.locations, drafter.tensor_at("fc.weight", f"joins {drafter.states}")),
        evidence=once((*found.evidence, *(item for refusal in stopped for item in refusal.evidence))),
        outcome=Outcome.REFUSES if stopped else None,
        fix=Fix(f"{drafter.states} different ids, each a layer of the target") if drafter.states else None,
    )
