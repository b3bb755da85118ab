"""The width of attention heads as configs state it: what the rules on heads of drafter and target must agree on."""

from __future__ import annotations

from drafter_lint.checkpoint import Config
from drafter_lint.findings import Located


def head_dim(config: Config) -> Located[int] | None:
    """``head_dim``, else ``hidden_size`` over ``num_attention_heads``; None if it cannot be told."""
    declared, hidden, heads = (config.integer(key) for key in ("head_dim", "hidden_size", "num_attention_heads"))
    if declared and declared.value > 0:
        return declared
    if not hidden or not heads or heads.value < 1 or hidden.value < heads.value:
        return None
    return Located(hidden.value // heads.value, heads.at)


def kv_width(config: Config) -> Located[int] | None:
    """Values a token keeps in a layer's key cache: key heads times their width; None if it cannot be told."""
    width, heads = head_dim(config), config.integer("num_key_value_heads") or config.integer("num_attention_heads")
    return Located(heads.value * width.value, width.at) if width and heads and heads.value > 0 else None
