"""Methods medusa and mlp_speculator: heads on the target's last state, each drafting one position."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from drafter_lint.checkpoint import TensorTable
from drafter_lint.engines.loading import Discard, Lookup, Policy, Route, Slot, load
from drafter_lint.engines.plan import Capture, MapUse, Provision, RefusalKind
from drafter_lint.engines.vllm import limits, runner, slots, timeline, weights
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Located

_MOST = 64
_POSITION = re.compile(r"^(?:blocks|lm_heads|emb|proj|head|ln)\.(\d{1,3})\.")
_OLD = re.compile(r"^(\d{1,3})\.(\d{1,3})\.(.+)$")


def run(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """Plan method medusa or mlp_speculator."""
    architecture = view.architecture
    medusa = draft.method == "medusa"
    name = architecture.value if architecture else "MedusaModel" if medusa else "MLPSpeculatorPreTrainedModel"
    at = architecture.at if architecture else view.raw.at("architectures")
    registered = timeline.at(case.world, "registry.speculative", name)
    if registered is None:
        return  # refused already
    draft.architecture, draft.draft_class = name, registered.rpartition(".")[2]
    case.step("class", f"{name} is {registered}", "registry.speculative", at=at)
    if not case.world.flag("method.v1-only-if-named"):
        draft.runner = runner.choose(case, method=draft.method, parallel_drafting=False)
    limits.tensor_parallel(case, view)
    where = case.evidence("registry.speculative")
    width = case.target.hidden_size.value if case.target.hidden_size else None
    draft.capture = Capture(active=False, width=width, evidence=where)
    own = Provision(provider="own", says="each position has a head of its own", evidence=where)
    none = Provision(provider="none", says="Medusa reads no tokens", evidence=where)
    draft.head, draft.embedding = own, none if medusa else own
    draft.map = MapUse(use="identity", says="drafted over the target's own vocabulary", evidence=where)
    wide = "hidden_size" if medusa else "emb_dim"
    takes = view.integer(wide) or (None if medusa else view.integer("hidden_size"))
    if width is not None and takes is not None and width != takes:
        says = f"the target hands over {width} elements a token, the heads take {takes}"
        measured = {"fed": width, "takes": takes}
        case.refuse(
            RefusalKind.STATE_WIDTH,
            "first-request",
            says,
            at=view.at(wide),
            keys=("registry.speculative",),
            measured=measured,
        )
    count = given.value if given is not None else view.n_predict
    found = weights.table(case)
    if count is None or count <= 0 or takes is None or found is None:
        return
    built = _medusa(case, view, takes, count=count) if medusa else _mlp(view, takes, count=count)
    _load(case, draft, found, built, old=medusa and case.world.flag("medusa.old-names"), count=count)
    _heads(case, view, count=count, medusa=medusa)


def _heads(case: Case, view: View, *, count: int, medusa: bool) -> None:
    """The setter of num_lookahead_tokens puts the drafted tokens in place of the declared heads."""
    declared = next((found for key in _HEAD_KEYS if (found := view.get(key)) is not None), None)
    if medusa and declared is not None and isinstance(declared.value, int) and declared.value != count:
        says = "as many heads are built as tokens are drafted"
        case.rewrite("num_heads", (str(declared.value), str(count)), says, "medusa.old-names", at=declared.at)


_HEAD_KEYS = ("num_heads", "medusa_num_heads")
_BLOCK_KEYS = ("num_hidden_layers", "medusa_num_layers", "num_layers")


def _medusa(case: Case, view: View, hidden: int, *, count: int) -> dict[str, Slot]:
    layers = next((found for key in _BLOCK_KEYS if (found := view.integer(key)) is not None), 1)
    target = case.target.vocab_size
    forced = case.world.flag("method.medusa-forced") and target is not None
    vocab = target.value if forced and target else view.integer("vocab_size") or 32001
    truncated = view.integer("truncated_vocab_size") or vocab
    made: dict[str, Slot] = {}
    for head in range(min(count, _MOST)):
        for layer in range(min(layers, _MOST)):
            front = f"blocks.{head}.layers.{layer}."
            made |= dict((slots.one(f"{front}weight", (hidden, hidden)),))
            if view.flag("medusa_fc_bias"):
                made |= dict((slots.one(f"{front}bias", (hidden,)),))
        if not view.flag("original_lm_head"):
            made |= dict((slots.one(f"lm_heads.{head}.weight", (vocab, hidden), fit="rows"),))
    if view.flag("original_lm_head"):
        made |= dict((slots.one("lm_head.weight", (truncated, hidden), fit="rows"),))
    return made


def _mlp(view: View, width: int, *, count: int) -> dict[str, Slot]:
    inner, vocab = view.integer("inner_dim") or width, view.integer("vocab_size") or 32000
    tied = view.flag("tie_weights")
    made: dict[str, Slot] = {}
    for index in range(min(count, _MOST)):
        own = 0 if tied else index
        made |= dict((slots.one(f"emb.{own}.weight", (vocab, inner), fit="rows"),))
        made |= dict((slots.one(f"head.{own}.weight", (vocab, inner), fit="rows"),))
        made |= dict(slots.one(f"ln.{own}.{part}", (inner,), holds="ones") for part in ("weight", "bias"))
        projection = min(index, 1) if tied else index
        made |= dict((slots.one(f"proj.{projection}.weight", (inner, width if index == 0 else inner)),))
    return made


def _load(case: Case, draft: Draft, found: TensorTable, built: Mapping[str, Slot], *, old: bool, count: int) -> None:
    named: Callable[[str], str] = _renamed if old else _stripped

    def route(name: str) -> Route:
        inner = named(name)
        if inner in built:
            return Lookup(inner)
        further = _POSITION.match(inner)
        if further is not None and int(further[1]) >= count:
            return Discard("a head for a position that is not drafted", expected=True)
        return Discard("no parameter of that name; the class passes over it")

    policy = Policy(
        route=route,
        unexpected="drop",
        unexpected_says="the class passes over it",
        evidence=case.evidence("registry.speculative"),
    )
    loaded = load(built, found, policy)
    case.notes.refusals.extend(loaded.refusals)
    draft.tensors, draft.parameters = loaded.tensors, loaded.parameters
    strict = case.world.text("loader.complete") == "every parameter"
    empty = [state.name for state in loaded.parameters if state.state == "unfilled" and (strict or _plain(state.name))]
    if empty:
        says = f"{len(empty)} parameters of the heads are not in the file, the first is {empty[0]}"
        case.refuse(
            RefusalKind.TENSOR_REQUIRED,
            "load",
            says,
            at=found.at(empty[0], "not in the file"),
            keys=("loader.complete",),
            measured={"missing": len(empty)},
            tensors=tuple(empty),
        )


def _plain(parameter: str) -> bool:
    return parameter.startswith(("blocks.", "proj.", "ln."))


def _stripped(name: str) -> str:
    return name.replace("medusa_heads.", "").replace("speculator.", "")


def _renamed(name: str) -> str:
    """FasterDecoding's names: ``head.layer.linear.weight``, and what follows the layers is the head itself."""
    inner = _stripped(name)
    match = _OLD.match(inner)
    if match is None:
        return inner
    head, layer, rest = match.groups()
    if "linear" in rest.split("."):
        return f"blocks.{head}.layers.{layer}.{rest.rpartition('linear.')[2]}"
    return f"lm_heads.{head}.{rest}"
