"""DFLASH and DSPARK with a block drafter: its class, the states it is handed, its mask token, and its weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from drafter_lint.checkpoint import Checkpoint, TensorTable
from drafter_lint.engines.loading import Discard, Lookup, Policy, Route, Slot, load
from drafter_lint.engines.plan import Capture, FcUse, MapUse, Provision, RefusalKind
from drafter_lint.engines.sglang import slots
from drafter_lint.engines.sglang.capture import kept
from drafter_lint.engines.sglang.classes import divisible
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.sharing import Running
from drafter_lint.engines.sglang.slots import Shape
from drafter_lint.engines.sglang.tables import has
from drafter_lint.engines.sglang.weights import Weights, table_of
from drafter_lint.errors import Unavailable
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

#: Classes whose parameters are followed: the plain backbone, and the backbone with a Markov head.
_PLAIN = ("DFlashDraftModel", "MuseGlimmerAssistantModel")
_SPARK = ("DSparkDraftModel", "Qwen3DSparkModel", "LingDSparkModel")
_BLOCK = re.compile(r"DFlash|DSpark|LiLiCorr|MuseGlimmerAssistant")
_FUSED = "DeepseekV4ForCausalLMDSpark"
_MARKOV_KINDS = ("vanilla", "gated", "rnn")
_MASK = "<|MASK|>"
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
    rank = fields.get("markov_rank") if known in _SPARK else _spark(fields, "markov_rank")
    if isinstance(rank, int) and rank > 0:
        return True
    place, written = _at(fields, "markov_rank"), _spark(fields, "markov_rank")
    says = f"{known} needs a Markov head, and markov_rank is {rank if rank is not None else 'absent'}"
    apart = isinstance(written, int) and written != rank
    if apart:
        says += f" at the top of the config, where it is read (elsewhere it is {written})"
    kind, sure = RefusalKind.METHOD_UNSUITABLE, Confidence.LIKELY if apart else Confidence.CERTAIN
    notes.refuse(kind, "load", says, "dspark.head", at=(place,), confidence=sure)
    return False


def _spark(fields: Fields, name: str) -> object:
    """A key of DSpark: with the prefix, nested, or at the top."""
    found = fields.get(f"dspark_{name}")
    for nest in ("dspark_config", "dflash_config"):
        if found is None:
            found = (fields.nested(nest) or {}).get(name)
    return found if found is not None else fields.get(name)


def _at(fields: Fields, name: str) -> Location:
    for nest in ("dspark_config", "dflash_config"):
        if fields.config.has(nest, name):
            return fields.config.at(nest, name)
    return fields.at(name)


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
    read = _layer_ids(fields)
    capture = _captured(world, fields, target, read, notes, method=method)
    _mask(world, fields, target, notes, method=method)
    if method == "DSPARK":
        _markov_kind(fields, notes)
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
        made = _slots(fields, size, takes, request, spark=known in _SPARK)
        evidence = world.evidence("block.loader")
        policy = Policy(
            route=lambda name: _route(name, made, spark=known in _SPARK),
            unexpected="drop",
            unexpected_says="no parameter of that name; nothing is logged",
            evidence=evidence,
        )
        loaded = load(made, table, policy)
        notes.refusals += loaded.refusals
        _confidence(made, loaded.filled, table, notes)
        weights = Weights(visible=True, tensors=loaded.tensors, parameters=loaded.parameters, filled=loaded.filled)
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


def _layer_ids(fields: Fields) -> Located[tuple[int, ...]] | None:
    """``dspark_target_layer_ids``, ``dflash_config.target_layer_ids``, ``target_layer_ids``."""
    config = fields.config
    return (
        config.integers("dspark_target_layer_ids")
        or config.integers("dflash_config", "target_layer_ids")
        or config.integers("target_layer_ids")
    )


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


def _mask(world: World, fields: Fields, target: Target, notes: Notes, *, method: str) -> None:
    """The token that stands for a position to be filled in must be an id of the target's embedding."""
    config = fields.config
    keys: list[tuple[str, ...]] = [("dflash_config", "mask_token_id")]
    if method == "DSPARK":
        keys = [("dspark_noise_token_id",), ("dspark_config", "mask_token_id"), *keys, ("mask_token_id",)]
    elif world.text("block.mask-token") == "nested-or-top":
        keys.append(("mask_token_id",))
    written = next((value for key in keys if (value := config.integer(*key))), None)
    size = target.vocab_size
    if written is not None:
        if size is not None and written.value >= size.value:
            says = f"the mask token {written.value} is no id of the target, which has {size.value}"
            measured = {"mask_token": written.value, "vocabulary": size.value}
            notes.refuse(
                RefusalKind.VOCABULARY, "load", says, "block.mask-token", at=(written.at, size.at), measured=measured
            )
        return
    place = _at(fields, "mask_token_id")
    if method == "DSPARK":
        says = "mask_token_id is absent, and DSPARK needs one"
        notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "dspark.head", at=(place,))
        return
    words = _words(target)
    named = (fields.nested("dflash_config") or {}).get("mask_token") or _MASK
    if words is None or size is None:
        says = f"no mask_token_id: {named} is looked up in the target's tokenizer, which is not read here"
        notes.step("mask", says, "block.mask-token", at=place)
        return
    if named in words:
        return
    count = len(words)
    if count < size.value:
        notes.step("mask", f"no mask_token_id: {named} is added as id {count}", "block.mask-token", at=place)
        return
    says = f"no mask_token_id, and {named} added to the {count} words of the tokenizer is no id below {size.value}"
    notes.refuse(RefusalKind.VOCABULARY, "load", says, "block.mask-token", at=(place, size.at))


