"""A mask of drafted tokens of another length than the vocabulary.

## What it checks
That `t2d` has one entry for each id of the target's vocabulary, or of the drafter's own.

## Why it bites
Engines never use `t2d`, so nothing breaks. A mask of the wrong length comes from another vocabulary, or was mixed up
with the map: it has an entry for each id of the target, `d2t` has one for each draft id.

## Fix
Export `d2t`, `t2d` and `lm_head` from the same run.

## Limits
A file without `t2d` is complete. Where the map itself is broken, that is reported and not this.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known


@rule("DFL316", "t2d-length", Outcome.HYGIENE)
def check(at: Known[Eagle]) -> Checks:
    """Entries of the mask against the ids there are."""
    drafted = faulty(at, "t2d-length")
    if drafted is None:
        return
    length = drafted.map.t2d_length
    mixed = f", one for each draft id; it must have one for each of the {drafted.vocabulary} ids of the vocabulary"
    says = mixed if length == drafted.rows else f"; the vocabulary has {drafted.vocabulary} ids"
    found = Found(
        message=f"t2d has {length} entries{says}",
        locations=(at.drafter.tensor_at("t2d", f"{drafted.vocabulary} expected"),),
        measured={"entries": length, "vocabulary": drafted.vocabulary, "drafted": drafted.rows},
        evidence=READERS,
        fix=Fix("export d2t, t2d and lm_head from the same run"),
    )
    yield told(at, "t2d-length", found)
