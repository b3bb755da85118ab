"""Attention heads of a width no attention kernel takes.

## What it checks
`head_dim`, or `hidden_size` / `num_attention_heads` where it is not written: it must be even, for rotary positions turn
pairs of values, and attention kernels want a multiple of 8.

## Why it bites
The usual cause is a number of heads that does not divide the width: 2048 / 20 gives 102.4, and configs have been
written with 102. FlashAttention and FlashInfer refuse such heads; engines then fall back to a slower kernel, or stop.

## Fix
Train with a number of heads that divides the width into a usual size (64, 80, 96, 128, 256).

## Limits
Latent attention has several widths and is not looked at. Which kernel an engine chooses depends on the machine.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.heads import head_dim
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.33.0",
        file="v1/attention/backends/flash_attn.py",
        symbol="FlashAttentionBackend.supports_head_size",
        how="read",
        note="multiples of 8 only; v1/attention/backends/flashinfer.py takes 64, 128, 256 and 512",
    ),
)


@rule("DFL116", "head-dim", Outcome.SLOW)
def check(at: Alone[Eagle | BlockDrafter]) -> Checks:
    """Odd, or no multiple of 8."""
    drafter = at.drafter
    width = head_dim(drafter.layer_config) if drafter.attention == "gqa" else None
    if width is None or width.value % 8 == 0:
        return
    odd = width.value % 2 == 1
    yield Found(
        message=f"attention heads are {width.value} wide; {'rotary positions need an even number' if odd else _WANTED}",
        locations=(width.at.saying(f"heads of {width.value}"),),
        measured={"head_dim": width.value},
        evidence=_EVIDENCE,
        fix=Fix("use a drafter whose heads have a usual width"),
        outcome=Outcome.REFUSES if odd else None,
        confidence=Confidence.LIKELY,
    )


_WANTED = "attention kernels take multiples of 8"
