"""DFLASH and DSPARK with a block drafter: its class, the states it is handed, its mask token, and its weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from drafter_lint.checkpoint import Checkpoint, TensorTable
from drafter_lint.engines.loading import Policy, Slot, load
from drafter_lint.engines.plan import Capture, FcUse, MapUse, Provision, RefusalKind
from drafter_lint.engines.sglang import slots
from drafter_lint.engines.sglang.block_fields import (
    layer_ids,
    markov_kind,
    mask_file,
    mask_token,
    place,
    sliding,
    spark,
)
from drafter_lint.engines.sglang.block_slots import parameters, route
from drafter_lint.engines.sglang.capture import kept
from drafter_lint.engines.sglang.classes import divisible
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.sharing import Running
from drafter_lint.engines.sglang.tables import has
from drafter_lint.engines.sglang.weights import Weights, table_of
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

#: Classes whose parameters are followed: the plain backbone, and the backbone with a Markov head.
_PLAIN = ("DFlashDraftModel", "MuseGlimmerAssistantModel")
_SPARK = ("DSparkDraftModel", "Qwen3DSparkModel", "LingDSparkModel")
_BLOCK = re.compile(r"DFlash|DSpark|LiLiCorr|MuseGlimmerAssistant")
_FUSED = "DeepseekV4ForCausalLMDSpark"
#: Targets whose hook takes other layers than the ones behind those named: followed no further.
_OWN_HOOKS = re.compile(r"MuseGlimmer|Inkling|Beam|KimiK3|KimiLinear|DeepseekV4|BailingMoeV3|MiniMaxM3")


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a block drafter comes to."""

    capture: Capture | None
    running: Running
    weights: Weights


def suits(known: str, fields: Fields, method: str, name: Located[str], notes: Notes) -> bool:
    """Whether the class drafts blocks, and by this method."""
    if not _BLOCK.search(known):
        says = f"{known} does not draft blocks, which {method} asks of it"
        likely = Confidence.LIKELY
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "load", says, "block.loader", at=(name.at,), confidence=likely)
        return False
    if method != "DSPARK" and known not in _SPARK:
        return True
    if "DSpark" not in known:
        says = f"{known} has no Markov head, which DSPARK asks its class for"
        notes.refuse(
            RefusalKind.METHOD_UNSUITABLE, "load", says, "dspark.head", at=(name.at,), confidence=Confidence.LIKELY
        )
        return False
    # The dense classes build their head from the key at the top, whatever the worker found elsewhere.
    rank = fields.get("markov_rank") if known in _SPARK else spark(fields, "markov_rank")
    if isinstance(rank, int) and rank > 0:
        return True
    where, written = place(fields, "markov_rank"), spark(fields, "markov_rank")
    says = f"{known} needs a Markov head, and markov_rank is {rank if rank is not None else 'absent'}"
    apart = isinstance(written, int) and written != rank
    if apart:
        says += f" at the top of the config, where it is read (elsewhere it is {written})"
    kind, sure = RefusalKind.METHOD_UNSUITABLE, Confidence.LIKELY if apart else Confidence.CERTAIN
    notes.refuse(kind, "load", says, "dspark.head", at=(where,), confidence=sure)
    return False


def follow(
    world: World,
    opened: Checkpoint,
    target: Target,
    request: LaunchRequest,
    notes: Notes,
    *,
    known: str,
    method: str,
) -> Made:
    """Class, states, mask token, weights."""
    fields = Fields(opened.config)
    read = layer_ids(fields)
    capture = _captured(world, fields, target, read, notes, method=method)
    mask_token(world, fields, target, notes, method=method)
    if method == "DSPARK":
        markov_kind(fields, notes)
    elif known in _PLAIN:
        sliding(world, fields, notes)
    size = slots.shape_of(world, fields) if known in (*_PLAIN, *_SPARK) and _sized(fields) else None
    weights = Weights(visible=False)
    takes = None
    if size is not None:
        divisible(fields, request, notes, heads=size.heads, kv_heads=size.kv_heads, inner=size.inner)
        states = len(read.value) if read else _default_states(fields)
        takes = size.hidden * states if states else None
        _depth(world, fields, read, notes)
    table = table_of(opened, notes) if known != _FUSED else None
    if size is not None and takes and table is not None and not opened.config.value.get("quantization_config"):
        made = parameters(fields, size, takes, request, headed=known in _SPARK)
        evidence = world.evidence("block.loader")
        policy = Policy(
            route=lambda name: route(name, made, headed=known in _SPARK),
            unexpected="drop",
            unexpected_says="no parameter of that name; nothing is logged",
            evidence=evidence,
        )
        loaded = load(made, table, policy)
        notes.refusals += loaded.refusals
        _confidence(made, loaded.filled, table, notes)
        tensors = loaded.tensors + (mask_file(world, opened) if known in _PLAIN else ())
        weights = Weights(visible=True, tensors=tensors, parameters=loaded.parameters, filled=loaded.filled)
    elif table is not None:
        notes.step("weights", f"which tensor of the file goes where in {known} is not followed", "block.loader")
    return Made(capture=capture, running=_running(world, takes, capture, target, notes, weights), weights=weights)


