"""Translating between two vocabularies that have little in common.

## What it checks
How many tokens of the draft model's tokenizer are tokens of the target's too, where the engine translates between
them.

## Why it bites
vLLM's `use_heterogeneous_vocab` maps tokens of the same text onto each other and keeps the draft model from every
other one. What it may not say it cannot draft, and what it hears of the target beyond its own tokens becomes an
unknown token.

## Fix
A draft model of the target's tokenizer, or of one that was made from it.

## Limits
Counts tokens and not how often they are used: a third in common may be nine tenths of a text. vLLM itself warns below
a hundred common tokens.
"""

from __future__ import annotations

from drafter_lint.checkpoint.tokenizer import Vocabulary
from drafter_lint.drafters import DraftModel
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, cut_short, rule
from drafter_lint.rules.vocabulary.tokens import not_comparable, ships_none
from drafter_lint.scope import Deployment

#: Below a hundred common tokens vLLM warns (0.27.1 to 0.33.0, v1/spec_decode/vocab_mapping.py, VocabMapping.__init__).
_WARNED = 100
#: Below this part of the draft model's tokens most of what it knows is of no use.
_PART = 0.25


@rule("DFL333", "few-common-tokens", Outcome.SLOW)
def check(at: Deployment[DraftModel]) -> Checks:
    """The tokens of both, as bytes."""
    ids = at.plan.map
    if ids is None or ids.use != "tokens" or at.plan.refusals:
        return
    ours, theirs = at.drafter.checkpoint.tokenizer, at.target.checkpoint.tokenizer
    if ships_none(ours) or ships_none(theirs):
        whose = "draft model" if ships_none(ours) else "target"
        yield NotChecked(f"the {whose} comes without a tokenizer: how many tokens are common is not known")
        return
    try:
        mine, served = ours.vocabulary, theirs.vocabulary
    except Unavailable as trouble:
        yield cut_short(trouble)
        return
    if not mine.kind.comparable(served.kind):
        yield not_comparable(ours, theirs)
        return
    common, whole = len(_tokens(mine) & _tokens(served)), len(_tokens(mine))
    if common >= max(_WARNED, _PART * whole) or common == whole:
        return
    yield Found(
        message=f"{common} of the draft model's {whole} tokens are the target's too; it may draft no others",
        locations=(ours.at("the draft model's"), theirs.at("the target's")),
        measured={"common": common, "tokens": whole},
        evidence=ids.evidence,
        fix=Fix("a draft model of the target's tokenizer"),
        confidence=Confidence.LIKELY if common < _WARNED else Confidence.POSSIBLE,
    )


def _tokens(vocabulary: Vocabulary) -> frozenset[bytes]:
    return frozenset(token for token in vocabulary.tokens if token is not None)
