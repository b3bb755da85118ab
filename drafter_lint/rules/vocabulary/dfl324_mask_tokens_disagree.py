"""Several fields name the mask token, and not the same one.

## What it checks
Of a drafter that fills in several positions at once (P-EAGLE, DFlash, DSpark, PARD): that the fields in which engines
look for the id of a position not yet drafted agree, as far as more than one is written.

## Why it bites
vLLM and SGLang look in the same fields in another order. Where two of them differ, one engine drafts with the token the
drafter was trained with and the other with one it never saw; both load and answer.

## Fix
Write one id, the one the drafter was trained with, in every field.

## Limits
Which of them is the right one cannot be seen. That the id is one of the vocabulary is looked at by mask-token.
"""

from __future__ import annotations

from drafter_lint.checkpoint import Config
from drafter_lint.drafters import BlockDrafter, DraftModel, Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Located, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(engine="vllm", version="0.27.1 to 0.33.0", file="v1/worker/gpu/spec_decode/utils.py",
             symbol="get_parallel_drafting_token_id", how="read",
             note="dflash_config.mask_token_id, mask_token_id, dspark_noise_token_id, pard_token, ptd_token_id"),
    Evidence(engine="sglang", version="0.5.11 to 0.5.23", file="srt/speculative/dflash_utils.py",
             symbol="parse_dflash_draft_config", how="read",
             note="dflash_config.mask_token_id, then mask_token_id; below zero or no integer is refused"),
    Evidence(engine="sglang", version="0.5.23", file="srt/speculative/dspark_components/dspark_config.py",
             symbol="parse_dspark_draft_config", how="read",
             note="dspark_noise_token_id, dspark_config, dflash_config, text_config, mask_token_id"),
)  # fmt: skip
Key = tuple[str, ...]
_NESTED: Key = ("dflash_config", "mask_token_id")
_DSPARK: Key = ("dspark_config", "mask_token_id")
_TOP: Key = ("mask_token_id",)
_NOISE: Key = ("dspark_noise_token_id",)
_OLDER: tuple[Key, ...] = (("pard_token",), ("ptd_token_id",))
#: vLLM's order, in which SGLang's for DFlash is a part, and SGLang's for DSpark.
_ORDERS: tuple[tuple[Key, ...], ...] = (
    (_NESTED, _TOP, _NOISE, *_OLDER),
    (_NOISE, _DSPARK, _NESTED, _TOP, *_OLDER),
)


@rule("DFL324", "mask-tokens-disagree", Outcome.SILENT)
def check(at: Alone[Eagle | BlockDrafter | DraftModel]) -> Checks:
    """The field that decides, in either order."""
    drafter, config = at.drafter, at.drafter.checkpoint.config
    if isinstance(drafter, (Eagle, DraftModel)) and not drafter.parallel:
        return
    deciding = [found for order in _ORDERS if (found := _first(config, order)) is not None]
    if len({found.value for found in deciding}) < 2:
        return
    first, second = deciding
    yield Found(
        message=f"the mask token is {first.value} at {first.at.pointer} and {second.value} at {second.at.pointer}; "
        f"engines differ in which they take",
        locations=(first.at, second.at),
        measured={"first": first.value, "second": second.value},
        evidence=_EVIDENCE,
        fix=Fix("write the id the drafter was trained with, in every field"),
        confidence=Confidence.LIKELY,
    )


def _first(config: Config, order: tuple[Key, ...]) -> Located[int] | None:
    """The first field that holds an integer; one that holds anything else is told by mask-token."""
    return next((value for key in order if (value := config.integer(*key)) is not None), None)
