"""An EAGLE checkpoint that runs as a plain draft model: built from its own architecture, called without states."""

from __future__ import annotations

from drafter_lint.engines.plan import Capture, RefusalKind
from drafter_lint.engines.vllm import classes, limits, runner, timeline, weights
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.eagle import parallel_drafting
from drafter_lint.engines.vllm.slots import Kind
from drafter_lint.engines.vllm.view import View


def run(case: Case, draft: Draft, view: View) -> None:
    """Plan method draft_model; only what an EAGLE checkpoint meets there is modelled."""
    if case.world.flag("method.v1-only-if-named"):
        draft.understood = False
        return
    draft.runner = runner.choose(case, method="draft_model", parallel_drafting=parallel_drafting(case))
    _vocabularies(case, view)
    limits.tensor_parallel(case, view)
    architecture = view.architecture
    registered = timeline.at(case.world, "registry.speculative", architecture.value) if architecture else None
    kind = classes.kind_of(registered) if registered else None
    if architecture is None or (registered and kind is None):
        draft.understood = False
        return
    draft.architecture = architecture.value
    if kind is not None:
        _as_draft_model(case, draft, view, kind)
        return
    strange = [name for name in weights.names(case) if name.partition(".")[0] not in {"model", "lm_head"}]
    if not strange:
        draft.understood = False
        return
    draft.draft_class = architecture.value
    case.refuse(
        RefusalKind.TENSOR_UNEXPECTED,
        "load",
        f"as a plain draft model {architecture.value} has no place for {strange[0]}",
        at=case.drafter.tensors.at(strange[0]),
        keys=("loader.names-checked",),
        tensors=tuple(strange),
    )


def _as_draft_model(case: Case, draft: Draft, view: View, kind: Kind) -> None:
    drafter = classes.build(case, view, kind, names=frozenset())
    if drafter is None:
        return
    draft.draft_class, draft.takes_aux = drafter.name, drafter.takes_aux
    found = weights.table(case)
    if found is not None:
        loaded = weights.loaded(case, drafter, found, parallel_drafting=parallel_drafting(case))
        case.notes.refusals.extend(loaded.refusals)
        draft.tensors, draft.parameters = loaded.tensors, loaded.parameters
    width = case.target.hidden_size.value if case.target.hidden_size else None
    draft.capture = Capture(active=False, width=width)
    case.refuse(
        RefusalKind.METHOD_UNSUITABLE,
        "first-request",
        f"{drafter.name} needs the target's states, and a plain draft model is called without any",
        at=place(case, "method"),
        keys=("method.otherwise", "registry.speculative"),
    )


def _vocabularies(case: Case, view: View) -> None:
    vocab, target = view.integer("vocab_size"), case.target.vocab_size
    mixed = case.request.speculative_config.get("use_heterogeneous_vocab")
    if vocab is None or target is None or vocab == target.value or (mixed is not None and mixed.value is True):
        return
    says = f"a plain draft model must have the target's vocabulary: {vocab} ids against {target.value}"
    case.refuse(RefusalKind.VOCABULARY, "config", says, at=view.at("vocab_size"), keys=("method.otherwise",))
