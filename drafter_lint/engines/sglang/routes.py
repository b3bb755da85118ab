"""Where SGLang's loaders look for a tensor of the file: one route per draft class and release."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from drafter_lint.engines.loading import Consume, Discard, Lookup, Route, Slot
from drafter_lint.facts import World

_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")
_PROJECTIONS = (".q_proj", ".k_proj", ".v_proj", ".gate_proj", ".up_proj")
#: Names of older exports: sglang 0.5.12.post1 to 0.5.23, srt/models/llama_eagle3.py, load_weights, legacy_name_map.
_RENAMED = {
    "midlayer": "layers.0",
    "aux_norm_low": "fc_norm.0",
    "aux_norm_mid": "fc_norm.1",
    "aux_norm_high": "fc_norm.2",
}
_BUFFERS = ("rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")
_MAP = Consume("read as the map: draft id i becomes i + d2t[i]")
_SET = Discard("the set of drafted ids is not needed here", expected=True)

Router = Callable[[str], Route]


def stacked(name: str) -> bool:
    """True if the loader takes the name for a part of a fused projection."""
    return any(part in name for part in _PROJECTIONS)


def eagle3(world: World, slots: Mapping[str, Slot]) -> Router:
    """LlamaForCausalLMEagle3: substrings decide what is a map, ``model.`` is put in front where it is missing."""
    law = world.text("eagle3.loader")
    if law == "inherited":
        return _eagle3_inherited

    def route(name: str) -> Route:
        for old, new in _RENAMED.items() if law == "layers" else ():
            name = name.replace(old, new)
        if "d2t" in name:
            return _MAP
        if "t2d" in name:
            return _SET
        return Lookup(name if name in slots else f"model.{name}")

    return route


def _eagle3_inherited(name: str) -> Route:
    if "d2t" in name:
        return _MAP
    if "t2d" in name:
        return _SET
    return _skipped(name) or Lookup(name if "lm_head" in name else f"model.{name}")


def mla(name: str) -> Route:
    """Eagle3DeepseekV2ForCausalLM: ``layers.0.`` becomes ``midlayer.``; all but the head get ``model.``."""
    if name == "d2t" or name.endswith(".d2t"):
        return _MAP
    if name == "t2d" or name.endswith(".t2d"):
        return _SET
    renamed = re.sub(r"^layers\.0\.", "midlayer.", name)
    return Lookup(renamed if renamed.startswith("lm_head.") else f"model.{renamed}")


def eagle1(name: str) -> Route:
    """LlamaForCausalLMEagle, Qwen2ForCausalLMEagle: heads are skipped, ``model.`` is always put in front."""
    if "lm_head" in name:
        return Discard("the class skips every head: it uses the target's")
    return _skipped(f"model.{name}") or Lookup(f"model.{name}")


def causal(slots: Mapping[str, Slot], *, layers: int) -> Router:
    """A plain language model: names are taken as written."""

    def route(name: str) -> Route:
        layer = _LAYER.search(name)
        if layer and int(layer.group(1)) >= layers:
            return Discard(f"belongs to a layer past the {layers} of the config")
        if "lm_head.weight" in name and "lm_head.weight" not in slots:
            return Discard("the head is the embedding (tie_word_embeddings)")
        return _skipped(name) or Lookup(name)

    return route


def _skipped(name: str) -> Discard | None:
    if any(buffer in name for buffer in _BUFFERS):
        return Discard("a buffer the class computes itself", expected=True)
    return Discard("names with projector are skipped") if "projector" in name else None
