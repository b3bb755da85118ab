"""The last words of names, by which a tensor of the file and an engine's parameter can be told to be the same part."""

from __future__ import annotations

#: What an engine's fused or renamed parameter is made of.
_FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "fused_qkv_a_proj_with_mqa": ("q_a_proj", "kv_a_proj_with_mqa"),
    "fused_qkv_a_proj": ("q_a_proj", "kv_a_proj_with_mqa"),
    "draft_id_to_target_id": ("d2t",),
}


def stem(name: str) -> str:
    """``q_proj`` of ``layers.0.self_attn.q_proj.weight``, ``fc.bias`` of ``fc.bias``."""
    words = name.split(".")
    if len(words) == 1:
        return name
    if words[-1] == "weight":
        return words[-2]
    return ".".join(words[-2:]) if words[-1] == "bias" else words[-1]


def parts(parameter: str) -> frozenset[str]:
    """The stems of the tensors that fill a parameter."""
    last = stem(parameter)
    word, dot, kind = last.partition(".")
    return frozenset(f"{part}{dot}{kind}" for part in _FUSED.get(word, (word,)))
