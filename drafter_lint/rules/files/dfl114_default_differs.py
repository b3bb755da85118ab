"""A field is absent that its writer and its reader fill with different values.

## What it checks
Fields of the speculators layouts which the library writes with one default and vLLM reads with another:
`norm_before_residual`, `sample_from_anchor`, `sliding_window_non_causal`, and the `model_type` of the layer.

## Why it bites
The library always writes these fields, so a file without one was trimmed, written by hand, or made by an older release.
The drafter was most likely trained with the library's default; it is then run with the other: the residual is taken at
another place, every draft token comes one position late, the attention is masked otherwise. Nothing is logged.

## Fix
Write the field, with the value the drafter was trained with.

## Limits
Only absence is seen here: which value is right stands nowhere in the file, so no fix is made by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.drafters import BlockDrafter, Drafter, Eagle, Layout
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_FILE = "transformers_utils/configs/speculators/algos.py"


@rule("DFL114", "default-differs", Outcome.HYGIENE)
def check(at: Alone[Eagle | BlockDrafter]) -> Checks:
    """Absent fields with two defaults."""
    drafter = at.drafter
    for field, written, read, symbol in _absent(drafter):
        yield Found(
            message=f"{field} is not written; its trainer's default is {written}, vLLM reads {read}",
            locations=(_place(drafter, field),),
            measured={"field": field, "writer": written, "reader": read},
            evidence=(Evidence(engine="vllm", version="0.33.0", file=_FILE, symbol=symbol, how="read"),),
            fix=Fix(f"write {field} with the value the drafter was trained with"),
            confidence=Confidence.LIKELY,
        )


def _place(drafter: Drafter, field: str) -> Location:
    return drafter.checkpoint.config.at(*field.split("."), label="not written")


def _absent(drafter: Eagle | BlockDrafter) -> Iterator[tuple[str, str, str, str]]:
    """Field, what the library would have written, what vLLM takes for it, where."""
    config, layer = drafter.checkpoint.config, drafter.layer_config
    if not config.has("speculators_model_type"):
        return
    if isinstance(drafter, Eagle):
        if drafter.generation == 3 and not drafter.parallel and not config.has("norm_before_residual"):
            yield "norm_before_residual", "false", "true", "update_eagle3"
    elif drafter.layout is Layout.DSPARK_SPECULATORS and not config.has("sample_from_anchor"):
        yield "sample_from_anchor", "true", "false", "update_dspark"
    slides = layer.strings("layer_types")
    if (
        drafter.layout is Layout.DFLASH_SPECULATORS
        and slides is not None
        and "sliding_attention" in slides.value
        and not config.has("sliding_window_non_causal")
    ):
        yield "sliding_window_non_causal", "false", "true", "update_dflash"
    normed = any(name.endswith(".self_attn.q_norm.weight") for name in drafter.canonical)
    if isinstance(drafter, Eagle) and normed and layer.base and not layer.has("model_type"):
        yield "transformer_layer_config.model_type", "qwen3 (from release 0.7)", "llama", "update_eagle3"
