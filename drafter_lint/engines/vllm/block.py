"""Methods dflash and dspark: a block of tokens drafted at once from states captured in the target."""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.checkpoint import TensorTable
from drafter_lint.engines.loading import Discard, Loaded, Lookup, Policy, Route, load
from drafter_lint.engines.plan import FcUse, RefusalKind, TensorFate
from drafter_lint.engines.vllm import architecture as architectures
from drafter_lint.engines.vllm import block_capture, block_slots, capture, limits, packed, provision, runner, timeline
from drafter_lint.engines.vllm import weights as loading
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Located

#: Registry modules whose classes are followed tensor by tensor.
_FOLLOWED = {"qwen3_dflash": "dflash", "qwen3_dspark": "dspark"}
_VARIABLE = runner.VARIABLE
_MASK_FILE = "mask_embedding.pt"


def run(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """Plan method dflash or dspark."""
    name = draft.method or ""
    draft.parallel = True
    capture.allowed(case, name)
    limits.tensor_parallel(case, view)
    if name == "dflash":
        limits.ranks_of_head(case, view)
    draft.runner = _runner(case, view, name)
    limits.context(case, view, runner=draft.runner)
    _tokens(case, draft, view, given=given)
    architecture = architectures.spark(case, view) if name == "dspark" else architectures.block_drafter(case, view)
    if architecture is None:
        return
    draft.architecture = architecture.value
    registered = timeline.at(case.world, "registry.speculative", architecture.value)
    if registered is None:
        return  # refused already
    draft.draft_class, draft.takes_aux = registered.rpartition(".")[2], True
    case.step("class", f"{architecture.value} is {registered}", "registry.speculative", at=architecture.at)
    capture.hooked(case)
    _anchor(case, view, name, runner=draft.runner)
    limits.mask_token(case, view, runner=draft.runner)
    draft.capture = block_capture.capture(case, view, runner=draft.runner)
    if architecture.value == "DSparkDraftModel":
        packed.named_twice(case)
    followed = _FOLLOWED.get(registered.rpartition(".")[0])
    if followed is None or name != followed:
        case.step("weights", f"{draft.draft_class} loads its own layers; which tensor goes where is not followed")
        return
    _load(case, draft, view)


def _runner(case: Case, view: View, method: str) -> str:
    chosen = runner.choose(case, method=method, parallel_drafting=True)
    spark = method == "dspark"
    mixed = not spark and _mixed(view) and case.world.flag("block.mixed-attention-v2")
    name = view.architecture.value if view.architecture else ""
    headed = not spark and name in case.world.names("block.v2-only")
    if chosen == "v2" or not (spark or mixed or headed):
        return chosen
    asked = case.request.environment.get(_VARIABLE)
    what = "dspark" if spark else name if headed else "a drafter with sliding and full attention"
    keys = ("block.v2-only",) if headed else ("block.mixed-attention-v2",)
    if asked is None:
        case.step("runner", f"model runner v2: {what} runs in no other", *keys)
        return "v2"
    says = f"{_VARIABLE}={asked.value} forces model runner V1, which does not run {what}"
    case.refuse(RefusalKind.METHOD_UNSUITABLE, "config", says, at=asked.at, keys=keys)
    return chosen


def _mixed(view: View) -> bool:
    found = view.get("layer_types")
    kinds = set(found.value) if found is not None and isinstance(found.value, list) else set()
    return "sliding_attention" in kinds and len(kinds) > 1


def _tokens(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """How many tokens a block was trained to hold, and what stands in for a count that is not given."""
    size = view.integer("block_size") or view.integer("dspark_block_size")
    spark = draft.method == "dspark"
    law = case.world.text("dspark.tokens") if spark else "as given"
    own = view.integer("dspark_block_size")
    at = given.at if given else place(case, "num_speculative_tokens")
    named = case.request.drafter is not None  # without a model, nothing stands in for the count
    if given is None and law == "block size stands in" and size and (named or draft.origin == "checkpoint"):
        case.step("tokens", f"num_speculative_tokens is not given: {size}, the block's size", "dspark.tokens", at=at)
    elif given is None and (spark or view.n_predict is None):
        says = "num_speculative_tokens is not given, and this release takes no block size in its place"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("flags.keys",))
    elif given is not None and law.startswith("at least") and own and given.value < own:
        says = f"num_speculative_tokens is {given.value}; this release wants dspark_block_size {own} or more"
        case.refuse(RefusalKind.TOKEN_COUNTS, "config", says, at=at, keys=("dspark.tokens",))
    if size:
        anchored = view.get("sample_from_anchor")
        first = bool(anchored.value) if anchored is not None else spark
        draft.trained_steps = size if first else size - 1


def _anchor(case: Case, view: View, name: str, *, runner: str) -> None:
    found = view.get("dflash_config")
    nested = found.value if found is not None and isinstance(found.value, dict) else {}
    if name == "dflash" and runner == "v2" and nested.get("sample_from_anchor") and case.world.flag("block.anchor"):
        says = "sample_from_anchor is true: V2 does not draft from the anchor's own position with dflash"
        case.refuse(RefusalKind.CONFIG_FIELD, "load", says, at=view.layers.at("dflash_config"), keys=("block.anchor",))


def _load(case: Case, draft: Draft, view: View) -> None:
    spark = draft.method == "dspark"
    found = loading.table(case)
    names = frozenset(found) if found is not None else frozenset()
    drafter = block_slots.build(case, view, spark=spark, names=names)
    if drafter is None or draft.capture is None:
        return
    draft.fc = _fc(case, drafter, draft)
    if not spark:
        _sliding(case, view)
    if found is None:
        return
    if view.flag("quantization_config") or case.request.draft_quantization is not None:
        case.step("weights", "the drafter is quantised: where its tensors go is not followed", "loader.names-checked")
        return
    own = loading.own(found)
    loaded = _loaded(case, drafter, found, spark=spark)
    case.notes.refusals.extend(loaded.refusals)
    if spark:
        _vocabulary(case, drafter, own, found)
    provided = provision.provide(case, drafter, own, parameters=loaded.parameters, method="eagle3", runner=draft.runner)
    draft.tensors = loaded.tensors + (() if spark else _mask_file(case))
    draft.parameters = provided.parameters
    draft.head, draft.embedding, draft.map = provided.head, provided.embedding, provided.map


def _sliding(case: Case, view: View) -> None:
    found = view.get("layer_types")
    if found is None or not isinstance(found.value, list) or "sliding_attention" not in found.value:
        return
    if case.world.text("block.sliding-layers") == "not read":
        says = "sliding layers are run as full ones, and not causally"
        case.ignore_field("layer_types", found.at, says, "block.sliding-layers")


def _mask_file(case: Case) -> tuple[TensorFate, ...]:
    """The mask token's embedding in a file of its own, where this release does not open it."""
    if _MASK_FILE not in case.drafter.source.files or case.world.text("block.mask-file") == "opened":
        return ()
    says = "the file is not opened: a place to be filled in is given the mask token's row of the embedding"
    return (TensorFate(name=_MASK_FILE, fate="dropped", says=says, evidence=case.evidence("block.mask-file")),)


def _fc(case: Case, drafter: DraftClass, draft: Draft) -> FcUse:
    where = case.evidence("block.fc-count")
    fed = draft.capture.width if draft.capture else None
    if drafter.fc_input is None:
        says = "use_aux_hidden_state is false: the class has no fc"
        return FcUse(built=False, runs=False, fed=fed, says=says, evidence=where)
    says = "applied to what is handed over"
    use = FcUse(built=True, runs=True, takes=drafter.fc_input, fed=fed, says=says, evidence=where)
    case.step("fc", says, "block.fc-count")
    captured = draft.capture
    if fed is not None and captured is not None and fed != drafter.fc_input:
        case.refuse(
            RefusalKind.STATE_WIDTH,
            "load" if draft.runner == "v2" else "first-request",
            f"{len(captured.boundaries)} states make {fed} elements a token; fc takes {drafter.fc_input}",
            at=captured.read.at if captured.read else case.drafter.config.at(),
            keys=(f"block.reading-{draft.runner}", "block.fc-count"),
            measured={"fed": fed, "takes": drafter.fc_input, "states": len(captured.boundaries)},
        )
    return use


def _loaded(case: Case, drafter: DraftClass, found: TensorTable, *, spark: bool) -> Loaded:
    auto = case.world.text("loader.names-checked") == "AutoWeightsLoader"
    says = "no module or parameter of that name: the loader raises" if auto else "the loader's lookup raises KeyError"
    policy = Policy(
        route=lambda name: _route(case, drafter, name, spark=spark),
        unexpected="refuse",
        unexpected_says=says,
        evidence=case.evidence("loader.names-checked"),
    )
    loaded = load(drafter.slots, found, policy)
    masks = [name for name in found if "mask_hidden" in name]
    if not masks:
        return loaded
    says = f"{masks[0]} is a P-EAGLE head's; this loader stops at one"
    case.refuse(
        RefusalKind.TENSOR_UNEXPECTED,
        "load",
        says,
        at=found.at(masks[0]),
        keys=("block.mask-embedding",),
        tensors=(masks[0],),
    )
    told = tuple(refusal for refusal in loaded.refusals if refusal.tensors != (masks[0],))
    return replace(loaded, refusals=told)


_TABLES = ("rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")


def _route(case: Case, drafter: DraftClass, name: str, *, spark: bool) -> Route:
    if "t2d" in name:
        return Discard("t2d is skipped by name", expected=True)
    if any(part in name for part in _TABLES):
        return Discard("rotary tables are skipped", expected=True)
    if "d2t" in name:
        return Lookup(name.replace("d2t", provision.MAP))
    if "lm_head" in name:
        return Lookup(name)
    inner = f"model.{name}".replace("midlayer.", "layers.0.")
    if case.world.flag("block.encoder-names"):
        inner = inner.replace("encoder.output_norm_enc.", "hidden_norm.").replace("encoder.fc.", "fc.")
    if inner in drafter.slots:
        return Lookup(inner)
    return _skipped(case, drafter, inner, spark=spark) or Lookup(inner)


def _skipped(case: Case, drafter: DraftClass, inner: str, *, spark: bool) -> Discard | None:
    """A name without a parameter that the loader was told to leave out."""
    if drafter.fc_input is None and "fc." in inner:
        return Discard("use_aux_hidden_state is false: every name with fc. is skipped without a word")
    if spark and "confidence_head" in inner:
        return Discard("no confidence head is built: its tensors are skipped", expected=True)
    if spark and "mask_embedding" in inner:
        return Discard("DSpark takes the mask token's own row", expected=True)
    module = inner.rpartition(".")[0]
    for part in (".q_proj", ".k_proj", ".v_proj"):
        module = module.replace(part, ".qkv_proj")
    modules = {slot.parameter.rpartition(".")[0] for slot in drafter.slots.values()}
    if inner.endswith(".bias") and module in modules and case.world.flag("loader.bias-ignored"):
        return Discard("a bias its module does not have; dropped without a word")
    return None


def _vocabulary(case: Case, drafter: DraftClass, own: loading.Own, found: TensorTable) -> None:
    """What DSpark's class asks of a vocabulary that is not the target's."""
    target = case.target.vocab_size
    if target is None or case.world.text("dspark.vocabulary") != "refused":
        return
    drafted, whole = drafter.draft_vocab or 0, drafter.numbers["vocab_size"]
    missing = []
    if drafted < target.value:
        missing += [] if own.head else ["lm_head.weight"]
        missing += [] if own.map else ["d2t"]
    if whole > target.value and not own.embedding:
        missing.append("embed_tokens.weight")
    if missing:
        says = f"a vocabulary of {drafted} against the target's {target.value} needs {', '.join(missing)} in the file"
        case.refuse(
            RefusalKind.VOCABULARY,
            "load",
            says,
            at=found.at(missing[0], "not in the file"),
            keys=("dspark.vocabulary",),
            measured={"draft_vocab_size": drafted, "target": target.value},
            confidence=Confidence.CERTAIN,
        )
