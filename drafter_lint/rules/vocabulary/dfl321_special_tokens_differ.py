"""Drafter and target name different special tokens.

## What it checks
Where the drafter ships a `generation_config.json` or a tokenizer's configuration: that at least one id by which it
ends an answer also ends the target's, and that both begin a text with the same token.

## Why it bites
Engines take these ids from the target only, so nothing breaks. The drafter was trained to end and begin texts
elsewhere, though: around those places its drafts are refused, and the rest of it may belong to another model as well.

## Fix
Ship the target's files, or none.

## Limits
`config.json` of a drafting head is not looked at: its ids are the defaults of a class more often than anybody's
choice. Different padding tokens are reported as a possibility: no engine pads while it drafts.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint.tokenizer import Part, SpecialIds
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Located, Outcome
from drafter_lint.rule import Checks, cut_short, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.vocabulary.tokens import reads_target_ids
from drafter_lint.scope import Pair

_EVIDENCE = (
    Evidence(engine="sglang", version="0.5.23", file="srt/configs/model_config.py",
             symbol="ModelConfig._get_hf_eos_token_id", how="read",
             note="config.json and generation_config.json of the target; requests carry these ids"),
    Evidence(engine="vllm", version="0.33.0", file="sampling_params.py",
             symbol="SamplingParams.update_from_generation_config", how="read",
             note="generation_config.json of the target, beside its tokenizer's own token"),
)  # fmt: skip
PARTS: tuple[Part, ...] = ("eos", "bos", "pad")
_WORDS = {"eos": "ends an answer", "bos": "begins a text", "pad": "pads"}


@rule("DFL321", "special-tokens-differ", Outcome.HYGIENE)
def check(at: Pair[Drafter]) -> Checks:
    """The ids of either side, token by token."""
    if self_drafting(at) or not at.drafter.method:
        return
    try:
        yield from _apart(at)
    except Unavailable as trouble:
        yield cut_short(trouble)


def _apart(at: Pair[Drafter]) -> Iterator[Found]:
    for part in PARTS:
        ours = _declared(at, at.drafter.checkpoint.tokenizer.special(part))
        if not ours:
            continue
        theirs = at.target.checkpoint.tokenizer.special(part).everywhere
        if not theirs or {item.value for item in ours} & {item.value for item in theirs}:
            continue
        yield Found(
            message=f"the drafter {_WORDS[part]} with id {_ids(ours)} and the target with {_ids(theirs)}",
            locations=(ours[0].at.saying("the drafter's"), theirs[0].at.saying("the target's")),
            measured={"token": part, "drafter": [i.value for i in ours], "target": [i.value for i in theirs]},
            evidence=_EVIDENCE,
            fix=Fix("ship the target's generation_config.json and tokenizer files, or none"),
            confidence=Confidence.POSSIBLE if part == "pad" else Confidence.LIKELY,
        )


def _declared(at: Pair[Drafter], found: SpecialIds) -> tuple[Located[int], ...]:
    """The drafter's own ids; of a head's config.json none."""
    if not reads_target_ids(at.drafter):
        return found.everywhere
    named = (Located(found.named, found.name.at),) if found.named is not None and found.name else ()
    return (*found.generation, *named)


def _ids(found: tuple[Located[int], ...]) -> str:
    return " or ".join(str(value) for value in dict.fromkeys(item.value for item in found))
