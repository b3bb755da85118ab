"""Method draft_model: a language model of its own, or an EAGLE checkpoint that is run as one."""

from __future__ import annotations

from drafter_lint.engines.plan import Capture, RefusalKind
from drafter_lint.engines.vllm import classes, language_model, limits, runner, timeline, weights
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.eagle import parallel_drafting
from drafter_lint.engines.vllm.slots import Kind
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Located


def run(case: Case, draft: Draft, view: View) -> None:
    """Plan method draft_model."""
    architecture = view.architecture
    registered = timeline.at(case.world, "registry.speculative", architecture.value) if architecture else None
    kind = classes.kind_of(registered) if registered else None
    served_by_v0 = case.world.flag("method.v1-only-if-named")
    if architecture is None or (registered and served_by_v0):
        draft.understood = False  # what V0 makes of a head is not modelled
        return
    if registered and kind is None:
        _no_language_model(case, draft, architecture, registered)
        return
    parallel = draft.parallel = parallel_drafting(case)
    if served_by_v0:
        language_model.v0(case)
    else:
        draft.runner = runner.choose(case, method="draft_model", parallel_drafting=parallel)
        limits.tensor_parallel(case, view)
        language_model.proposer(case, view, runner=draft.runner)
    language_model.vocabularies(case, draft, view)
    limits.context(case, view, runner=draft.runner, shared=False)
    if parallel:
        limits.mask_token(case, view)
    draft.architecture = architecture.value
    if kind is not None:
        _as_draft_model(case, draft, view, kind)
        return
    language_model.loaded(case, draft, view, architecture)


def _as_draft_model(case: Case, draft: Draft, view: View, kind: Kind) -> None:
    """A head: built from its own architecture, called without states."""
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


def _no_language_model(case: Case, draft: Draft, architecture: Located[str], registered: str) -> None:
    """A class for another method: whatever it loads, a plain draft model is called with tokens alone."""
    draft.architecture, draft.draft_class = architecture.value, registered.rpartition(".")[2]
    says = f"{draft.draft_class} drafts from the target's states, and a plain draft model is called without any"
    case.refuse(
        RefusalKind.METHOD_UNSUITABLE,
        "first-request",
        says,
        at=place(case, "method"),
        keys=("method.otherwise", "registry.speculative"),
        confidence=Confidence.LIKELY,
    )
