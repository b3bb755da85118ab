"""The parameters of an EAGLE draft model in vLLM, by the names tensors are looked up under.

Column-parallel loaders narrow to their own rows, row-parallel ones to their own columns, and neither looks whether
there are more (vllm 0.33.0, model_executor/parameter.py, _ColumnvLLMParameter and RowvLLMParameter). Embedding, head,
``fc``, norms and the map must fit exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from drafter_lint.engines.loading import Fit, Slot

Kind = Literal["eagle1", "llama", "qwen3", "mla"]


def one(
    name: str, shape: tuple[int, ...], *, fit: Fit = "exact", holds: str = "uninitialised memory"
) -> tuple[str, Slot]:
    return name, Slot(parameter=name, shape=shape, fit=fit, holds=holds)


def embedding(numbers: Mapping[str, int]) -> dict[str, Slot]:
    """The token embedding."""
    return dict((one("model.embed_tokens.weight", (numbers["vocab_size"], numbers["hidden_size"])),))


def head(numbers: Mapping[str, int], draft_vocab: int) -> dict[str, Slot]:
    """The head and the norm before it."""
    hidden = numbers["hidden_size"]
    return dict((one("model.norm.weight", (hidden,), holds="ones"), one("lm_head.weight", (draft_vocab, hidden))))


def fc(
    numbers: Mapping[str, int], switches: Mapping[str, bool], *, fc_input: int, states: int, applied: bool
) -> dict[str, Slot]:
    """``fc`` and the norms before it; ``applied`` is False where ``fc_norm`` is loaded and never called."""
    slots = dict((one("model.fc.weight", (numbers["hidden_size"], fc_input)),))
    if switches["norm_before_fc"]:
        slots |= dict((one("model.input_norm.weight", (fc_input,), holds="ones"),))
    if switches["fc_norm"]:
        for index in range(min(states, 64)):
            name = f"model.fc_norm.{index}.weight"
            slots[name] = Slot(parameter=name, shape=(numbers["target_hidden_size"],), holds="ones", matters=applied)
    return slots


def layer(numbers: Mapping[str, int], kind: Kind, *, index: int, switches: Mapping[str, bool]) -> dict[str, Slot]:
    """One decoder layer."""
    hidden, inner = numbers["hidden_size"], numbers["intermediate_size"]
    prefix = f"model.layers.{index}."
    slots = (
        _mla(numbers, prefix, index) if kind == "mla" else _gqa(numbers, kind, prefix, index=index, switches=switches)
    )
    for name in ("gate_proj", "up_proj"):
        slots[f"{prefix}mlp.{name}.weight"] = Slot(
            parameter=f"{prefix}mlp.gate_up_proj.weight", shape=(inner, hidden), fit="rows"
        )
        if switches["mlp_bias"]:
            slots[f"{prefix}mlp.{name}.bias"] = Slot(
                parameter=f"{prefix}mlp.gate_up_proj.bias", shape=(inner,), fit="rows"
            )
    slots |= dict((one(f"{prefix}mlp.down_proj.weight", (hidden, inner), fit="columns"),))
    if switches["mlp_bias"]:
        slots |= dict((one(f"{prefix}mlp.down_proj.bias", (hidden,)),))
    norms = ["post_attention_layernorm"]
    if kind != "eagle1":
        norms += ["input_layernorm", "hidden_norm"]
    elif index > 0:
        norms += ["input_layernorm"]  # layer 0 of an EAGLE-1 head has none
    for name in norms:
        # Only the first layer norms the target's states (vllm 0.33.0, llama_eagle3.py, LlamaDecoderLayer.forward).
        matters = name != "hidden_norm" or index == 0
        full = f"{prefix}{name}.weight"
        slots[full] = Slot(parameter=full, shape=(hidden,), holds="ones", matters=matters)
    return slots


def _gqa(
    numbers: Mapping[str, int], kind: Kind, prefix: str, *, index: int, switches: Mapping[str, bool]
) -> dict[str, Slot]:
    hidden, dim = numbers["hidden_size"], numbers["head_dim"]
    taken = hidden if kind == "eagle1" or index > 0 else 2 * hidden
    queries, keys = numbers["num_attention_heads"] * dim, numbers["num_key_value_heads"] * dim
    fused = f"{prefix}self_attn.qkv_proj"
    slots: dict[str, Slot] = {}
    for name, rows in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)):
        slots[f"{prefix}self_attn.{name}.weight"] = Slot(parameter=f"{fused}.weight", shape=(rows, taken), fit="rows")
        if switches["attention_bias"]:
            slots[f"{prefix}self_attn.{name}.bias"] = Slot(parameter=f"{fused}.bias", shape=(rows,), fit="rows")
    slots |= dict((one(f"{prefix}self_attn.o_proj.weight", (hidden, queries), fit="columns"),))
    if switches["output_bias"]:
        slots |= dict((one(f"{prefix}self_attn.o_proj.bias", (hidden,)),))
    if kind == "qwen3":
        for name in ("q_norm", "k_norm"):
            slots |= dict((one(f"{prefix}self_attn.{name}.weight", (dim,), holds="ones"),))
    return slots


def _mla(numbers: Mapping[str, int], prefix: str, index: int) -> dict[str, Slot]:
    hidden, heads = numbers["hidden_size"], numbers["num_attention_heads"]
    rank, rope, nope = numbers["kv_lora_rank"], numbers["qk_rope_head_dim"], numbers["qk_nope_head_dim"]
    value, queries = numbers["v_head_dim"], numbers["q_lora_rank"]
    taken = 2 * hidden if index == 0 else hidden
    inside = f"{prefix}self_attn."
    slots: dict[str, Slot] = {}
    latent = "fused_qkv_a_proj" if queries else "kv_a_proj_with_mqa"
    fit: Fit = "rows" if queries else "exact"
    if queries:
        slots[f"{inside}q_a_proj.weight"] = Slot(
            parameter=f"{inside}{latent}.weight", shape=(queries, taken), fit="rows"
        )
        slots |= dict((one(f"{inside}q_a_layernorm.weight", (queries,), holds="ones"),))
        slots |= dict((one(f"{inside}q_b_proj.weight", (heads * (nope + rope), queries), fit="rows"),))
    else:
        slots |= dict((one(f"{inside}q_proj.weight", (heads * (nope + rope), taken), fit="rows"),))
    slots[f"{inside}kv_a_proj_with_mqa.weight"] = Slot(
        parameter=f"{inside}{latent}.weight", shape=(rank + rope, taken), fit=fit
    )
    slots |= dict((one(f"{inside}kv_a_layernorm.weight", (rank,), holds="ones"),))
    slots |= dict((one(f"{inside}kv_b_proj.weight", (heads * (nope + value), rank), fit="rows"),))
    slots |= dict((one(f"{inside}o_proj.weight", (hidden, heads * value), fit="columns"),))
    return slots


def latent_attention(numbers: Mapping[str, int], prefix: str) -> dict[str, Slot]:
    """Multi-head latent attention over a state as wide as the model, as in DeepSeek's own layers."""
    return _mla(numbers, prefix, 1)


def fused(slots: dict[str, Slot], names: frozenset[str]) -> dict[str, Slot]:
    """Where the file stores a fused projection whole, one slot stands for its parts."""
    whole = {slot.parameter for key, slot in slots.items() if key != slot.parameter and slot.parameter in names}
    for parameter in whole:
        parts = [key for key, slot in slots.items() if slot.parameter == parameter]
        rows = sum(slots[key].shape[0] for key in parts)
        shape = (rows, *slots[parts[0]].shape[1:])
        for key in parts:
            del slots[key]
        slots[parameter] = Slot(parameter=parameter, shape=shape)
    return slots
