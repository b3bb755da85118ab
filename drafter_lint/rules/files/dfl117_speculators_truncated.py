"""A config of the speculators library without the field that says so.

## What it checks
A nested `transformer_layer_config` without `speculators_model_type` beside it.

## Why it bites
The field is what makes an engine read the layout. Without it the file is taken for an ordinary config, which has no
width, no heads and no vocabulary at the top level: the draft model cannot be built, or is built from defaults.

## Fix
Take config.json from the export again, or write the field: `eagle3`, `peagle`, `dflash`, `dspark`, `mtp`.

## Limits
Which value is meant is not made up from the tensors.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.33.0",
        file="transformers_utils/configs/speculators/base.py",
        symbol="SpeculatorsConfig.extract_transformers_pre_trained_config",
        how="read",
        note="looks the type up before it reads the nested config",
    ),
)


@rule("DFL117", "speculators-truncated", Outcome.REFUSES)
def check(at: Alone[Drafter]) -> Checks:
    """The nested config without its type."""
    if at.drafter.layout.family == "none":
        return
    config = at.drafter.checkpoint.config
    nested = config.object("transformer_layer_config")
    if nested is None or config.string("speculators_model_type") or config.has("hidden_size"):
        return
    yield Found(
        message="transformer_layer_config is there and speculators_model_type is not: no engine reads the layer",
        locations=(config.at("transformer_layer_config", label="read only beside speculators_model_type"),),
        measured={"field": "speculators_model_type"},
        evidence=_EVIDENCE,
        fix=Fix("take the config of the export again, with speculators_model_type"),
        confidence=Confidence.LIKELY,
    )
