"""A block drafter made for a target of another depth.

## What it checks
`num_target_layers` of a block drafter against the number of the target's layers.

## Why it bites
The drafter takes the states of certain layers. In a model of another depth the same numbers name other places, even
where widths and vocabularies agree: siblings of one family often differ in nothing but their depth.

## Fix
Use the drafter made for this target.

## Limits
Some trainers write the number of captured layers under the same name; a value no larger than that is not compared.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Pair


@rule("DFL210", "target-depth", Outcome.SILENT)
def check(at: Pair[BlockDrafter]) -> Checks:
    """The depth it was made for against the target's."""
    declared, layers = at.drafter.num_target_layers, at.target.num_layers
    if declared is None or layers is None or declared.value == layers.value:
        return
    states = at.drafter.states or max((len(item.ids.value) for item in at.drafter.layer_ids), default=0)
    if declared.value <= max(states, at.drafter.layers_in_file):
        return  # TorchSpec's dflash_draft_config.json counts captured layers here
    yield Found(
        message=f"the drafter was made for a target of {declared.value} layers; this one has {layers.value}",
        locations=(declared.at.saying(f"{declared.value} layers"), layers.at.saying(f"{layers.value} layers")),
        measured={"drafter": declared.value, "target": layers.value},
        fix=Fix("use the drafter made for this target"),
        confidence=Confidence.LIKELY,
    )
