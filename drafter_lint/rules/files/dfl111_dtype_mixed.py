"""Weights of one drafter in several floating-point types.

## What it checks
The dtypes of the linear weights.

## Why it bites
Engines convert everything to one type, so nothing breaks. A mixture shows that parts come from different exports, and
the conversion of a float16 weight to bfloat16 costs precision nobody asked for.

## Fix
Export all weights in the type the drafter is to be served in.

## Limits
Norms and one-dimensional tensors are not counted, nor are quantised drafters, where mixtures are the rule.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_FLOATS = ("F32", "F16", "BF16")


@rule("DFL111", "dtype-mixed", Outcome.HYGIENE)
def check(at: Alone[Eagle | BlockDrafter]) -> Checks:
    """More than one float type among the matrices."""
    drafter = at.drafter
    matrices = {name: tensor for name, tensor in drafter.canonical.items() if len(tensor.shape) == 2}
    kinds: dict[str, list[str]] = {}
    for name, tensor in sorted(matrices.items()):
        kinds.setdefault(tensor.dtype, []).append(name)
    if len(kinds) < 2 or set(kinds) - set(_FLOATS):
        return
    counts = {dtype: len(names) for dtype, names in kinds.items()}
    shown = ", ".join(f"{count} {dtype}" for dtype, count in counts.items())
    yield Found(
        message=f"the {len(matrices)} matrices of the drafter have {len(kinds)} dtypes: {shown}",
        locations=tuple(drafter.tensor_at(names[0], dtype) for dtype, names in kinds.items()),
        measured=dict(counts),
        fix=Fix("export every weight in one dtype"),
    )
