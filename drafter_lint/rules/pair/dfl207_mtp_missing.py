"""Prediction layers that are announced and not there.

## What it checks
The number of multi-token-prediction layers the config announces (`num_nextn_predict_layers` and its kin) against those
that have tensors, in the index and in the shards.

## Why it bites
Quantised and converted copies of a model often drop the prediction layers and keep the number. An engine told to draft
with them builds them all the same and runs them on whatever memory held, or stops while loading.

## Fix
Take the original checkpoint, or one whose card says that the prediction layers are kept; or draft by another method.

## Limits
A model with announced layers missing is sound in itself: it serves without drafting.
"""

from __future__ import annotations

from drafter_lint.checkpoint.text import announced_mtp
from drafter_lint.drafters import Drafter, DraftModel, Layout, Mtp
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

#: Layouts in which a layer's number stands in its name.
_COUNTED = (
    Layout.MTP_DEEPSEEK, Layout.MTP_NEXTN, Layout.MTP_DEEPSEEK_V4, Layout.MTP_QWEN, Layout.MTP_LAYERS,
    Layout.MTP_MIMO, Layout.MTP_ERNIE, Layout.MTP_SPECULATORS,
)  # fmt: skip


@rule("DFL207", "mtp-missing", Outcome.SILENT)
def check(at: Alone[Drafter]) -> Checks:
    """Announced against present."""
    drafter = at.drafter
    whole = isinstance(drafter, DraftModel) or drafter.layout is Layout.NOT_A_DRAFTER
    if not drafter.canonical or not (whole or isinstance(drafter, Mtp)):
        return
    announced = announced_mtp(drafter.checkpoint.config)
    if announced is None or announced.value < 1:
        return
    if drafter.checkpoint.tensors.missing_files:
        return  # the shards that are not there are told of already
    if isinstance(drafter, Mtp) and (drafter.layout not in _COUNTED or drafter.layers_in_file >= announced.value):
        return
    found = drafter.layers_in_file if isinstance(drafter, Mtp) else 0
    layers = f"{announced.value} prediction layer{'s' if announced.value > 1 else ''}"
    yield Found(
        message=f"the config announces {layers}; the files have {found or 'none'}",
        locations=(announced.at.saying(f"{announced.value} announced"), drafter.tensor_at("eh_proj.weight", "missing")),
        measured={"announced": announced.value, "found": found},
        fix=Fix("take a checkpoint that keeps its prediction layers, or draft by another method"),
        confidence=Confidence.LIKELY,
    )
