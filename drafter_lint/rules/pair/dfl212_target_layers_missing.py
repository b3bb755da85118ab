"""A block drafter that names none of the target layers whose states it takes.

## What it checks
Whether the config of a drafter whose `fc` joins several states says which layers of the target they come from.

## Why it bites
Engines that find no list guess as many layers as fit, evenly spread or by a default of their own. The widths agree, the
weights load, nothing is logged, and the drafter is handed states it was not trained on: of twenty published lists a
survey compared with SGLang's guess, fourteen differ.

## Fix
Write the list the drafter was trained with as `dflash_config.target_layer_ids`; its trainer knows it.

## Limits
A guess may be right where the trainer took its layers from the same formula. Drafters inside their target are left out.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_LISTS = ("target_layer_ids", "layer_ids", "aux_hidden_state_layer_ids", "eagle_aux_hidden_state_layer_ids")
_NESTS = ((), ("dflash_config",), ("dspark_config",), ("eagle_config",), ("transformer_layer_config",))


@rule("DFL212", "target-layers-missing", Outcome.SILENT)
def check(at: Alone[BlockDrafter]) -> Checks:
    """Several states, and no list."""
    drafter = at.drafter
    if drafter.container == "target" or drafter.layer_ids or drafter.fc is None or (drafter.states or 0) < 2:
        return
    config = drafter.checkpoint.config
    if any(config.has(*nest, name) for nest in _NESTS for name in _LISTS):  # not missing, but of no use: told elsewhere
        return
    takes = f"fc takes {drafter.fc.shape[1]} = {drafter.states} x {drafter.state_width}"
    yield Found(
        message=f"{takes}, the states of {drafter.states} target layers, and target_layer_ids is absent",
        locations=(
            config.at("dflash_config", label="no list of layers"),
            drafter.tensor_at("fc.weight", f"{drafter.states} states"),
        ),
        measured={"states": drafter.states},
        fix=Fix("write the layers it was trained on as dflash_config.target_layer_ids"),
        confidence=Confidence.LIKELY,
    )
