"""The parameters of vLLM's prediction modules (method mtp), by the names tensors are looked up under."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from drafter_lint.engines.loading import Fit, Slot
from drafter_lint.engines.vllm import slots as tables

Family = Literal["deepseek", "glm", "mimo", "qwen", "ernie"]
#: Registry modules whose classes are followed tensor by tensor.
FAMILIES: Mapping[str, Family] = {
    "deepseek_mtp": "deepseek",
    "glm4_moe_mtp": "glm",
    "mimo_mtp": "mimo",
    "qwen3_next_mtp": "qwen",
    "qwen3_5_mtp": "qwen",
    "ernie_mtp": "ernie",
}
#: Numbers a class cannot be built without.
NEEDED: Mapping[Family, tuple[str, ...]] = {
    "deepseek": (
        "hidden_size",
        "num_attention_heads",
        "vocab_size",
        "kv_lora_rank",
        "qk_nope_head_dim",
        "qk_rope_head_dim",
        "v_head_dim",
    ),
    "glm": ("hidden_size", "num_attention_heads", "vocab_size"),
    "mimo": ("hidden_size", "num_attention_heads", "vocab_size", "intermediate_size"),
    "qwen": ("hidden_size", "num_attention_heads", "vocab_size"),
    "ernie": ("hidden_size", "num_attention_heads", "vocab_size", "intermediate_size"),
}
#: A config may claim any number of experts or layers; more than any model has are not listed.
_MOST_EXPERTS, _MOST_LAYERS = 1024, 16
_QWEN_NORMS = ("pre_fc_norm_hidden", "pre_fc_norm_embedding", "norm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a module is built from.

    Attributes:
        numbers: integers of the config, with those that stand in for missing ones.
        flags: its switches (attention_bias, use_qk_norm …).
        first: the index of the first prediction layer: how many decoder layers the target has.
        count: prediction layers built.
        fused_experts: True if the file keeps the experts of a layer in one tensor.
    """

    numbers: Mapping[str, int]
    flags: Mapping[str, bool] = field(default_factory=dict)
    first: int
    count: int
    fused_experts: bool = False


def build(family: Family, sizes: Sizes) -> dict[str, Slot]:
    """Every parameter of the module."""
    return _BUILDERS[family](sizes)


def plain(parameter: str) -> bool:
    """True for norms and ``nn.Linear`` projections: the only ones loaders since 0.21.0 ask after."""
    return "norm" in parameter or any(part in parameter for part in ("eh_proj", "input_proj", "mtp_linear_proj"))


def layers_of(family: Family, sizes: Sizes) -> tuple[str, ...]:
    """The front of the names of each prediction layer, in the file."""
    indices = range(min(sizes.count, _MOST_LAYERS))
    if family in {"deepseek", "glm"}:
        return tuple(f"model.layers.{sizes.first + index}." for index in indices)
    if family == "mimo":
        return tuple(f"model.mtp_layers.{index}." for index in indices)
    return tuple(f"mtp.layers.{index}." for index in indices) if family == "qwen" else ("model.mtp_block.0.",)


def _norm(name: str, width: int) -> tuple[str, Slot]:
    return tables.one(name, (width,), holds="ones")


def _shared(numbers: Mapping[str, int], names: tuple[str, ...]) -> dict[str, Slot]:
    shape = (numbers["vocab_size"], numbers["hidden_size"])
    return dict(tables.one(name, shape, fit="rows") for name in names)


def _behind(sizes: Sizes, block: Callable[[Sizes, str, int], dict[str, Slot]]) -> dict[str, Slot]:
    """DeepSeek's layout: layers numbered behind the target's, each with its norms, projection and head."""
    hidden = sizes.numbers["hidden_size"]
    slots = _shared(sizes.numbers, ("model.embed_tokens.weight",))
    for index in range(sizes.first, sizes.first + min(sizes.count, _MOST_LAYERS)):
        front = f"model.layers.{index}."
        slots |= dict(_norm(f"{front}{name}.weight", hidden) for name in ("enorm", "hnorm", "shared_head.norm"))
        slots |= dict((tables.one(f"{front}eh_proj.weight", (hidden, 2 * hidden)),))
        slots |= _shared(sizes.numbers, (f"{front}shared_head.head.weight",))
        slots |= block(sizes, f"{front}mtp_block.", index)
    return slots


