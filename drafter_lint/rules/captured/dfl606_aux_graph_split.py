"""The drafter's layer ids hold only outside CUDA graphs.

## What it checks
Releases that set the configured layer ids after the target's graphs have been captured: the graphs were recorded with
the default layers.

## Why it bites
A forward that runs through a graph hands over the default states, one that does not hands over the configured ones:
whichever the drafter was trained on, it is fed the others part of the time.

## Fix
Turn the target's CUDA graphs off (`--disable-cuda-graph`), or use a release that sets the ids first. A drafter that was
trained on the default layers needs no ids: leave them out.

## Limits
A config whose ids come out as the default is not concerned.
"""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.drafters import Eagle, default_boundaries
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.captured.states import compare, shown, with_fix
from drafter_lint.rules.shared import once
from drafter_lint.scope import Deployment


@rule("DFL606", "aux-graph-split", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """The plan has a step of its own for it."""
    steps = [step for step in at.plan.steps if step.topic == "capture-graph"]
    parted = compare(at)
    if parted is None or not steps or parted.kind != "graph-split":
        return
    message = f"{steps[0].says}; this drafter was trained on {shown(parted.need)}"
    evidence = once(item for step in steps for item in step.evidence)
    found = replace(parted.found(at, message), evidence=evidence)
    layers = at.target.num_layers
    if layers is not None and parted.need.boundaries == default_boundaries(layers.value):
        yield with_fix(at, parted, found)  # the graphs are right: without a list, so is what runs outside them
        return
    fix = Fix("--disable-cuda-graph, or a release that sets the ids before it records the graphs")
    yield replace(found, fix=fix)
