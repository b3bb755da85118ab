"""The parameters of SGLang's multi-token-prediction classes, as slots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from drafter_lint.engines.loading import Slot
from drafter_lint.engines.sglang.fields import DEFAULTS, Fields
from drafter_lint.engines.sglang.slots import Shape, attention, feed_forward, linear, norm, table
from drafter_lint.facts import World

#: More experts than any model has are not built.
_MOST = 4096


def sizes(world: World, fields: Fields, *, style: Literal["nextn", "mimo", "qwen"]) -> Shape | None:
    """The numbers a class is built from, None if one is neither written nor a default of a known type."""

    def read(name: str) -> int | None:
        known = fields.has(name) or fields.model_type in DEFAULTS
        return fields.integer(name) if known else None

    keys = ["hidden_size", "num_attention_heads", "vocab_size"]
    found = [read(key) for key in keys]
    moe = style == "nextn" or bool(read("num_experts"))
    inner = read("moe_intermediate_size" if moe else "intermediate_size")
    if inner is None or any(value is None for value in found):
        return None
    hidden, heads, vocab = (value or 0 for value in found)
    kv_heads, head_dim = fields.kv_heads, fields.head_dim
    if not kv_heads or not head_dim:
        return None
    return Shape(
        hidden=hidden,
        inner=inner,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        layers=1,
        vocab=vocab,
        pads=world.flag("linear.pads"),
    )


def _ends(size: Shape) -> Iterator[tuple[str, Slot]]:
    """Embedding and head, which the worker replaces by the target's."""
    yield table("model.embed_tokens.weight", size.vocab, size.hidden)
    yield table("lm_head.weight", size.vocab, size.hidden)


def _experts(prefix: str, size: Shape, count: int, names: Collection[str]) -> Iterator[tuple[str, Slot]]:
    """Routed experts: one tensor each, or all of them in two."""
    gate_up, down = f"{prefix}experts.w13_weight", f"{prefix}experts.w2_weight"
    if any(name.endswith("experts.gate_up_proj") for name in names):
        yield (
            f"{prefix}experts.gate_up_proj",
            Slot(parameter=gate_up, shape=(count, 2 * size.inner, size.hidden)),
        )
        yield f"{prefix}experts.down_proj", Slot(parameter=down, shape=(count, size.hidden, size.inner))
        return
    for index in range(min(count, _MOST)):
        at = f"{prefix}experts.{index}."
        for part in ("gate_proj", "up_proj"):
            yield f"{at}{part}.weight", Slot(parameter=gate_up, shape=(size.inner, size.hidden), fit="rows")
        yield f"{at}down_proj.weight", Slot(parameter=down, shape=(size.hidden, size.inner), fit="columns")


def _shared(prefix: str, size: Shape, inner: int) -> Iterator[tuple[str, Slot]]:
    fused = f"{prefix}gate_up_proj.weight"
    for part in ("gate_proj", "up_proj"):
        yield f"{prefix}{part}.weight", Slot(parameter=fused, shape=(inner, size.hidden), fit="rows", pads=size.pads)
    down = f"{prefix}down_proj.weight"
    yield down, Slot(parameter=down, shape=(size.hidden, inner), fit="columns", pads=size.pads)


def nextn(fields: Fields, size: Shape, names: Collection[str], *, latent: bool) -> Mapping[str, Slot]:
    """DeepSeek's prediction layer, and GLM-4's: eh_proj in front of a decoder layer with experts."""
    layer = "model.decoder."
    found = dict(_ends(size))
    found.update(norm(f"model.{name}.weight", size.hidden) for name in ("enorm", "hnorm", "shared_head.norm"))
    found.update(linear("model.eh_proj", (size.hidden, 2 * size.hidden), bias=False))
    found.update(norm(f"{layer}{name}.weight", size.hidden) for name in ("input_layernorm", "post_attention_layernorm"))
    if latent:
        found.update(_latent(fields, size, f"{layer}self_attn."))
    else:
        bias = fields.true("attention_bias")
        found.update(attention(layer, size, takes=size.hidden, qkv_bias=bias, out_bias=False))
        if fields.true("use_qk_norm"):
            found.update(norm(f"{layer}self_attn.{part}_norm.weight", size.head_dim) for part in "qk")
    experts = fields.integer("n_routed_experts") or 0
    found.update(_experts(f"{layer}mlp.", size, experts, names))
    gate = f"{layer}mlp.gate.weight"
    found[gate] = Slot(parameter=gate, shape=(experts, size.hidden))
    bias_name = f"{layer}mlp.gate.e_score_correction_bias"
    if fields.get("topk_method") == "noaux_tc" or any(name.endswith("e_score_correction_bias") for name in names):
        found[bias_name] = Slot(parameter=bias_name, shape=(experts,))
    shared = fields.integer("n_shared_experts") or 0
    if shared:
        found.update(_shared(f"{layer}mlp.shared_experts.", size, shared * size.inner))
    return found


