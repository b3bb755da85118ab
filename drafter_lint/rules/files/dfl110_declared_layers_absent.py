"""A config that declares another number of layers than the file has.

## What it checks
`num_hidden_layers` against the decoder layers in the file; the number of heads of Medusa, of positions of an
MLPSpeculator.

## Why it bites
Engines build as many layers as the config declares. Those without tensors keep what memory held and spoil every draft;
those without a place are dropped, or refused. Often the number was copied from the target.

## Fix
Write the number of layers the file has.

## Limits
Some engine versions build one layer whatever the config says; the rules that follow the plan tell what is lost.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, DraftModel, Eagle, Medusa, MlpSpeculator
from drafter_lint.findings import Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone


@rule("DFL110", "declared-layers-absent", Outcome.HYGIENE)
def check(at: Alone[Eagle | BlockDrafter | DraftModel | Medusa | MlpSpeculator]) -> Checks:
    """Declared layers against layers in the file."""
    drafter, declared = at.drafter, at.drafter.num_layers
    if declared is None or not drafter.layers_in_file or declared.value == drafter.layers_in_file:
        return
    if isinstance(drafter, DraftModel) and drafter.checkpoint.tensors.missing_files:
        return  # the shards that are not there are told of already
    count = drafter.layers_in_file
    field = declared.at.pointer.rpartition("/")[2] if declared.at.pointer else "num_hidden_layers"
    heads, positions = isinstance(drafter, Medusa), isinstance(drafter, MlpSpeculator)
    noun = "heads" if heads else "positions" if positions else "layers"
    yield Found(
        message=f"{field} declares {declared.value} {noun}; the file has {count}",
        locations=(
            declared.at.saying(f"the file has {count}"),
            *(() if heads or positions else (drafter.tensor_at(f"layers.{count - 1}.mlp.down_proj.weight"),)),
        ),
        measured={"declared": declared.value, "in_file": count},
        fix=Fix(f'"{field}": {count}', (SetConfig(declared.at.pointer or f"/{field}", count),)),
    )
