"""A config that declares another number of layers than the file has.

## What it checks
`num_hidden_layers` against the decoder layers in the file.

## Why it bites
Engines build as many layers as the config declares. Those without tensors keep what memory held and spoil every draft;
those without a place are dropped, or refused. Often the number was copied from the target.

## Fix
Write the number of layers the file has.

## Limits
Without an engine it is a remark: some versions build one layer whatever the config says. With one, the plan says what
is lost.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, DraftModel, Eagle, Medusa, MlpSpeculator
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.findings import Evidence, Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import absent_layers, further_layers, layers_at_odds
from drafter_lint.rules.shared import class_cause, first_of, once, refusals
from drafter_lint.scope import Alone, Deployment


@rule("DFL110", "declared-layers-absent", Outcome.HYGIENE)
def check(
    at: Alone[Eagle | BlockDrafter | DraftModel | Medusa | MlpSpeculator] | Deployment[Eagle | DraftModel],
) -> Checks:
    """Declared layers against layers in the file, and what comes of it."""
    drafter, declared = at.drafter, at.drafter.num_layers
    if declared is None or not layers_at_odds(drafter):
        return
    if isinstance(drafter, DraftModel) and drafter.checkpoint.tensors.missing_files:
        return  # the shards that are not there are told of already
    if isinstance(drafter, DraftModel) and isinstance(at, Deployment) and at.plan.draft_class is not None:
        return  # told by language-model-incomplete or tensor-refused, with what the engine makes of it
    if isinstance(at, Deployment) and any(item.kind is RefusalKind.LAYER_COUNT for item in at.plan.refusals):
        return  # told by layer-count-refused
    count = drafter.layers_in_file
    outcome, says, evidence = _effect(at) if isinstance(at, Deployment) else (None, "", ())
    field = declared.at.pointer.rpartition("/")[2] if declared.at.pointer else "num_hidden_layers"
    heads, positions = isinstance(drafter, Medusa), isinstance(drafter, MlpSpeculator)
    noun = "heads" if heads else "positions" if positions else "layers"
    last = () if heads or positions else (drafter.tensor_at(f"layers.{count - 1}.mlp.down_proj.weight"),)
    yield Found(
        message=f"{field} declares {declared.value} {noun}; the file has {count}{says}",
        locations=first_of((declared.at.saying(f"the file has {count}"), *last)),
        measured={"declared": declared.value, "in_file": count},
        evidence=evidence,
        fix=Fix(f'"{field}": {count}', (SetConfig(declared.at.pointer or f"/{field}", count),)),
        outcome=outcome,
    )


def _effect(at: Deployment[Eagle | DraftModel]) -> tuple[Outcome | None, str, tuple[Evidence, ...]]:
    """What this engine makes of it: layers nothing fills, or tensors without a place."""
    plan = at.plan
    if stopped := refusals(at, "declared-layers-absent"):
        evidence = once(item for refusal in stopped for item in refusal.evidence)
        return Outcome.REFUSES, "; those beyond are refused", evidence
    drafter = at.drafter
    if class_cause(at) or not isinstance(drafter, Eagle):
        return None, "", ()
    empty = [state.name for state in plan.parameters if state.matters and state.state in {"unfilled", "partly"}]
    if hollow := absent_layers(drafter, empty):
        return Outcome.SILENT, f"; {len(hollow)} parameters of the others are not filled", plan.evidence_of("class")
    further = further_layers(drafter)
    dropped = [fate for fate in plan.tensors if fate.fate == "dropped" and fate.name in further]
    if dropped:
        return Outcome.SILENT, f"; {len(dropped)} tensors of the others are dropped", dropped[0].evidence
    return None, "", ()
