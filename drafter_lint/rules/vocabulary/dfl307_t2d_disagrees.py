"""The mask of drafted tokens does not agree with the map.

## What it checks
That `t2d` has one entry for each id of the vocabulary, and is true for exactly the ids `d2t` leads to.

## Why it bites
Engines never use `t2d`, so nothing breaks. The two are written together, though, and where they differ one of them
comes from another run: the head may belong to neither.

## Fix
Export `d2t`, `t2d` and `lm_head` from the same run.

## Limits
A file without `t2d` is complete. Maps that are all zeros or hold ids instead of offsets are reported as that.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS, reduced_vocabulary
from drafter_lint.scope import Alone


@rule("DFL307", "t2d-disagrees", Outcome.HYGIENE)
def check(at: Alone[Eagle]) -> Checks:
    """The mask against the map."""
    drafted = reduced_vocabulary(at.drafter)
    if drafted is None or drafted.map.drafted is None or drafted.map.d2t is None:
        return
    if drafted.placeholder or drafted.absolute:
        return
    if drafted.map.t2d_length != drafted.vocabulary:
        yield Found(
            message=f"t2d has {drafted.map.t2d_length} entries; the vocabulary has {drafted.vocabulary}",
            locations=(at.drafter.tensor_at("t2d", f"{drafted.vocabulary} expected"),),
            measured={"entries": drafted.map.t2d_length, "vocabulary": drafted.vocabulary},
            evidence=READERS,
            fix=Fix("export d2t, t2d and lm_head from the same run"),
        )
        return
    targets = drafted.targets
    if targets == drafted.map.drafted:
        return
    ours, theirs = set(drafted.map.drafted), set(targets)
    if ours == theirs:
        return
    yield Found(
        message=f"t2d marks {len(ours)} ids and d2t leads to {len(theirs)}; {len(ours & theirs)} are the same",
        locations=(
            at.drafter.tensor_at("t2d", f"marks {len(ours)}"),
            at.drafter.tensor_at("d2t", f"names {len(theirs)}"),
        ),
        measured={"marked": len(ours), "mapped": len(theirs), "common": len(ours & theirs)},
        evidence=READERS,
        fix=Fix("export d2t, t2d and lm_head from the same run"),
    )
