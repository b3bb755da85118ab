"""A vocabulary map that leads out of the vocabulary.

## What it checks
That i + d2t[i] is at least 0 and below the vocabulary size, for every draft id i.

## Why it bites
Such a draft id names a token that does not exist. Proposing it reads past the embedding, or ends in an index error;
until then everything looks well.

## Fix
Build the map for the vocabulary of this target.

## Limits
The ids that count are the target's; only where no target is known they are those of the drafter's own `vocab_size`.
Maps that hold ids instead of offsets are reported as that. A map that fits the target and leaves the drafter's own
`vocab_size` is refused by some engines, which vocabulary-refused tells.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, target_of, told
from drafter_lint.scope import Alone, Known


@rule("DFL305", "d2t-out-of-range", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Target ids outside the target's vocabulary."""
    drafted = faulty(at, "d2t-out-of-range")
    if drafted is None:
        return
    outside = drafted.outside
    first, target = outside[0]
    whose = "the vocabulary" if isinstance(at, Alone) else "the target's vocabulary"
    end = "begins at 0" if target < 0 else f"ends at {drafted.vocabulary - 1}"
    have = "token has" if len(outside) == 1 else "tokens have"
    found = Found(
        message=f"{len(outside)} draft {have} no target token: draft token {first} would mean target token {target}; "
        f"{whose} {end}",
        locations=(at.drafter.tensor_at("d2t", f"[{first}] leads to {target}"), *_sizes(at)),
        measured={"outside": len(outside), "draft_id": first, "target_id": target, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("build the map for this vocabulary, or use the drafter made for it"),
        confidence=Confidence.LIKELY if isinstance(at, Alone) else Confidence.CERTAIN,
    )
    yield told(at, "d2t-out-of-range", found)


def _sizes(at: Known[Eagle]) -> tuple[Location, ...]:
    """Where the two vocabularies are declared, if they differ: then the map was made for the drafter's."""
    target = target_of(at)
    ours, theirs = at.drafter.vocab_size, target.vocab_size if target else None
    if ours is None or theirs is None or ours.value == theirs.value:
        return ()
    return ours.at.saying(f"{ours.value} ids"), theirs.at.saying(f"{theirs.value} ids")
