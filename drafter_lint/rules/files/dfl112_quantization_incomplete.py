"""Quantised weights without the scales that give them their size.

## What it checks
That every weight stored in a narrow type (8-bit float or integer, packed 4-bit) has a scale beside it, under any of the
names in use: `weight_scale`, `weight_scale_inv`, `scales`, `scale`.

## Why it bites
A quantised number means nothing without its scale. Engines fill a scale that is missing with one, or leave what memory
held, and the layer's output is off by orders of magnitude; others stop. Scales get lost when an export keeps only
tensors called `weight`.

## Fix
Export again with the scales.

## Limits
Scales of activations are optional and not asked for. Whether an engine knows the scheme is another matter.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed
from drafter_lint.scope import Alone

_NARROW = ("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F4", "I8", "U8")
#: ModelOpt and compressed-tensors, DeepSeek, MX formats, Mistral, bitsandbytes.
_SCALES = (
    "weight_scale", "weight_scale_2", "weight_scale_inv", "scale", "scales", "scale_inv", "qscale_weight",
    "weight.absmax", "SCB",
)  # fmt: skip
#: How a weight is called in each scheme, the types that need a scale (any, if none is named), and its scale's names:
#: the weight itself; compressed-tensors; GPTQ and AWQ.
_SCHEMES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (".weight", _NARROW, _SCALES),
    (".weight_packed", (), ("weight_scale",)),
    (".qweight", (), ("scales",)),
)


@rule("DFL112", "quantization-incomplete", Outcome.SILENT)
def check(at: Alone[Drafter]) -> Checks:
    """Narrow weights without a scale under any known name."""
    drafter = at.drafter
    names = drafter.canonical.keys()
    bare = [
        name
        for name, tensor in drafter.canonical.items()
        for ending, dtypes, scales in _SCHEMES
        if name.endswith(ending)
        and (not dtypes or (tensor.dtype in dtypes and len(tensor.shape) > 1))
        and not any(f"{name.removesuffix(ending)}.{scale}" in names for scale in scales)
    ]
    if not bare or drafter.checkpoint.tensors.missing_files:
        return
    tensor = drafter.canonical[bare[0]]
    yield Found(
        message=f"{len(bare)} quantised weight{'s have' if len(bare) > 1 else ' has'} no scale: {listed(sorted(bare))}",
        locations=tuple(drafter.tensor_at(name, f"{drafter.canonical[name].dtype}, no scale") for name in bare[:3]),
        measured={"weights": len(bare), "dtype": tensor.dtype},
        fix=Fix("export the weights again, with their scales"),
        confidence=Confidence.LIKELY,
    )
