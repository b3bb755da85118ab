"""The drafter's config as transformers hands it to SGLang: written values, overrides, and the defaults of the type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.checkpoint import Config
from drafter_lint.findings import Location
from drafter_lint.launch import LaunchRequest

_LLAMA: Mapping[str, object] = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "max_position_embeddings": 2048,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
_QWEN: Mapping[str, object] = {
    **_LLAMA,
    "vocab_size": 151936,
    "intermediate_size": 22016,
    "num_key_value_heads": 32,
    "max_position_embeddings": 32768,
}
_MLA: Mapping[str, object] = {
    **_LLAMA,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "q_lora_rank": 1536,
}
#: What the configuration classes of transformers 4.51 to 5.19 fill in for keys that are absent.
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "llama": _LLAMA,
    "qwen2": _QWEN,
    "qwen3": {**_QWEN, "head_dim": 128},
    "mistral": {
        **_LLAMA,
        "intermediate_size": 14336,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
    },
    "deepseek_v2": {**_MLA, "vocab_size": 102400},
    "deepseek_v3": {**_MLA, "vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432},
    "kimi_k2": {**_MLA, "vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432},
}
_CONTEXT_KEYS = ("max_sequence_length", "seq_length", "max_seq_len", "model_max_length", "max_position_embeddings")
OVERRIDES = "--json-model-override-args"


@dataclass(frozen=True, slots=True)
class Fields:
    """A config.json with ``--json-model-override-args`` laid over it, which SGLang does to target and drafter alike."""

    config: Config
    overrides: Mapping[str, object] = field(default_factory=dict)

    @property
    def model_type(self) -> object:
        """``model_type`` as written."""
        return self.config.value.get("model_type")

    def has(self, name: str) -> bool:
        """True if the attribute exists because somebody wrote it, even as null."""
        return name in self.overrides or self.config.has(name)

    def get(self, name: str) -> object:
        """The attribute: written, else the type's default, else None."""
        if name in self.overrides:
            return self.overrides[name]
        if self.config.has(name):
            return self.config.value[name]
        return DEFAULTS.get(str(self.model_type), _LLAMA).get(name)

    def integer(self, name: str) -> int | None:
        """The attribute if it is an integer."""
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def true(self, name: str) -> bool:
        """What Python makes of the attribute in a condition."""
        return bool(self.get(name))

    def nested(self, name: str) -> Mapping[str, object] | None:
        """The attribute if it is an object."""
        value = self.get(name)
        return value if isinstance(value, dict) else None

    def at(self, *keys: str, label: str = "") -> Location:
        """The place of a member, or of its parent."""
        return self.config.at(*keys, label=label)

    @property
    def head_dim(self) -> int | None:
        """``head_dim``, else hidden size over heads, as every configuration class used here has it."""
        written = self.integer("head_dim")
        heads, hidden = self.integer("num_attention_heads"), self.integer("hidden_size")
        return written or (hidden // heads if hidden and heads else None)

    @property
    def kv_heads(self) -> int | None:
        """``num_key_value_heads``, else the attention heads."""
        return self.integer("num_key_value_heads") or self.integer("num_attention_heads")

    @property
    def states_context(self) -> bool:
        """True if any key that SGLang derives a context length from is there."""
        return any(self.has(key) for key in _CONTEXT_KEYS)

    @property
    def context(self) -> int:
        """The context length SGLang derives: the first known key times the rope factor, 2048 without any."""
        scaling = self.nested("rope_scaling") or {}
        plain = "original_max_position_embeddings" in scaling or scaling.get("rope_type") == "llama3"
        factor = scaling.get("factor", 1)
        times = 1.0 if plain or not isinstance(factor, (int, float)) else float(factor)
        for key in _CONTEXT_KEYS:
            length = self.integer(key)
            if length is not None:
                return int(times * length)
        return 2048


def overrides(request: LaunchRequest) -> Mapping[str, object]:
    """The object behind ``--json-model-override-args``; empty if it is absent or cannot be read."""
    option = request.options.get(OVERRIDES)
    try:
        value = json.loads(option.value) if option and option.value else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
