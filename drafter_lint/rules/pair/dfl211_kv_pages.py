"""Drafter and target keep caches whose pages do not fit into each other.

## What it checks
The values a token keeps in one layer's cache (key heads x head width) in drafter and target: one should be a multiple
of the other.

## Why it bites
vLLM hands out memory in pages of one size. Pages of which one is a multiple of the other share them; others are padded
by newer releases, which wastes memory, and refused by older ones wherever the model mixes kinds of attention. Trainers
that compute `head_dim` from the drafter's width (2560 / 32 = 80) part from a target that states its own (128).

## Fix
None is needed where the server starts. A drafter trained with the target's head width avoids the question.

## Limits
Latent attention and models whose layers differ in their heads are not compared.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Confidence, Evidence, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.heads import head_dim, kv_width
from drafter_lint.scope import Pair

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.18.1",
        file="v1/core/kv_cache_utils.py",
        symbol="unify_kv_cache_spec_page_size",
        how="read",
        note="raises unless the largest page is a multiple of every other; 0.33.0 pads instead (kv_cache_planning.py)",
    ),
)
_LATENT = ("kv_lora_rank", "global_head_dim", "num_global_key_value_heads", "hybrid_override_pattern")


@rule("DFL211", "kv-pages", Outcome.HYGIENE)
def check(at: Pair[Eagle | BlockDrafter]) -> Checks:
    """Neither a multiple of the other, because the heads are of another width."""
    ours, theirs = at.drafter.layer_config, at.target.text
    if at.drafter.attention != "gqa" or any(theirs.has(key) or ours.has(key) for key in _LATENT):
        return
    mine, yours = kv_width(ours), kv_width(theirs)
    head, other = head_dim(ours), head_dim(theirs)
    if not mine or not yours or not head or not other or head.value == other.value:
        return
    if max(mine.value, yours.value) % min(mine.value, yours.value) == 0:
        return
    yield Found(
        message=f"a token keeps {mine.value} key values a layer in the drafter and {yours.value} in the target "
        f"(heads of {head.value} and {other.value}); neither is a multiple of the other",
        locations=(head.at.saying(f"heads of {head.value}"), other.at.saying(f"heads of {other.value}")),
        measured={"drafter": mine.value, "target": yours.value},
        evidence=_EVIDENCE,
        confidence=Confidence.LIKELY,
    )
