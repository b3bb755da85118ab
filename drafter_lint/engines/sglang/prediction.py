"""Multi-token-prediction classes: which tensors of the target's file are theirs, and what each of them is to fill."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from drafter_lint.checkpoint import Checkpoint, TensorTable
from drafter_lint.engines.loading import Consume, Discard, Lookup, Policy, Route, Slot, load
from drafter_lint.engines.plan import Capture, FcUse, MapUse, ParameterState, Provision, RefusalKind
from drafter_lint.engines.sglang import prediction_slots
from drafter_lint.engines.sglang.classes import Built
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.sharing import Running
from drafter_lint.engines.sglang.weights import Weights
from drafter_lint.facts import World
from drafter_lint.findings import JsonValue

Style = Literal["nextn", "mimo", "qwen"]
#: The class, the names it takes, and the fact that speaks of its loader.
_CLASSES: Mapping[str, tuple[Style, str]] = {
    "DeepseekV3ForCausalLMNextN": ("nextn", "mtp.nextn-loader"),
    "GlmMoeDsaForCausalLMNextN": ("nextn", "mtp.nextn-loader"),
    "Glm4MoeLiteForCausalLMNextN": ("nextn", "mtp.glm-loader"),
    "Glm4MoeForCausalLMNextN": ("nextn", "mtp.glm-loader"),
    "MiMoMTP": ("mimo", "mtp.mimo-loader"),
    "Qwen3NextForCausalLMMTP": ("qwen", "mtp.qwen-next-loader"),
    "Qwen3MoeForCausalLMMTP": ("qwen", "mtp.qwen-moe-loader"),
    "Qwen3_5ForCausalLMMTP": ("qwen", "mtp.qwen3-5-loader"),
}
_COUNT = "num_nextn_predict_layers"
#: What stands beside the decoder layer: srt/models/deepseek_v2.py, load_weights, nextn_spec_weight_names.
_BESIDE = ("shared_head.norm", "eh_proj", "enorm", "hnorm")
_TARGETS = Discard("the class skips it: embedding and head are the target's", expected=True)
_BUFFER = Discard("a buffer the class computes itself", expected=True)
_INDEXER = Consume("a part of the sparse attention's indexer, whose parameters are not followed here")
_SCALE = Discard("a scale of the key-value cache", expected=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One prediction class on paper.

    Attributes:
        style: how its tensors are named in the file.
        key: the fact that speaks of its loader.
        built: slots, router and sizes.
        mine: True for a name of the file that is the class's business.
        raises: True if a name without a parameter is a key error.
    """

    style: Style
    key: str
    built: Built
    mine: Callable[[str], bool]
    raises: bool


def follows(world: World, name: str, fields: Fields) -> bool:
    """True if the loading of the class is followed here."""
    if name == "Glm4MoeForCausalLMNextN" and fields.integer("kv_lora_rank") and fields.has("kv_lora_rank"):
        return False  # up to 0.5.12.post1 the latent attention of GLM-4.7-Flash is loaded into a class without it
    return name in _CLASSES and world.text(_CLASSES[name][1]) != "absent"


def module(world: World, name: str, fields: Fields, table: TensorTable | None, notes: Notes) -> Module | None:
    """The class built from a config; None if a size it is built from is not written."""
    style, key = _CLASSES[name]
    prefix = _prefix(world, fields, notes, key=key) if style == "nextn" else ""
    sized = prediction_slots.sizes(world, fields, style=style)
    if name == "Qwen3MoeForCausalLMMTP" and not fields.has("num_experts"):
        sized = None
    if sized is None:
        notes.step("weights", f"a size {name} is built from is not written: its weights are not followed", key)
        return None
    names = frozenset(table or ())
    if style == "nextn":
        slots = prediction_slots.nextn(fields, sized, names, latent=name != "Glm4MoeForCausalLMNextN")
        route, mine = _nextn(prefix), _starts(prefix)
        raises = False
    elif style == "mimo":
        slots, route, mine = prediction_slots.mimo(sized), _mimo, _mimo_names
        raises = True
    else:
        apart = name == "Qwen3MoeForCausalLMMTP"
        slots = prediction_slots.qwen(fields, sized, names, plain=apart)
        route, mine = _qwen(plain=apart), _mtp_names
        raises = name == "Qwen3NextForCausalLMMTP"
    log = "a warning names it as not found" if style == "nextn" or not raises else "the loader looks it up and stops"
    made = Built(name=name, slots=slots, route=route, log=log, size=sized, tied=False)
    return Module(style=style, key=key, built=made, mine=mine, raises=raises)


