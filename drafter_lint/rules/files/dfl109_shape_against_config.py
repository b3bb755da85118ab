"""Tensors whose shapes do not follow from the config beside them.

## What it checks
The attention, MLP and norm shapes of every layer against `hidden_size`, the head counts, `head_dim` and
`intermediate_size`.

## Why it bites
Engines build their parameters from the config. A tensor of another shape is refused, or, where a loader takes only the
columns it expects, cut without a word.

## Fix
Correct the number in the config; the tensor shows which one it should be.

## Limits
Quantised weights, whose shapes are packed, and latent attention are not compared. What becomes of a misfit depends on
the engine and is told by the rules that follow its plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.drafters.layout import Layout
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed
from drafter_lint.scope import Alone


@rule("DFL109", "shape-against-config", Outcome.HYGIENE)
def check(at: Alone[Eagle | BlockDrafter]) -> Checks:
    """Shapes computed from the config against the shapes in the file."""
    drafter = at.drafter
    misfits = [
        (name, tensor, expected, formula)
        for layer in range(drafter.layers_in_file)
        for part, expected, formula in _expected(drafter, layer)
        if (tensor := drafter.canonical.get(name := f"layers.{layer}.{part}.weight"))
        and tensor.dtype in ("F32", "F16", "BF16")
        and len(tensor.shape) == len(expected)
        and tensor.shape != expected
    ]
    if not misfits:
        return
    _, first, expected, formula = misfits[0]
    others = listed([tensor.name for _, tensor, _, _ in misfits[1:]])
    yield Found(
        message=f"{first.shown}; the config makes it {list(expected)} ({formula})"
        + (f"; {len(misfits) - 1} more do not follow from it: {others}" if others else ""),
        locations=tuple(
            drafter.tensor_at(name, f"the config makes it {list(shape)}") for name, _, shape, _ in misfits[:5]
        ),
        measured={"tensors": len(misfits), "shape": list(first.shape), "expected": list(expected)},
        fix=Fix("correct the config: the tensors were trained in the shape they have"),
    )


def _expected(drafter: Eagle | BlockDrafter, layer: int) -> Iterator[tuple[str, tuple[int, ...], str]]:
    """Part, shape and how it follows, for everything the config determines."""
    hidden = drafter.hidden_size.value if drafter.hidden_size else None
    if not hidden or hidden < 1:
        return
    yield "post_attention_layernorm", (hidden,), "hidden_size"
    config = drafter.layer_config
    inner = config.integer("intermediate_size")
    if inner:
        yield "mlp.gate_proj", (inner.value, hidden), "intermediate_size x hidden_size"
        yield "mlp.up_proj", (inner.value, hidden), "intermediate_size x hidden_size"
        yield "mlp.down_proj", (hidden, inner.value), "hidden_size x intermediate_size"
    heads = config.integer("num_attention_heads")
    if drafter.attention != "gqa" or heads is None or heads.value < 1 or drafter.layout is Layout.DFLASH_LAGUNA:
        return
    if config.has("global_head_dim") or config.has("num_global_key_value_heads"):
        return  # Gemma-4: layers of full attention have heads of another width than the others
    pairs = config.integer("num_key_value_heads") or heads
    declared = config.integer("head_dim")
    width = declared.value if declared else hidden // heads.value
    joined = isinstance(drafter, Eagle) and drafter.generation == 3 and layer == 0
    takes = 2 * hidden if joined else hidden
    of = "head_dim" if declared else "hidden_size / num_attention_heads"
    yield "self_attn.q_proj", (heads.value * width, takes), f"num_attention_heads {heads.value} x {of} {width}"
    yield "self_attn.k_proj", (pairs.value * width, takes), f"num_key_value_heads {pairs.value} x {of} {width}"
    yield "self_attn.v_proj", (pairs.value * width, takes), f"num_key_value_heads {pairs.value} x {of} {width}"
    yield "self_attn.o_proj", (hidden, heads.value * width), f"num_attention_heads {heads.value} x {of} {width}"
