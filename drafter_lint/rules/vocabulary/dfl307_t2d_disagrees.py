"""The mask of drafted tokens does not agree with the map.

## What it checks
That `t2d` is true for exactly the ids `d2t` leads to.

## Why it bites
Engines never use `t2d`, so nothing breaks. The two are written together, though, and where they differ one of them
comes from another run: the head may belong to neither.

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


@rule("DFL307", "t2d-disagrees", Outcome.HYGIENE)
def check(at: Known[Eagle]) -> Checks:
    """The mask against the map."""
    drafted = faulty(at, "t2d-disagrees")
    if drafted is None or drafted.map.drafted is None:
        return
    ours, theirs = set(drafted.map.drafted), set(drafted.targets)
    whole = len(ours) == drafted.map.t2d_length
    found = Found(
        message=f"t2d marks {len(ours)} ids and d2t leads to {len(theirs)}; {len(ours & theirs)} are the same"
        + ("; all true is how t2d is created" if whole else ""),
        locations=(
            at.drafter.tensor_at("t2d", f"marks {len(ours)}"),
            at.drafter.tensor_at("d2t", f"names {len(theirs)}"),
        ),
        measured={"marked": len(ours), "mapped": len(theirs), "common": len(ours & theirs)},
        evidence=READERS,
        fix=Fix("export d2t, t2d and lm_head from the same run"),
    )
    yield told(at, "t2d-disagrees", found)
