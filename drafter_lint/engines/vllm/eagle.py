"""An EAGLE method run with a drafter: class, captured states, weights, and what they leave behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from drafter_lint.engines.plan import FcUse, ParameterState, RefusalKind
from drafter_lint.engines.vllm import architecture as architectures
from drafter_lint.engines.vllm import capture, classes, fields, limits, provision, runner, timeline, weights
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft
from drafter_lint.engines.vllm.slots import Kind
from drafter_lint.engines.vllm.view import View


def run(case: Case, draft: Draft, view: View) -> None:
    """Plan method eagle or eagle3."""
    name = draft.method or ""
    parallel = parallel_drafting(case) or (draft.origin == "checkpoint" and view.speculators == "peagle")
    capture.allowed(case, name)
    limits.tensor_parallel(case, view)
    limits.ranks_of_head(case, view)
    draft.runner = runner.choose(case, method=name, parallel_drafting=parallel)
    limits.context(case, view, runner=draft.runner)
    architecture = architectures.rewritten(case, view, name)
    if architecture is None:
        return
    draft.architecture = architecture.value
    registered = timeline.at(case.world, "registry.speculative", architecture.value)
    if registered is None:
        if view.architecture is None or architecture.value != view.architecture.value:
            stage: Literal["config", "load"] = (
                "config" if case.world.text("config.eagle-rewrite-checked") == "config" else "load"
            )
            case.refuse(
                RefusalKind.ARCHITECTURE_UNREGISTERED,
                stage,
                f"no class is registered for {architecture.value}, which method {name} makes of the architecture",
                at=architecture.at,
                keys=("registry.speculative", "config.eagle-rewrite"),
            )
        return
    kind = classes.kind_of(registered)
    case.step("class", f"{architecture.value} is {registered}", "registry.speculative", at=architecture.at)
    if kind is None:
        draft.draft_class = registered.rpartition(".")[2]
        draft.understood = False
        return
    _load(case, draft, view, kind=kind, parallel=parallel)


def _load(case: Case, draft: Draft, view: View, *, kind: Kind, parallel: bool) -> None:
    name = draft.method or ""
    found = weights.table(case)
    drafter = classes.build(case, view, kind, names=frozenset())
    if drafter is None:
        return
    draft.draft_class, draft.takes_aux = drafter.name, drafter.takes_aux
    if found is not None:
        drafter = classes.build(case, view, kind, names=weights.canonical(case, drafter, found)) or drafter
    active = capture.wanted(case, view, method=name, runner=draft.runner)
    if active:
        capture.hooked(case)
    draft.capture = capture.capture(case, view, active=active, runner=draft.runner)
    draft.fc = capture.fc_use(case, view, drafter, captured=draft.capture, runner=draft.runner, method=name)
    draft.schemes = fields.schemes(case, view, drafter, parallel_drafting=parallel)
    fields.ignored(case, view, drafter, captured=draft.capture, runner=draft.runner)
    if parallel:
        _parallel(case, view, drafter)
    if name == "eagle3" and draft.runner == "v1" and drafter.name not in case.world.names("capture.proposer-classes"):
        says = f"the proposer of this release does not expect {drafter.name}"
        keys = ("capture.proposer-classes",)
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "first-request", says, keys=keys)
    if found is None:
        return
    if view.flag("quantization_config") or case.request.draft_quantization is not None:
        case.step("class", "the drafter is quantised: where its tensors go is not followed", "loader.names-checked")
        return
    loaded = weights.loaded(case, drafter, found, parallel_drafting=parallel)
    case.notes.refusals.extend(loaded.refusals)
    parameters = tuple(state for state in loaded.parameters if state.name != weights.MASK)
    parameters = tuple(_matters(state, draft.fc) for state in parameters)
    own = weights.own(found)
    provided = provision.provide(case, drafter, own, parameters=parameters, method=name, runner=draft.runner)
    draft.tensors, draft.parameters = loaded.tensors, provided.parameters
    draft.head, draft.embedding, draft.map = provided.head, provided.embedding, provided.map


def _matters(state: ParameterState, fc: FcUse | None) -> ParameterState:
    before_fc = state.name.startswith(("model.fc.", "model.fc_norm.", "model.input_norm."))
    return replace(state, matters=False) if before_fc and fc is not None and not fc.runs else state


def parallel_drafting(case: Case) -> bool:
    """True if the command asks for it, in a release that knows the key."""
    value = case.request.speculative_config.get("parallel_drafting")
    read = timeline.at(case.world, "flags.keys", "parallel_drafting") is not None
    return read and value is not None and value.value is True


def _parallel(case: Case, view: View, drafter: classes.DraftClass) -> None:
    limits.mask_token(case, view)
    if drafter.kind in {"mla", "eagle1"}:
        says = f"{drafter.name} has no mask_hidden, which parallel drafting reads"
        at = place(case, "parallel_drafting")
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "load", says, at=at, keys=("class.mask-hidden",))
