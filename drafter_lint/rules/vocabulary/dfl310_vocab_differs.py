"""Drafter and target declare different vocabularies.

## What it checks
`vocab_size` of both.

## Why it bites
Vocabularies of one tokenizer are padded to different multiples in different exports, so a small difference is no fault.
A large one is another tokenizer: the same id is another token in either, and no draft is right.

## Fix
None is needed for padding. Otherwise use the drafter made for this tokenizer.

## Limits
Tokenizers themselves are not compared by this rule. More than a sixteenth of the target's vocabulary is called large:
the most padding published is 1069 of 201088 ids. Where head, map or mask show that the drafter was made for as many
ids as the target has, its own `vocab_size` is taken for a slip. Ids that the target lacks are told by
d2t-out-of-range, what an engine refuses by vocabulary-refused.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refusals
from drafter_lint.rules.vocabulary.drafted import Drafted, Fault, drafted_vocabulary
from drafter_lint.scope import Deployment, Paired

#: Padding takes less than this part of a vocabulary.
_PADDING = 16
#: What is wrong with a map because it was made for another vocabulary.
_TOLD: frozenset[Fault] = frozenset({"d2t-out-of-range", "d2t-missing"})


@rule("DFL310", "vocab-differs", Outcome.HYGIENE)
def check(at: Paired[Eagle]) -> Checks:
    """The two sizes, and whether padding explains them."""
    ours, theirs = at.drafter.vocab_size, at.target.vocab_size
    if ours is None or theirs is None or ours.value == theirs.value:
        return
    drafted = drafted_vocabulary(at.drafter, at.target)
    if drafted is not None and drafted.fault in _TOLD:
        return
    if isinstance(at, Deployment) and refusals(at, "vocabulary-refused"):
        return
    apart = abs(ours.value - theirs.value)
    sizes = f"vocab_size is {ours.value} in the drafter and {theirs.value} in the target"
    foreign = _PADDING * apart > theirs.value and not _made_for_target(drafted, ours.value, theirs.value)
    if foreign:
        mapped = drafted is not None and drafted.map.d2t is not None
        says = "no padding explains that" + ("" if mapped else ", and no d2t leads from the one to the other")
    elif apart == 1:
        says = "an id was counted that is not there, or one left out"
    else:
        says = "padding is harmless"
    yield Found(
        message=f"{sizes}; {says}",
        locations=(ours.at.saying(f"{ours.value} ids"), theirs.at.saying(f"{theirs.value} ids")),
        measured={"drafter": ours.value, "target": theirs.value},
        fix=Fix(
            "use the drafter made for this tokenizer"
            if foreign
            else "compare the tokenizers if they are not known to be the same"
        ),
        outcome=Outcome.SILENT if foreign else Outcome.HYGIENE,
        confidence=Confidence.LIKELY if foreign else Confidence.CERTAIN,
    )


def _made_for_target(drafted: Drafted | None, ours: int, theirs: int) -> bool:
    """True if head, map or mask show another vocabulary than ``vocab_size`` does, and it can be the target's."""
    if drafted is None:
        return False
    if drafted.map.t2d_length is not None:
        return drafted.map.t2d_length == theirs
    if drafted.map.d2t is None:
        return drafted.rows == theirs
    return max(drafted.targets) >= ours