def _prefix(world: World, fields: Fields, notes: Notes, *, key: str) -> str:
    """Where the layer stands, and whether there is one layer, which is all the loader takes."""
    written, at = fields.integer(_COUNT), fields.at(_COUNT)
    if not fields.has(_COUNT):
        if not (fields.model_type == "deepseek_v3" and world.flag("mtp.count-defaults")):
            says = f"{_COUNT} is absent, and the loader asks for it"
            notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "mtp.one-layer", key, at=(at,))
    elif written != 1:
        says = f"{_COUNT} is {fields.get(_COUNT)}; the loader takes one prediction layer only"
        notes.refuse(RefusalKind.LAYER_COUNT, "load", says, "mtp.one-layer", key, at=(at,))
    layers = fields.integer("num_hidden_layers") or 0
    return f"model.layers.{0 if layers == 1 else layers}"


def handed(world: World, name: str, capture: Capture, notes: Notes) -> Capture:
    """What the target hands over, with the side of its last norm where that is known of the class."""
    if name != "MiMoMTP":
        return capture
    side: Literal["before", "after"] = "before" if world.text("mtp.mimo-state") == "before-last-norm" else "after"
    says = f"MiMoMTP is handed the target's state {side} its last norm; which one a layer was made for no file says"
    notes.step("capture", says, "mtp.mimo-state")
    return replace(capture, norm=side, evidence=(*capture.evidence, *world.evidence("mtp.mimo-state")))


def weights(world: World, made: Module, opened: Checkpoint, table: TensorTable, notes: Notes) -> Weights:
    """Follow the loader through the names that are the class's business."""
    mine = replace(table, entries={name: tensor for name, tensor in table.items() if made.mine(name)})
    evidence = world.evidence(made.key)
    if opened.config.value.get("quantization_config"):
        at = opened.config.at("quantization_config")
        says = "the checkpoint is quantised: only whether each part is there is followed, not its shape"
        notes.step("weights", says, made.key, at=at)
        _projection(world, made, mine, _method(opened), notes)
        return Weights(visible=True, parameters=_by_stem(made.built, mine))
    policy = Policy(
        route=made.built.route,
        unexpected="refuse" if made.raises else "drop",
        unexpected_says=f"no parameter of that name; {made.built.log}",
        bias_dropped=True,
        evidence=evidence,
    )
    loaded = load(_paired(made.built, mine), mine, policy)
    notes.refusals += loaded.refusals
    return Weights(visible=True, tensors=loaded.tensors, parameters=loaded.parameters, filled=loaded.filled)


def _method(opened: Checkpoint) -> str:
    named = opened.config.string("quantization_config", "quant_method")
    return named.value if named else ""


def _projection(world: World, made: Module, mine: TensorTable, method: str, notes: Notes) -> None:
    """``eh_proj`` is a plain layer, whatever the checkpoint is: a packed one is half as wide, or less."""
    by_quark = method == "quark" and world.text("mtp.eh-proj") == "quantised by quark"
    if made.style != "nextn" or (by_quark and not made.built.name.startswith("Glm4")):
        return
    for name, tensor in mine.items():
        slot = made.built.slots.get("model.eh_proj.weight")
        if not name.endswith(".eh_proj.weight") or slot is None or tensor.shape == slot.shape:
            continue
        says = f"{name} has shape {[*tensor.shape]}; the plain layer built for it expects {[*slot.shape]}"
        at = (mine.at(name, f"expected {[*slot.shape]}"),)
        measured: dict[str, JsonValue] = {"shape": [*tensor.shape], "expected": [*slot.shape]}
        notes.refuse(RefusalKind.QUANTIZATION, "load", says, "mtp.eh-proj", at=at, measured=measured, tensors=(name,))


def unfollowed(known: str) -> bool:
    """True for a prediction class whose loading is not followed."""
    return known.endswith(("MTP", "NextN")) and known not in _CLASSES