def _deepseek(sizes: Sizes) -> dict[str, Slot]:
    return _behind(sizes, _deepseek_block)


def _deepseek_block(sizes: Sizes, front: str, index: int) -> dict[str, Slot]:
    slots = tables.latent_attention(sizes.numbers, front)
    slots |= _norms(sizes, front)
    every = sizes.numbers.get("moe_layer_freq", 1) or 1
    sparse = index >= sizes.numbers.get("first_k_dense_replace", 0) and index % every == 0
    return slots | (_experts if sparse and sizes.numbers.get("n_routed_experts") else _dense)(sizes, front)


def _glm(sizes: Sizes) -> dict[str, Slot]:
    return _behind(sizes, _glm_block)


def _glm_block(sizes: Sizes, front: str, index: int) -> dict[str, Slot]:
    slots = _attention(sizes, front, normed=sizes.flags["use_qk_norm"], biased=sizes.flags["attention_bias"])
    slots |= _norms(sizes, front)
    sparse = index >= sizes.numbers.get("first_k_dense_replace", 0)
    return slots | (_experts if sparse and sizes.numbers.get("n_routed_experts") else _dense)(sizes, front)


def _mimo(sizes: Sizes) -> dict[str, Slot]:
    hidden = sizes.numbers["hidden_size"]
    slots = _shared(sizes.numbers, ("model.embed_tokens.weight", "lm_head.weight"))
    for index in range(sizes.first, sizes.first + min(sizes.count, _MOST_LAYERS)):
        front = f"model.mtp_layers.{index}."
        norms = ("token_layernorm", "hidden_layernorm", "final_layernorm")
        slots |= dict(_norm(f"{front}{name}.weight", hidden) for name in norms)
        slots |= dict((tables.one(f"{front}input_proj.weight", (hidden, 2 * hidden)),))
        block = f"{front}mtp_block."
        slots |= _attention(sizes, block, biased=True) | _norms(sizes, block) | _dense(sizes, block)
    return slots


def _qwen(sizes: Sizes) -> dict[str, Slot]:
    hidden = sizes.numbers["hidden_size"]
    slots = _shared(sizes.numbers, ("model.embed_tokens.weight", "lm_head.weight"))
    slots |= dict(_norm(f"model.{name}.weight", hidden) for name in _QWEN_NORMS)
    slots |= dict((tables.one("model.fc.weight", (hidden, 2 * hidden), fit="rows"),))
    for index in range(min(sizes.count, _MOST_LAYERS)):
        front = f"model.layers.{index}."
        slots |= _attention(
            sizes, front, normed=True, biased=sizes.flags["qkv_bias"], gated=sizes.flags["attn_output_gate"]
        )
        slots |= _norms(sizes, front)
        slots |= _qwen_experts(sizes, front) if sizes.numbers.get("num_experts") else _dense(sizes, front)
    return slots


def _qwen_experts(sizes: Sizes, front: str) -> dict[str, Slot]:
    numbers, hidden = sizes.numbers, sizes.numbers["hidden_size"]
    slots = dict((tables.one(f"{front}mlp.gate.weight", (numbers["num_experts"], hidden)),))
    slots |= dict((tables.one(f"{front}mlp.shared_expert_gate.weight", (1, hidden)),))
    slots |= _mlp(f"{front}mlp.shared_expert.", hidden, numbers.get("shared_expert_intermediate_size", 0))
    return slots | _routed(sizes, front, count=numbers["num_experts"])


def _ernie(sizes: Sizes) -> dict[str, Slot]:
    hidden = sizes.numbers["hidden_size"]
    front = f"model.layers.{sizes.first}."
    slots = _shared(sizes.numbers, ("model.embed_tokens.weight", "lm_head.weight"))
    slots |= dict(_norm(f"{front}{name}.weight", hidden) for name in ("mtp_emb_norm", "mtp_hidden_norm"))
    slots |= dict((tables.one(f"{front}mtp_linear_proj.weight", (hidden, 2 * hidden)),))
    block = f"{front}mtp_block."
    biased = sizes.flags["attention_bias"] or sizes.flags["bias"]
    return slots | _attention(sizes, block, biased=biased) | _norms(sizes, block) | _dense(sizes, block)


