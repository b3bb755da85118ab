"""What the draft model runs with once the target's tensors are bound: head, embedding, map, fc, switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from drafter_lint.engines.plan import Capture, FcUse, MapUse, ParameterState, Provision, RefusalKind, Scheme
from drafter_lint.engines.sglang.classes import AUX_CLASSES, EAGLE1_CLASSES, EAGLE3_MLA, Built
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.weights import Weights
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The draft model as it runs."""

    head: Provision
    embedding: Provision
    map: MapUse
    fc: FcUse
    parameters: tuple[ParameterState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that decides how the draft model runs."""

    world: World
    method: str
    built: Built
    fields: Fields
    target: Target
    weights: Weights
    capture: Capture
    notes: Notes


def run(at: Situation) -> Running:
    """Bind, then follow the first forward."""
    embedding = _embedding(at)
    head = _head(at)
    mapping = _map(at)
    _tied_and_bound(at)
    fc = _fc(at, embedding)
    states = tuple(_state(state, head, embedding, fc) for state in at.weights.parameters)
    for topic, provision in (("head", head), ("embedding", embedding)):
        at.notes.step(topic, provision.says, "worker.sharing" if topic == "head" else "worker.embedding")
    at.notes.step("map", mapping.says, "eagle3.map", "eagle3.no-map")
    return Running(head=head, embedding=embedding, map=mapping, fc=fc, parameters=states)


def both_bound(at: Situation) -> bool:
    """True if the worker binds the target's head as well as its embedding."""
    return at.method == "EAGLE" or (at.method == "EAGLE3" and at.built.head_from_target)


def _embedding(at: Situation) -> Provision:
    where = at.world.evidence("worker.embedding")
    apart = at.fields.has("target_hidden_size") and at.fields.get("target_hidden_size") != at.built.size.hidden
    if at.built.name == EAGLE3_MLA and at.fields.get("target_hidden_size") is None:
        apart = False
    if at.method != "STANDALONE" and (both_bound(at) or not apart):
        return Provision(provider="target", says="the target's embedding is bound", evidence=where)
    why = "STANDALONE binds nothing" if at.method == "STANDALONE" else "target_hidden_size differs from hidden_size"
    if EMBEDDING in at.weights.filled or not at.weights.visible:
        return Provision(provider="own", says=f"{why}: its own embedding stays", evidence=where)
    says = f"{why}, and the file has none: the embedding is uninitialised memory"
    return Provision(provider="uninitialised", says=says, evidence=where)


def _head(at: Situation) -> Provision:
    where = at.world.evidence("worker.sharing")
    if both_bound(at):
        asks = "EAGLE binds the target's head whatever the file has"
        says = asks if at.method == "EAGLE" else "draft_vocab_size is not set: the target's head is bound"
        return Provision(provider="target", says=says, evidence=where)
    if at.built.tied:
        says = "tie_word_embeddings: the head is the embedding, a head in the file is dropped"
        whose = _embedding(at).provider
        return Provision(provider="target-embedding" if whose == "target" else whose, says=says, evidence=where)
    if HEAD in at.weights.filled or not at.weights.visible:
        return Provision(provider="own", says="its own head stays", evidence=where)
    says = "the file has no head: it is uninitialised memory"
    return Provision(provider="uninitialised", says=says, evidence=where)


def _map(at: Situation) -> MapUse:
    where = at.world.evidence("eagle3.map", "eagle3.no-map")
    if at.built.name not in AUX_CLASSES:
        return MapUse(use="none", says="the class has no map", evidence=where)
    if at.method != "EAGLE3":
        says = f"{at.method} does not ask for the map: draft ids are taken for target ids"
        return MapUse(use="identity", says=says, evidence=where)
    if at.weights.mapped:
        _floating(at)
        return MapUse(use="offsets", says="draft id i stands for i + d2t[i]", evidence=where)
    if not at.weights.visible:
        return MapUse(use="none", says="whether there is a d2t cannot be seen", evidence=where)
    if at.world.text("eagle3.no-map") == "refused":
        places = (at.fields.at("draft_vocab_size", label="no d2t in the file"),)
        says = "the file has no d2t, and the worker asks for the map"
        at.notes.refuse(RefusalKind.TENSOR_REQUIRED, "load", says, "eagle3.no-map", at=places, tensors=("d2t",))
    return MapUse(use="identity", says="the file has no d2t: draft ids are taken for target ids", evidence=where)


def _floating(at: Situation) -> None:
    """The map is added to integers as it is: floats give floats, and the ids they draft go into an embedding.

    sglang 0.5.23, srt/models/llama_eagle3.py, LlamaForCausalLMEagle3.load_weights (d2t + arange), and
    srt/speculative/eagle_worker_v2.py (topk_index = hot_token_id[topk_index]).
    """
    if at.weights.map_dtype not in {"BF16", "F16", "F32", "F64"} or at.weights.map_at is None:
        return
    says = f"d2t is {at.weights.map_dtype}, so the drafted ids are no integers"
    at.notes.refuse(
        RefusalKind.VOCABULARY,
        "first-request",
        says,
        "eagle3.map",
        at=(at.weights.map_at,),
        measured={"dtype": at.weights.map_dtype},
        confidence=Confidence.LIKELY,
    )


def _tied_and_bound(at: Situation) -> None:
    """Head and embedding are one module: once its weight is deleted it cannot be deleted again."""
    if both_bound(at) and at.built.tied:
        says = "tie_word_embeddings makes head and embedding one module, and the worker replaces both"
        places = (at.fields.at("tie_word_embeddings"),)
        confidence = Confidence.LIKELY
        at.notes.refuse(RefusalKind.CONFIG_FIELD, "load", says, "worker.sharing", at=places, confidence=confidence)


def _fc(at: Situation, embedding: Provision) -> FcUse:
    """Whether fc is applied, and whether what is handed over fits at all."""
    built, hidden = at.built, at.built.size.hidden
    target = at.target.hidden_size.value if at.target.hidden_size else None
    fed = at.capture.width
    embeds = target if embedding.provider == "target" else hidden
    where = at.world.evidence("mla.fc-test" if built.name == EAGLE3_MLA else "eagle3.fc-test")
    if built.name in EAGLE1_CLASSES:
        joined = None if target is None or embeds is None else target + embeds
        if joined is not None and joined != 2 * hidden:
            _misfit(at, f"fc takes {2 * hidden} values and is fed {joined}", 2 * hidden, joined)
        says = "embedding and last state, side by side"
        evidence = at.world.evidence("eagle1.class")
        return FcUse(built=True, runs=True, takes=2 * hidden, fed=joined, says=says, evidence=evidence)
    if built.fusion is None:
        if embeds is not None and embeds != hidden:
            _misfit(at, f"the first norm takes {hidden} values and is fed the target's {embeds}", hidden, embeds)
        return FcUse(
            built=False, runs=False, fed=fed, says="the class has no fc", evidence=at.world.evidence("llama.loader")
        )
    takes = built.fusion.takes
    if at.method == "STANDALONE" and at.world.text("standalone.states") == "none":
        says = "STANDALONE hands over no states, and the class asks for some"
        places = (at.fields.at("architectures"),)
        at.notes.refuse(RefusalKind.METHOD_UNSUITABLE, "first-request", says, "standalone.states", at=places)
        return FcUse(built=True, runs=False, takes=takes, fed=None, says="nothing is handed over", evidence=where)
    if fed is None or embeds is None:
        return FcUse(built=True, runs=at.capture.active, takes=takes, fed=fed, says="widths not known", evidence=where)
    if fed == embeds:
        says = f"what is handed over is as wide as the embedding, {embeds}"
        if fed != hidden:
            _misfit(at, f"{fed} values a token reach norms made for {hidden}, past fc", hidden, fed)
        return FcUse(built=True, runs=False, takes=takes, fed=fed, says=says, evidence=where)
    if fed != takes:
        _misfit(at, f"fc takes {takes} values and is fed {fed}", takes, fed)
    says = f"{fed} values a token differ from the embedding's {embeds}"
    return FcUse(built=True, runs=True, takes=takes, fed=fed, says=says, evidence=where)


def _misfit(at: Situation, says: str, takes: int, fed: int) -> None:
    read = at.capture.read
    places: list[Location] = [read.at] if read else []
    places.append(at.fields.at("hidden_size"))
    if at.target.hidden_size:
        places.append(at.target.hidden_size.at)
    fact = "eagle1.class" if at.built.name in EAGLE1_CLASSES else "eagle3.fc-test"
    at.notes.refuse(
        RefusalKind.STATE_WIDTH,
        "first-request",
        says,
        fact,
        at=tuple(places),
        measured={"takes": takes, "fed": fed},
    )


def _state(state: ParameterState, head: Provision, embedding: Provision, fc: FcUse) -> ParameterState:
    if state.name == EMBEDDING and embedding.provider == "target":
        return replace(state, state="shared", holds="the target's embedding")
    if state.name == HEAD and head.provider == "target":
        return replace(state, state="shared", holds="the target's head")
    unused = fc.built and not fc.runs and ("model.fc" in state.name or state.name == "model.input_norm.weight")
    return replace(state, matters=False) if unused else state


def schemes(world: World, built: Built, capture: Capture, fields: Fields) -> Mapping[str, Scheme]:
    """The switches of an EAGLE-3 class as this release sets them."""
    if built.fusion is None:
        return {}
    prefix = "mla" if built.name == EAGLE3_MLA else "eagle3"
    output = world.flag(f"{prefix}.norm-output") and fields.true("norm_output")
    found = {
        "norm_before_residual": (
            False,
            "the residual is always the state before its norm",
            "eagle3.norm-before-residual",
        ),
        "fc_norm": (built.fusion.fc_norm, "fc_norm or use_aux_norm", f"{prefix}.fc-norm"),
        "input_norm": (built.fusion.input_norm, "norm_before_fc", "eagle3.norm-before-fc"),
        "norm_output": (output, "norm_output", f"{prefix}.norm-output"),
        "fc_bias": (built.fusion.bias, "bias", "eagle3.fc-bias"),
        "use_aux_hidden_state": (capture.active, "eagle_config.use_aux_hidden_state", "capture.use-aux-key"),
    }
    places = {"input_norm": "norm_before_fc", "fc_bias": "bias"}
    return {
        name: Scheme(
            on=on,
            settable=name != "norm_before_residual",
            says=says,
            at=fields.at(places.get(name, name)) if fields.has(places.get(name, name)) else None,
            evidence=world.evidence(key),
        )
        for name, (on, says, key) in found.items()
    }


def unread(world: World, built: Built, capture: Capture, fields: Fields, notes: Notes) -> None:
    """The fields of an EAGLE-3 config that this release does not read, or overrules."""
    if built.fusion is None:
        return
    is_mla = built.name == EAGLE3_MLA
    prefix = "mla" if is_mla else "eagle3"
    for ids in capture.ignored:
        name = (ids.at.pointer or "").strip("/").replace("/", ".")
        counted = "; it only sizes fc" if is_mla and "/" not in (ids.at.pointer or "").strip("/") else ""
        notes.unread(name, ids.at, f"layer ids are read under eagle_config only{counted}", "capture.ids-read")
    nbr = "norm_before_residual"
    laws = (
        (nbr, False, "eagle3.norm-before-residual"),
        ("fc_norm", world.flag(f"{prefix}.fc-norm"), f"{prefix}.fc-norm"),
        ("use_aux_norm", world.flag(f"{prefix}.fc-norm"), f"{prefix}.fc-norm"),
        ("norm_output", world.flag(f"{prefix}.norm-output"), f"{prefix}.norm-output"),
        ("norm_before_fc", not is_mla and world.flag("eagle3.norm-before-fc"), "eagle3.norm-before-fc"),
        ("num_aux_hidden_states", not is_mla and world.text("eagle3.fc-states") == "counted", "eagle3.fc-states"),
        ("bias", is_mla or world.text("eagle3.fc-bias") == "bias-key", "eagle3.fc-bias"),
    )
    for name, read, key in laws:
        if not read and fields.config.value.get(name):
            notes.unread(name, fields.config.at(name), f"SGLang {world.version} does not read it", key)
    for name, read, key in (
        ("use_aux_hidden_state", world.flag("capture.use-aux-key"), "capture.use-aux-key"),
        ("norm_before_fc", not is_mla and world.flag("eagle3.norm-before-fc"), "eagle3.norm-before-fc"),
        (nbr, False, "eagle3.norm-before-residual"),
        ("fc_norm", False, f"{prefix}.fc-norm"),
        ("norm_output", False, f"{prefix}.norm-output"),
    ):
        written = (fields.nested("eagle_config") or {}).get(name)
        if not read and written is not None and written is not (name == "use_aux_hidden_state"):
            at = fields.config.at("eagle_config", name)
            notes.unread(f"eagle_config.{name}", at, f"SGLang {world.version} does not read it", key)


def unread_flags(built: Built, method: str, request: LaunchRequest, notes: Notes) -> None:
    """Flags that are accepted and change nothing for this class."""
    token_map = request.options.get("--speculative-token-map")
    if token_map and method == "EAGLE3":
        says = "EAGLE3 takes the map from the drafter's d2t"
        notes.unread_flag(token_map.name, token_map.flag_at, says, "worker.token-map")
    window = request.options.get("--speculative-draft-window-size")
    if window and built.name == EAGLE3_MLA:
        says = f"{built.name} has no window of its own"
        notes.unread_flag(window.name, window.flag_at, says, "mla.loader")