def unfollowed_running(world: World, known: str, fields: Fields, table: TensorTable | None, notes: Notes) -> Running:
    """What such a class runs with: the target's embedding and head, and parameters nobody counted.

    A file without any name of a prediction layer fills none of them, whatever they are.
    """
    where = world.evidence("worker.sharing")
    shared = Provision(provider="target", says="EAGLE binds the target's embedding and head", evidence=where)
    fc = FcUse(built=True, runs=True, says="embedding and last state, side by side", evidence=where)
    ids = MapUse(use="none", says="the class has no map", evidence=where)
    layers = fields.integer("num_hidden_layers") or 0
    marks = ("mtp", "nextn", "eh_proj", "enorm", *((f"layers.{layers}.",) if layers else ()))
    states: tuple[ParameterState, ...] = ()
    if table is not None and not any(mark in name for name in table for mark in marks):
        states = (ParameterState(name="model", shape=(), state="unfilled", holds="uninitialised memory"),)
        notes.step("weights", f"no tensor of the file has a name of {known}", "models.registered")
    else:
        notes.step("weights", f"which tensor of the file goes where in {known} is not followed", "models.registered")
    return Running(head=shared, embedding=shared, map=ids, fc=fc, parameters=states)


def _by_stem(built: Built, mine: TensorTable) -> tuple[ParameterState, ...]:
    """A packed weight keeps the name of its module: ``down_proj.weight_packed`` fills what ``down_proj.weight`` would.

    A parameter counts as filled if one of its parts is there in any packing.
    """
    routes = (built.route(name) for name in mine)
    stems = {route.slot.rpartition(".")[0] for route in routes if isinstance(route, Lookup)}
    found: dict[str, ParameterState] = {}
    for key, slot in built.slots.items():
        there = key.rpartition(".")[0] in stems
        state = found.get(slot.parameter)
        if state is None or (there and state.state == "unfilled"):
            found[slot.parameter] = ParameterState(
                name=slot.parameter,
                shape=slot.shape,
                state="filled" if there else "unfilled",
                holds="" if there else slot.holds,
                matters=slot.matters,
            )
    return tuple(found.values())


def _paired(built: Built, mine: TensorTable) -> Mapping[str, Slot]:
    """``q_a_proj`` and ``kv_a_proj_with_mqa`` are joined before loading; one without the other goes nowhere."""
    pair = tuple(f"model.decoder.self_attn.{part}.weight" for part in ("q_a_proj", "kv_a_proj_with_mqa"))
    if not set(pair) <= set(built.slots):
        return built.slots
    routes = [built.route(name) for name in mine]
    there = {route.slot for route in routes if isinstance(route, Lookup)}
    if sum(key in there for key in pair) != 1:
        return built.slots
    fused = built.slots[pair[0]]
    rows = sum(built.slots[key].shape[0] for key in pair)
    kept = {key: slot for key, slot in built.slots.items() if key not in pair}
    return {**kept, fused.parameter: replace(fused, shape=(rows, fused.shape[1]))}


def _starts(prefix: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(f"{prefix}.")


def _nextn(prefix: str) -> Callable[[str], Route]:
    def route(name: str) -> Route:
        if "shared_head.head" in name or "embed_tokens" in name:
            return _TARGETS
        if "rotary_emb.inv_freq" in name:
            return _BUFFER
        if ".indexer." in name:
            return _INDEXER
        if name.endswith(("k_scale", "v_scale")):
            return _SCALE
        part = "model" if any(word in name for word in _BESIDE) else "model.decoder"
        return Lookup(name.replace(prefix, part))

    return route


_MIMO = re.compile(r"model.mtp_layers.(\d+).")
_MIMO_BESIDE = ("token_layernorm", "hidden_layernorm", "input_proj", "final_layernorm")


def _mimo(name: str) -> Route:
    found = _MIMO.match(name)
    if found is None:
        return Lookup(name)
    beside = any(word in name for word in _MIMO_BESIDE)
    return Lookup(name.replace(found.group(), "model." if beside else "model.mtp_block."))


def _mimo_names(name: str) -> bool:
    return bool(_MIMO.match(name)) or name in {"model.embed_tokens.weight", "lm_head.weight"}


def _mtp_names(name: str) -> bool:
    return "mtp" in name


def _qwen(*, plain: bool) -> Callable[[str], Route]:
    def route(name: str) -> Route:
        if "rotary_emb.inv_freq" in name:
            return _BUFFER
        if name.endswith(("k_scale", "v_scale")):
            return _SCALE
        if name.startswith(("mtp.fc.", "mtp.pre_fc_norm_")):
            return Lookup(name.removeprefix("mtp."))
        renamed = name.replace("mtp", "model")
        return Lookup(renamed if plain else renamed.replace(".self_attn.", "."))

    return route
