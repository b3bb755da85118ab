"""A drafter that fills in positions without a usable mask token.

## What it checks
The id that stands for a position to be filled in (`mask_token_id` and its other spellings): that it is written, and
that it is an id of the vocabulary.

## Why it bites
Block drafters and P-EAGLE put this token where nothing is known yet. Another id than in training gives other states,
and drafts that are not accepted; an id outside the vocabulary reads past the embedding. Trainers have defaults that
must not survive into an export: PARD's is -1, templates carry null.

## Fix
Write the id the drafter was trained with; the trainer's log or its launch script names it.

## Limits
That the id is the one of training cannot be seen. SGLang looks a missing id up in the tokenizer, by the token's text;
vLLM stops.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Drafter, DraftModel, Eagle
from drafter_lint.drafters.fields import mask_key
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.33.0",
        file="v1/spec_decode/llm_base_proposer.py",
        symbol="SpecDecodeBaseProposer._init_parallel_drafting_params",
        how="read",
        note="raises unless one of five keys names the token",
    ),
    Evidence(
        engine="sglang",
        version="0.5.23",
        file="srt/speculative/dflash_utils.py",
        symbol="parse_dflash_draft_config",
        how="read",
        note="refuses negative and non-integer ids; null means the tokenizer's <|MASK|>",
    ),
)


@rule("DFL115", "mask-token", Outcome.REFUSES)
def check(at: Alone[Eagle | BlockDrafter | DraftModel]) -> Checks:
    """Absent, null, or no id of the vocabulary."""
    drafter = at.drafter
    if not _parallel(drafter):
        return
    config, token = drafter.checkpoint.config, drafter.mask_token
    key = mask_key(config)
    if token is None:
        written = config.raw(*key) if key else None
        absent = written is None or written.value is None
        state = "no mask token is written" if written is None else f"{'.'.join(key or ())} is {written.value!r}"
        state = state.replace("None", "null")
        yield Found(
            message=f"{state}; positions to be filled in need one",
            locations=(config.at(*(key or ("mask_token_id",)), label="the id used in training is expected"),),
            measured={"field": ".".join(key or ("mask_token_id",))},
            evidence=_EVIDENCE,
            fix=Fix("write the id the drafter was trained with"),
            outcome=Outcome.HYGIENE if absent else None,
            confidence=Confidence.LIKELY,
        )
        return
    size = drafter.vocab_size
    if token.value >= 0 and (size is None or token.value < size.value):
        return
    limit = f"the vocabulary has {size.value} ids" if size else "ids begin at 0"
    yield Found(
        message=f"the mask token is {token.value}; {limit}",
        locations=(token.at.saying("no id of the vocabulary"), *((size.at,) if size else ())),
        measured={"mask_token": token.value, "vocabulary": size.value if size else None},
        evidence=_EVIDENCE,
        fix=Fix("write the id the drafter was trained with"),
        confidence=Confidence.LIKELY,
    )


def _parallel(drafter: Drafter) -> bool:
    if isinstance(drafter, (Eagle, DraftModel)):
        return drafter.parallel
    # An embedded drafter's token belongs to its target, whose release fixes it.
    return isinstance(drafter, BlockDrafter) and drafter.container == "alone"
