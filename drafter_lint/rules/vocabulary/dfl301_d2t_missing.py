"""A reduced vocabulary without the map back to the target's ids.

## What it checks
That a drafter whose head has fewer rows than the vocabulary ships `d2t`.

## Why it bites
Without the map engines take draft id i for target id i. The drafter was trained on other ids, so nearly every draft
token is wrong: the server runs, and the accept length stays near 1.

## Fix
Export `d2t` with the weights. Some trainers leave it in a file of its own.

## Limits
A drafter that was trained on the first ids of the vocabulary needs no map; none has been published.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS, reduced_vocabulary
from drafter_lint.scope import Alone


@rule("DFL301", "d2t-missing", Outcome.SILENT)
def check(at: Alone[Eagle]) -> Checks:
    """Fewer rows than ids, and no d2t."""
    drafter = at.drafter
    drafted = reduced_vocabulary(drafter)
    if drafted is None or drafted.map.d2t is not None:
        return
    head = "lm_head.weight" in drafter.canonical
    declared = drafter.draft_vocab_size
    place = drafter.tensor_at("lm_head.weight", f"{drafted.rows} rows") if head or not declared else declared.at
    yield Found(
        message=f"{drafted.rows} of {drafted.vocabulary} ids can be drafted, and there is no d2t to say which",
        locations=(place, drafter.tensor_at("d2t", "missing")),
        measured={"drafted": drafted.rows, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("export d2t with the weights"),
    )
