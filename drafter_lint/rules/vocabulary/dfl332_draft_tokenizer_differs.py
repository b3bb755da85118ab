"""A draft model and its target mean different tokens by the same id.

## What it checks
The tokenizer of the draft model against the target's, id by id, where the engine takes draft ids for target ids.

## Why it bites
No engine looks. vLLM compares two numbers; SGLang has a comparison of the tokens from 0.5.15.post1 on, and gives the
draft model no tokenizer to compare. Two tokenizers of one size, or one and the same with its ids moved, start and
answer, and next to no draft is accepted. An id that one side does not have is read past the end of its embedding.

## Fix
A draft model of the target's tokenizer, or an engine that translates between the two.

## Limits
Padding, holes and reserved names are no difference. Where trained tokens agree and only added ones differ, the
finding is about hygiene. Sizes that no padding explains are told by draft-vocabulary-foreign or
draft-vocabulary-unequal. Nothing is said where the engine translates. A draft model without a tokenizer is not
checked.
"""

from __future__ import annotations

from drafter_lint.checkpoint.tokenizer import Parity, Relation
from drafter_lint.drafters import DraftModel
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.vocabulary.padding import may_be_padding
from drafter_lint.rules.vocabulary.tokens import compared, example, ships_none
from drafter_lint.scope import Deployment, Paired

#: Below this part of the ids, drafts go wrong now and then and not always.
_FEW = 0.01
_FIX = Fix("a draft model of the target's tokenizer")


@rule("DFL332", "draft-tokenizer-differs", Outcome.SILENT)
def check(at: Paired[DraftModel]) -> Checks:
    """The two tables, and the ids past either end."""
    drafter, target = at.drafter, at.target
    evidence: tuple[Evidence, ...] = ()
    if isinstance(at, Deployment) and (ids := at.plan.map) is not None:
        if ids.use != "identity":
            return
        evidence = ids.evidence
    sizes = (drafter.vocab_size, target.vocab_size)
    if self_drafting(at) or (sizes[0] and sizes[1] and not may_be_padding(sizes[0].value, sizes[1].value)):
        return
    ours, theirs = drafter.checkpoint.tokenizer, target.checkpoint.tokenizer
    if ships_none(ours) or ships_none(theirs):
        whose = "draft model" if ships_none(ours) else "target"
        yield NotChecked(f"the {whose} comes without a tokenizer: whether the ids mean the same is not known")
        return
    parity = compared(ours, theirs)
    if isinstance(parity, NotChecked):
        yield parity
        return
    places = (ours.at("the draft model's"), theirs.at("the target's"))
    if parity.relation in {Relation.SHIFTED, Relation.DIFFERENT}:
        yield _differing(parity, places, evidence)
    elif parity.relation is Relation.SUPERSET:
        yield from _past_the_end(at, parity, places, evidence)


def _differing(parity: Parity, places: tuple[Location, ...], evidence: tuple[Evidence, ...]) -> Found:
    told = f"{parity.differing} of {parity.common} ids differ"
    if parity.shift:
        told += f": the draft model's ids are the target's shifted by {-parity.shift:+d}"
    elif not parity.trained:
        told += ", all of them added tokens"
    outcome = Outcome.SLOW if parity.differing < _FEW * parity.common else None
    return Found(
        message=f"{example(parity)}; {told}",
        locations=places,
        measured=_measured(parity),
        evidence=evidence,
        fix=_FIX,
        outcome=outcome if parity.trained else Outcome.HYGIENE,
        confidence=Confidence.LIKELY,
    )


def _past_the_end(
    at: Paired[DraftModel], parity: Parity, places: tuple[Location, ...], evidence: tuple[Evidence, ...]
) -> Checks:
    """No id means two things, but one side has tokens for which the other has no row."""
    for side, whose, size, lacks in (
        (at.target.checkpoint.tokenizer, "target", at.drafter.vocab_size, "draft model"),
        (at.drafter.checkpoint.tokenizer, "draft model", at.target.vocab_size, "target"),
    ):
        known = side.vocabulary
        beyond = [] if size is None else [i for i, token in enumerate(known.tokens) if token and i >= size.value]
        if size is None or not beyond:
            continue
        trained = [index for index in beyond if index not in known.added]
        yield Found(
            message=f"the {whose} has {len(beyond)} tokens past the {size.value} rows of the {lacks}, the first with "
            f"id {beyond[0]}: each is read past the end of its embedding",
            locations=(size.at.saying(f"{size.value} ids"), *places),
            measured={**_measured(parity), "beyond": len(beyond), "rows": size.value},
            evidence=evidence,
            fix=_FIX,
            outcome=None if trained else Outcome.HYGIENE,
            confidence=Confidence.LIKELY,
        )


def _measured(parity: Parity) -> dict[str, int]:
    return {
        "common": parity.common,
        "differing": parity.differing,
        "trained": parity.trained,
        "shift": parity.shift,
        "draft_only": parity.left_only,
        "target_only": parity.right_only,
    }