def _confidence(made: Mapping[str, Slot], filled: frozenset[str], table: TensorTable, notes: Notes) -> None:
    """The one part the loader looks for afterwards."""
    missing = [key for key in made if key.startswith("confidence_head.") and key not in filled]
    if missing:
        says = f"the confidence head is built, and the file has no {', '.join(missing)}"
        at = (table.at(missing[0], "not in the file"),)
        notes.refuse(RefusalKind.TENSOR_REQUIRED, "load", says, "dspark.head", at=at, tensors=tuple(missing))


def _sized(fields: Fields) -> bool:
    conv = (fields.nested("dflash_config") or {}).get("conv_kernel_size")
    domino = "domino" in {(fields.nested("dflash_config") or {}).get("projector_type"), fields.get("projector_type")}
    return not conv and not domino and not fields.true("has_embed_tokens")


def _default_states(fields: Fields) -> int | None:
    return fields.integer("num_hidden_layers")


def _depth(world: World, fields: Fields, read: Located[tuple[int, ...]] | None, notes: Notes) -> None:
    """The class checks the ids against ``num_target_layers``; older ones took the drafter's own depth for it."""
    written = fields.config.integer("dflash_config", "num_target_layers") or fields.config.integer("num_target_layers")
    layers = written.value if written else fields.integer("num_hidden_layers")
    if read is None or layers is None or (written is None and world.text("block.depth") == "from-ids"):
        return
    wrong = [value for value in read.value if not 0 <= value < layers]
    if wrong:
        whose = (
            "num_target_layers" if written else "the drafter's own num_hidden_layers, num_target_layers being absent"
        )
        says = f"target_layer_ids {wrong} are outside the {layers} layers of {whose}"
        at = (read.at, *((written.at,) if written else ()))
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "block.depth", at=at)


def _captured(
    world: World,
    fields: Fields,
    target: Target,
    read: Located[tuple[int, ...]] | None,
    notes: Notes,
    *,
    method: str,
) -> Capture | None:
    name = target.architecture
    if name is not None and has(world, "models.registered", name.value):
        hooks = ("models.dspark-hook", "models.dflash-hook") if method == "DSPARK" else ("models.dflash-hook",)
        if not any(has(world, hook, name.value) for hook in hooks):
            says = f"target class {name.value} has no hook to hand over states for {method}"
            notes.refuse(RefusalKind.TARGET_UNSUPPORTED, "load", says, *hooks, at=(name.at,))
            return None
    layers = target.num_layers.value if target.num_layers else None
    if layers is None or name is None or _OWN_HOOKS.search(name.value):
        return None
    ids = read.value if read else _spread(layers, fields.integer("num_hidden_layers") or 0)
    wrong = [value for value in ids if not 0 <= value < layers]
    at = (read.at,) if read else (target.text.at("num_hidden_layers"),)
    if wrong:
        says = f"target_layer_ids {wrong} are no layers of the target, which has {layers}"
        notes.refuse(RefusalKind.STATE_WIDTH, "load", says, "block.capture", at=at, measured={"layers": layers})
        return None
    asked = tuple(value + 1 for value in ids)
    boundaries = kept(world, target, layers, asked, notes, read=read)
    says = f"boundaries {list(asked)} are asked for (outputs of layers {list(ids)})"
    notes.step("capture", says, "block.capture", at=read.at if read else None)
    return Capture(
        active=True,
        boundaries=boundaries,
        asked=asked,
        read=read,
        reading="id + 1" if read else "default",
        width=target.hidden_size.value * len(boundaries) if target.hidden_size else None,
        evidence=world.evidence("block.capture"),
    )


def _spread(layers: int, count: int) -> tuple[int, ...]:
    """The default: as many target layers as the drafter has, evenly from 1 to N - 3."""
    if count <= 0:
        return ()
    if count == 1:
        return (layers // 2,)
    return tuple(round(1 + index * (layers - 4) / (count - 1)) for index in range(count))


def _running(
    world: World,
    takes: int | None,
    capture: Capture | None,
    target: Target,
    notes: Notes,
    weights: Weights,
) -> Running:
    where = world.evidence("block.sharing")
    shared = Provision(provider="target", says="the block drafter runs on the target's", evidence=where)
    fed = capture.width if capture else None
    hidden = target.hidden_size
    if takes is not None and fed is not None and fed != takes and not notes.refusals and hidden is not None:
        says = f"fc takes {takes} values a token and is fed {fed}"
        at = ((capture.read.at,) if capture and capture.read else ()) + (hidden.at,)
        measured = {"takes": takes, "fed": fed}
        notes.refuse(RefusalKind.STATE_WIDTH, "first-request", says, "block.capture", at=at, measured=measured)
    fc = FcUse(built=True, runs=True, takes=takes, fed=fed, says="the states side by side", evidence=where)
    ids = MapUse(use="identity", says="drafted through the target's head: ids are the target's", evidence=where)
    return Running(head=shared, embedding=shared, map=ids, fc=fc, parameters=weights.parameters)
