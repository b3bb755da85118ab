"""Drafter and target declare different vocabularies.

## What it checks
`vocab_size` of both, and that every id the map leads to exists in the target.

## Why it bites
Vocabularies of one tokenizer are padded to different multiples in different exports, so a difference alone is no
fault. An id the target does not have is one: proposing it reads past the target's embedding.

## Fix
None is needed for padding. Otherwise use the drafter made for this tokenizer.

## Limits
Tokenizers themselves are not compared by this rule. What an engine makes of a difference is told by the rules that
follow its plan.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS, reduced_vocabulary
from drafter_lint.scope import Pair


@rule("DFL310", "vocab-differs", Outcome.HYGIENE)
def check(at: Pair[Eagle]) -> Checks:
    """The two sizes, and the map against the target's."""
    ours, theirs = at.drafter.vocab_size, at.target.vocab_size
    if ours is None or theirs is None or ours.value == theirs.value:
        return
    drafted = reduced_vocabulary(at.drafter)
    targets = drafted.targets if drafted and not drafted.absolute else ()
    # Ids outside the drafter's own vocabulary are d2t-out-of-range's.
    outside = [(i, target) for i, target in enumerate(targets) if theirs.value <= target < ours.value]
    places = (ours.at.saying(f"{ours.value} ids"), theirs.at.saying(f"{theirs.value} ids"))
    if outside:
        first, target = outside[0]
        yield Found(
            message=f"{len(outside)} draft tokens mean ids the target lacks: draft token {first} means {target}; "
            f"the target's vocabulary ends at {theirs.value - 1}",
            locations=(at.drafter.tensor_at("d2t", f"[{first}] leads to {target}"), *places),
            measured={"outside": len(outside), "draft_id": first, "target_id": target, "vocabulary": theirs.value},
            evidence=READERS,
            fix=Fix("use the drafter made for this tokenizer"),
            outcome=Outcome.SILENT,
            confidence=Confidence.LIKELY,
        )
        return
    yield Found(
        message=f"vocab_size is {ours.value} in the drafter and {theirs.value} in the target; padding is harmless",
        locations=places,
        measured={"drafter": ours.value, "target": theirs.value},
        fix=Fix("compare the tokenizers if they are not known to be the same"),
    )