def _latent(fields: Fields, size: Shape, prefix: str) -> Iterator[tuple[str, Slot]]:
    """Multi-head latent attention; with ``q_lora_rank`` the two ways down are one parameter."""
    rank, kv_rank = fields.integer("q_lora_rank"), fields.integer("kv_lora_rank") or 0
    rope, nope = fields.integer("qk_rope_head_dim") or 0, fields.integer("qk_nope_head_dim") or 0
    value = fields.integer("v_head_dim") or 0
    down = f"{prefix}kv_a_proj_with_mqa.weight"
    if rank:
        fused = f"{prefix}fused_qkv_a_proj_with_mqa.weight"
        yield f"{prefix}q_a_proj.weight", Slot(parameter=fused, shape=(rank, size.hidden))
        yield down, Slot(parameter=fused, shape=(kv_rank + rope, size.hidden))
        yield norm(f"{prefix}q_a_layernorm.weight", rank)
        query, takes = f"{prefix}q_b_proj.weight", rank
    else:
        yield down, Slot(parameter=down, shape=(kv_rank + rope, size.hidden))
        query, takes = f"{prefix}q_proj.weight", size.hidden
    yield norm(f"{prefix}kv_a_layernorm.weight", kv_rank)
    yield query, Slot(parameter=query, shape=(size.heads * (nope + rope), takes), fit="rows")
    up = f"{prefix}kv_b_proj.weight"
    yield up, Slot(parameter=up, shape=(size.heads * (nope + value), kv_rank), fit="rows")
    out = f"{prefix}o_proj.weight"
    yield out, Slot(parameter=out, shape=(size.hidden, size.heads * value), fit="columns", pads=size.pads)


def mimo(size: Shape) -> Mapping[str, Slot]:
    """MiMoMTP: input_proj in front of one Qwen2 layer."""
    layer = "model.mtp_block."
    found = dict(_ends(size))
    found.update(
        norm(f"model.{name}.weight", size.hidden) for name in ("token_layernorm", "hidden_layernorm", "final_layernorm")
    )
    found.update(linear("model.input_proj", (size.hidden, 2 * size.hidden), bias=False))
    found.update(attention(layer, size, takes=size.hidden, qkv_bias=True, out_bias=False))
    found.update(feed_forward(layer, size))
    found.update(norm(f"{layer}{name}.weight", size.hidden) for name in ("input_layernorm", "post_attention_layernorm"))
    return found


def qwen(fields: Fields, size: Shape, names: Collection[str], *, plain: bool) -> Mapping[str, Slot]:
    """Qwen3-Next, Qwen3.5 and (``plain``) Qwen3-MoE: fc over two norms, one full-attention layer, a norm."""
    layer = "model.layers.0."
    found = dict(_ends(size))
    if fields.true("tie_word_embeddings") and not plain:
        found.pop("lm_head.weight")
    found.update(norm(f"pre_fc_norm_{name}.weight", size.hidden) for name in ("embedding", "hidden"))
    found.update(linear("fc", (size.hidden, 2 * size.hidden), bias=False))
    found.update([norm("model.norm.weight", size.hidden)])
    gated = not plain and fields.get("attn_output_gate") is not False
    rows = {"q": (1 + gated) * size.heads, "k": size.kv_heads, "v": size.kv_heads}
    at = f"{layer}self_attn." if plain else layer
    for part, heads in rows.items():
        shape = (heads * size.head_dim, size.hidden)
        found[f"{at}{part}_proj.weight"] = Slot(parameter=f"{at}qkv_proj.weight", shape=shape, fit="rows")
    out = f"{at}o_proj.weight"
    columns = size.heads * size.head_dim
    found[out] = Slot(parameter=out, shape=(size.hidden, columns), fit="columns", pads=size.pads)
    found.update(norm(f"{at}{part}_norm.weight", size.head_dim) for part in "qk")
    found.update(norm(f"{layer}{name}.weight", size.hidden) for name in ("input_layernorm", "post_attention_layernorm"))
    experts = fields.integer("num_experts") or 0
    if not experts:
        found.update(feed_forward(layer, size))
        return found
    found.update(_experts(f"{layer}mlp.", size, experts, names))
    gate = f"{layer}mlp.gate.weight"
    found[gate] = Slot(parameter=gate, shape=(experts, size.hidden))
    shared = fields.integer("shared_expert_intermediate_size") or 0
    if shared and not plain:
        found.update(_shared(f"{layer}mlp.shared_expert.", size, shared))
        one = f"{layer}mlp.shared_expert_gate.weight"
        found[one] = Slot(parameter=one, shape=(1, size.hidden))
    return found
