"""Layer ids that can be read in two ways, with nothing in the config to say which.

## What it checks
Whether the list of auxiliary layer ids can be understood. Trainers count in two ways: an id is the layer whose output
is meant, or the layer whose input is meant, one less. Both write the same key.

## Why it bites
Engines follow one convention each, and not the same one. Read wrongly, every state comes from one layer off; the
server runs, and the accept length suffers.

## Fix
If you know the layers, say so with `--trained-on`, in boundaries (0 the embeddings, k the input of layer k). A
trainer's default needs no saying: it is recognised in both spellings.

## Limits
This is about the config alone. While the list is ambiguous, whether the engine captures the right states is not
checked.
"""

from __future__ import annotations

from drafter_lint.drafters import Dialect, Eagle, aux_need
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Pair


@rule("DFL206", "aux-ambiguous", Outcome.HYGIENE)
def check(at: Pair[Eagle]) -> Checks:
    """The list fits neither convention's default, and no field decides."""
    drafter, layers = at.drafter, at.target.num_layers
    if drafter.generation != 3 or layers is None or layers.value < 1:
        return
    need = aux_need(drafter, layers.value)
    if need.dialect is not Dialect.AMBIGUOUS or need.written is None:
        return
    ids = need.written.ids.value
    if len(set(ids)) < len(ids) or any(not 0 <= identifier <= layers.value for identifier in ids):
        return  # wrong in either reading: aux-duplicate or aux-out-of-range tells
    readings = " or ".join("/".join(map(str, reading)) for reading in need.readings)
    yield Found(
        message=f"{need.reason}: the drafter was trained on boundaries {readings}",
        locations=(need.written.ids.at.saying(f"boundaries {readings}"), layers.at.saying(f"{layers.value} layers")),
        measured={"ids": list(ids), "readings": [list(reading) for reading in need.readings]},
        fix=Fix(f"--trained-on {','.join(map(str, need.readings[0]))}, or the other reading"),
    )