def _norms(sizes: Sizes, front: str) -> dict[str, Slot]:
    hidden = sizes.numbers["hidden_size"]
    return dict(_norm(f"{front}{name}.weight", hidden) for name in ("input_layernorm", "post_attention_layernorm"))


def _attention(
    sizes: Sizes, front: str, *, normed: bool = False, biased: bool = False, gated: bool = False
) -> dict[str, Slot]:
    numbers, hidden = sizes.numbers, sizes.numbers["hidden_size"]
    dim = numbers["head_dim"]
    queries, keys = numbers["num_attention_heads"] * dim, numbers["num_key_value_heads"] * dim
    inside, fused = f"{front}self_attn.", f"{front}self_attn.qkv_proj"
    slots: dict[str, Slot] = {}
    for name, rows in (("q_proj", 2 * queries if gated else queries), ("k_proj", keys), ("v_proj", keys)):
        slots[f"{inside}{name}.weight"] = Slot(parameter=f"{fused}.weight", shape=(rows, hidden), fit="rows")
        if biased:
            slots[f"{inside}{name}.bias"] = Slot(parameter=f"{fused}.bias", shape=(rows,), fit="rows")
    slots |= dict((tables.one(f"{inside}o_proj.weight", (hidden, queries), fit="columns"),))
    if normed:
        slots |= dict(_norm(f"{inside}{name}.weight", dim) for name in ("q_norm", "k_norm"))
    return slots


def _mlp(front: str, hidden: int, inner: int) -> dict[str, Slot]:
    slots = {
        f"{front}{name}.weight": Slot(parameter=f"{front}gate_up_proj.weight", shape=(inner, hidden), fit="rows")
        for name in ("gate_proj", "up_proj")
    }
    return slots | dict((tables.one(f"{front}down_proj.weight", (hidden, inner), fit="columns"),))


def _dense(sizes: Sizes, front: str) -> dict[str, Slot]:
    return _mlp(f"{front}mlp.", sizes.numbers["hidden_size"], sizes.numbers.get("intermediate_size", 0))


def _experts(sizes: Sizes, front: str) -> dict[str, Slot]:
    numbers, hidden = sizes.numbers, sizes.numbers["hidden_size"]
    count, inner = numbers["n_routed_experts"], numbers.get("moe_intermediate_size", 0)
    slots = dict((tables.one(f"{front}mlp.gate.weight", (count, hidden)),))
    if sizes.flags["corrected"]:
        slots |= dict((tables.one(f"{front}mlp.gate.e_score_correction_bias", (count,)),))
    shared = numbers.get("n_shared_experts", 0)
    if shared:
        slots |= _mlp(f"{front}mlp.shared_experts.", hidden, inner * shared)
    return slots | _routed(sizes, front, count=count)


def _routed(sizes: Sizes, front: str, *, count: int) -> dict[str, Slot]:
    hidden, inner = sizes.numbers["hidden_size"], sizes.numbers.get("moe_intermediate_size", 0)
    parts: tuple[tuple[str, str, tuple[int, ...], Fit], ...] = (
        ("gate_proj", "w13_weight", (inner, hidden), "exact"),
        ("up_proj", "w13_weight", (inner, hidden), "exact"),
        ("down_proj", "w2_weight", (hidden, inner), "exact"),
    )
    inside = f"{front}mlp.experts."
    if sizes.fused_experts:
        return {
            f"{inside}gate_up_proj": Slot(parameter=f"{inside}w13_weight", shape=(count, 2 * inner, hidden)),
            f"{inside}down_proj": Slot(parameter=f"{inside}w2_weight", shape=(count, hidden, inner)),
        }
    return {
        f"{inside}{index}.{name}.weight": Slot(parameter=f"{inside}{parameter}", shape=shape, fit=fit)
        for index in range(min(count, _MOST_EXPERTS))
        for name, parameter, shape, fit in parts
    }


_BUILDERS: Mapping[Family, Callable[[Sizes], dict[str, Slot]]] = {
    "deepseek": _deepseek,
    "glm": _glm,
    "mimo": _mimo,
    "qwen": _qwen,
    "ernie": _ernie,
}