def _words(target: Target) -> frozenset[str] | None:
    """The words of the target's tokenizer.json, None if they cannot be read."""
    try:
        document = target.checkpoint.other_json("tokenizer.json")
    except Unavailable:
        return None
    value = document.root if document else {}
    model = value.get("model")
    words = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(words, Mapping):
        return None
    added = value.get("added_tokens")
    extra = [item.get("content") for item in added if isinstance(item, dict)] if isinstance(added, list) else []
    return frozenset((*words, *(str(word) for word in extra)))


def _markov_kind(fields: Fields, notes: Notes) -> None:
    kind = _spark(fields, "markov_head_type")
    if kind is None and fields.get("dspark_markov_rank") is None:
        says = "markov_head_type is absent, and DSPARK asks for it beside markov_rank"
    elif kind is not None and str(kind).lower() not in _MARKOV_KINDS:
        says = f"markov_head_type {kind} is none of {', '.join(_MARKOV_KINDS)}"
    else:
        return
    notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "dspark.head", at=(_at(fields, "markov_head_type"),))


def _slots(fields: Fields, size: Shape, takes: int, request: LaunchRequest, *, spark: bool) -> Mapping[str, Slot]:
    """Qwen3's layers without embedding and head, fc and a norm in front; a Markov head on top for DSpark."""
    biased = fields.true("attention_bias")
    whole = slots.causal(fields, size, qkv_bias=biased, out_bias=biased, head_norms=True)
    ends = ("model.embed_tokens.weight", "lm_head.weight")
    found = {
        key.removeprefix("model."): replace(slot, parameter=slot.parameter.removeprefix("model."))
        for key, slot in whole.items()
        if key not in ends
    }
    found.update(slots.linear("fc", (size.hidden, takes), bias=False))
    found.update([slots.norm("hidden_norm.weight", size.hidden)])
    rank = _spark(fields, "markov_rank")
    if not spark or not isinstance(rank, int):
        return found
    found.update([slots.table("markov_head.markov_w1.weight", size.vocab, rank)])
    found.update(slots.linear("markov_head.markov_w2", (size.vocab, rank), bias=False))
    kind = str(_spark(fields, "markov_head_type") or "vanilla").lower()
    if kind == "gated":
        found.update(slots.linear("markov_head.gate_proj", (rank, size.hidden + rank), bias=True))
    elif kind == "rnn":
        found.update(slots.linear("markov_head.joint_proj", (3 * rank, 2 * rank + size.hidden), bias=True))
    if confident(request):
        with_markov = fields.get("confidence_head_with_markov")
        width = size.hidden + (0 if with_markov is False else rank)
        found.update(slots.linear("confidence_head.proj", (1, width), bias=True))
    return found


def confident(request: LaunchRequest) -> bool:
    """True if the confidence head is built: SGLANG_RAGGED_VERIFY_MODE is not "static", its default."""
    mode = request.environment.get("SGLANG_RAGGED_VERIFY_MODE")
    return mode is not None and mode.value != "static"


def _route(name: str, made: Mapping[str, Slot], *, spark: bool) -> Route:
    plain = name.removeprefix("model.")
    if spark and plain.startswith(("lm_head.", "rotary_emb.", "embed_tokens.")):
        return Discard("the class skips it: embedding and head are the target's", expected=True)
    if spark and name.startswith("confidence_head.") and name not in made:
        return Discard("the confidence head is not built in this mode of verification", expected=True)
    if plain in ("embed_tokens.weight", "lm_head.weight") or "rotary_emb." in plain:
        return Discard("the class has none of its own: embedding and head are the target's", expected=True)
    aliases = {"encoder.fc.weight": "fc.weight", "encoder.output_norm_enc.weight": "hidden_norm.weight"}
    return Lookup(name if name in made else aliases.get(plain, plain))


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
