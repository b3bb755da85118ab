"""Drafter and target ship different tokenizers.

## What it checks
Where the drafter ships a tokenizer of its own: that every id means the same token in it and in the target's. Files of
every kind are compared, byte for byte where their kinds allow it.

## Why it bites
Drafter and target exchange ids, never text, and no engine opens the drafter's tokenizer. A head trained with other
ids drafts tokens that mean something else to the target: everything loads, and next to nothing is accepted.

## Fix
Use the drafter that was trained for this tokenizer. If the files were only copied along, take them out.

## Limits
A drafter without a tokenizer is complete. Holes, reserved names and padding to a round number are no difference, nor is
a tokenizer that merely knows more added tokens (reported as a possibility). Where trained tokens agree and only added
ones differ, the finding is about hygiene. Draft models of their own are not looked at here: some engines translate
between tokenizers.
"""

from __future__ import annotations

from drafter_lint.checkpoint.tokenizer import Parity, Relation
from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.vocabulary.tokens import IDS_SHARED, compared, example, reads_target_ids, ships_none
from drafter_lint.scope import Pair

#: Below this part of the ids, drafts go wrong now and then and not always.
_FEW = 0.01
_FIX = Fix("use the drafter trained for this tokenizer, or take out tokenizer files that were only copied along")


@rule("DFL320", "tokenizer-differs", Outcome.SILENT)
def check(at: Pair[Drafter]) -> Checks:
    """The two tables, id by id."""
    ours, theirs = at.drafter.checkpoint.tokenizer, at.target.checkpoint.tokenizer
    if not reads_target_ids(at.drafter) or self_drafting(at) or ships_none(ours):
        return
    parity = compared(ours, theirs)
    if isinstance(parity, NotChecked):
        yield parity
        return
    places = (ours.at("the drafter's"), theirs.at("the target's"))
    if parity.relation in {Relation.SHIFTED, Relation.DIFFERENT}:
        yield Found(
            message=f"{example(parity)}; {_how(parity)}",
            locations=places,
            measured=_measured(parity),
            evidence=IDS_SHARED,
            fix=_FIX,
            outcome=_outcome(parity),
            confidence=Confidence.LIKELY,
        )
    elif parity.relation is Relation.SUPERSET:
        yield Found(
            message=f"no id means two things, but {_more(parity)}",
            locations=places,
            measured=_measured(parity),
            evidence=IDS_SHARED,
            fix=Fix("ship the target's tokenizer, or none"),
            outcome=Outcome.HYGIENE,
            confidence=Confidence.POSSIBLE,
        )


def _outcome(parity: Parity) -> Outcome | None:
    if not parity.trained:
        return Outcome.HYGIENE
    return Outcome.SLOW if parity.differing < _FEW * parity.common else None


def _how(parity: Parity) -> str:
    told = f"{parity.differing} of {parity.common} ids differ"
    if parity.shift:
        return f"{told}: the drafter's ids are the target's shifted by {-parity.shift:+d}"
    return told if parity.trained else f"{told}, all of them added tokens"


def _more(parity: Parity) -> str:
    sides = (("the drafter's", parity.left_only), ("the target's", parity.right_only))
    return " and ".join(f"{count} tokens are only in {whose}" for whose, count in sides if count)


def _measured(parity: Parity) -> dict[str, int]:
    return {
        "common": parity.common,
        "differing": parity.differing,
        "trained": parity.trained,
        "shift": parity.shift,
        "drafter_only": parity.left_only,
        "target_only": parity.right_only,
    }
