"""A vocabulary map that leads out of the vocabulary.

## What it checks
That i + d2t[i] is at least 0 and below the vocabulary size, for every draft id i.

## Why it bites
Such a draft id names a token that does not exist. Proposing it reads past the embedding, or ends in an index error;
until then everything looks well.

## Fix
Build the map for the vocabulary of this target.

## Limits
A map that holds ids instead of offsets is reported as that.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS, reduced_vocabulary
from drafter_lint.scope import Alone


@rule("DFL305", "d2t-out-of-range", Outcome.SILENT)
def check(at: Alone[Eagle]) -> Checks:
    """Target ids outside the drafter's vocabulary."""
    drafted = reduced_vocabulary(at.drafter)
    targets = drafted.targets if drafted else ()
    if drafted is None or not targets or (min(targets) >= 0 and max(targets) < drafted.vocabulary) or drafted.absolute:
        return
    outside = [(i, target) for i, target in enumerate(targets) if not 0 <= target < drafted.vocabulary]
    first, target = outside[0]
    yield Found(
        message=f"{len(outside)} draft tokens have no target token: draft token {first} means {target}; "
        f"the vocabulary ends at {drafted.vocabulary - 1}",
        locations=(at.drafter.tensor_at("d2t", f"[{first}] leads to {target}"),),
        measured={"outside": len(outside), "draft_id": first, "target_id": target, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("build the map for this vocabulary"),
    )
