"""How many weights one token reads on its way through a language model, by the numbers of its configuration."""

from __future__ import annotations

from drafter_lint.checkpoint import Config

_EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
_PASSED = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "experts_per_token")
_SHARED = ("n_shared_experts", "num_shared_experts")


def weights_read(config: Config) -> int | None:
    """Layers and head; None if the configuration lacks a number. Norms and biases are not worth counting."""
    hidden, layers, vocabulary = (_number(config, key) for key in ("hidden_size", "num_hidden_layers", "vocab_size"))
    attention, passed = _attention(config, hidden), _feed_forward(config, hidden)
    if not layers or not vocabulary or attention is None or passed is None:
        return None
    dense, sparse = passed
    plain = min(_number(config, "first_k_dense_replace"), layers) if sparse else layers
    return layers * attention + plain * dense + (layers - plain) * sparse + vocabulary * hidden


def _number(config: Config, *keys: str) -> int:
    """The first of some keys that holds a positive integer, 0 if none does."""
    found = (config.integer(key) for key in keys)
    return next((value.value for value in found if value and value.value > 0), 0)


def _attention(config: Config, hidden: int) -> int | None:
    heads = _number(config, "num_attention_heads")
    if not heads or not hidden:
        return None
    latent = _number(config, "kv_lora_rank")
    if latent:
        return _latent(config, hidden, heads, latent)
    width = _number(config, "head_dim") or hidden // heads
    groups = _number(config, "num_key_value_heads") or heads
    return 2 * hidden * heads * width + 2 * hidden * groups * width


def _latent(config: Config, hidden: int, heads: int, latent: int) -> int | None:
    rope, nope, value = (_number(config, key) for key in ("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim"))
    if not rope or not nope or not value:
        return None
    rank = _number(config, "q_lora_rank")
    query = (hidden + heads * (nope + rope)) * rank if rank else hidden * heads * (nope + rope)
    return query + hidden * (latent + rope) + latent * heads * (nope + value) + heads * value * hidden


def _feed_forward(config: Config, hidden: int) -> tuple[int, int] | None:
    """Weights of a dense layer, and those a token passes in a layer with experts (0 without any)."""
    inner = _number(config, "intermediate_size")
    if not _number(config, *_EXPERTS):
        return (3 * hidden * inner, 0) if inner else None
    passed = _number(config, *_PASSED)
    width = _number(config, "moe_intermediate_size", "intermediate_size")
    if not passed or not width:
        return None
    shared = _number(config, *_SHARED) * width + _number(config, "shared_expert_intermediate_size")
    return 3 * hidden * inner, 3 * hidden * (passed * width + shared)
