"""The plan: every step of vLLM's start with a drafter, in order, going on after a refusal."""

from __future__ import annotations

from drafter_lint.engines.plan import Plan, RefusalKind
from drafter_lint.engines.vllm import (
    architecture,
    arguments,
    block,
    eagle,
    flag_laws,
    heads,
    limits,
    method,
    plain,
    prediction,
    speculators,
    unaided,
    weights,
)
from drafter_lint.engines.vllm import view as views
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.draft import Draft, finished
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Located
from drafter_lint.launch import Unresolved


def make(case: Case) -> Plan:
    """Plan one drafter, target and request."""
    draft = Draft()
    served = _served(case)
    if not case.request.speculative_config and case.request.drafter is None and not served:
        draft.speculates = False
        case.step("method", "no speculative configuration is given", "flags.keys")
        arguments.check(case)
        return finished(case, draft)
    arguments.check(case)
    if served and case.world.text("config.speculators-served") == "verifier alone":
        draft.speculates, draft.origin = False, "checkpoint"
        says = "the served model is a speculator: its verifier is put in its place, and nothing is drafted"
        case.step("method", says, "config.speculators-served", at=case.drafter.config.at("speculators_config"))
        return finished(case, draft)
    if any(isinstance(value.value, Unresolved) for value in case.request.speculative_config.values()):
        case.step("method", "a speculative key holds a variable whose value is not known here")
        draft.understood = False
        return finished(case, draft)
    _start(case, draft, served=served)
    return finished(case, draft)


def _served(case: Case) -> bool:
    """True if the drafter itself is what is served: its speculators config then brings target and method."""
    asked = case.request.target
    if case.request.drafter is not None or case.request.speculative_config or asked is None:
        return False
    same = asked.value == case.drafter.reference.spelling
    return same and speculators.is_one(case.drafter.config) and bool(case.world.names("config.speculators-types"))


def _start(case: Case, draft: Draft, *, served: bool) -> None:
    given = case.request.num_speculative_tokens
    if served:
        kind = case.drafter.config.string("speculators_model_type")
        at = case.drafter.config.at("speculators_model_type")
        name = {"peagle": "eagle3", "dflash2": "dflash"}.get(kind.value, kind.value) if kind else None
        chosen = method.Method(name, "checkpoint", at)
        given = speculators.tokens(case.drafter.config)
        case.step(
            "method",
            "the served model is a speculator: its own config names method and target",
            "config.speculators-types",
            at=at,
        )
    else:
        chosen = method.before_config(case)
    draft.method, draft.origin = chosen.name, chosen.origin
    if chosen.name == "custom_class":
        draft.understood = False
        return
    if chosen.name in unaided.METHODS:
        flag_laws.check(case, chosen.name)
        unaided.run(case, draft, given=given)
        return
    view = views.read(case, served=served)
    if view is None:
        limits.tokens(case, view, given=given)
        return
    architecture.registered(case, view)
    if not served:
        chosen = method.after_config(case, chosen, view)
    draft.method, draft.origin = chosen.name, chosen.origin
    if chosen.name != "dspark":  # has laws of its own
        limits.tokens(case, view, given=given)
    flag_laws.check(case, chosen.name)
    _v0(case, draft, chosen)
    if draft.understood and chosen.name is not None:
        _drafted(case, draft, view, given=given)


def _drafted(case: Case, draft: Draft, view: View, *, given: Located[int] | None) -> None:
    """What the method does with the drafter."""
    name = draft.method or ""
    if name in {"eagle", "eagle3"}:
        eagle.run(case, draft, view)
    elif name == "draft_model":
        plain.run(case, draft, view)
    elif name == "mtp" or name.endswith("_mtp"):
        prediction.run(case, draft, view, given=given)
    elif name in {"medusa", "mlp_speculator"}:
        heads.run(case, draft, view, given=given)
    elif name in {"dflash", "dspark"}:
        block.run(case, draft, view, given=given)
    else:
        draft.understood = False


def _v0(case: Case, draft: Draft, chosen: method.Method) -> None:
    """Releases with both engines use V1 only for methods that were written out, and the older one not even then."""
    named = chosen.origin == "flag" and chosen.name in {"eagle", "eagle3"}
    if not case.world.flag("method.v1-only-if-named") or (named and _served_by_v1(case)):
        return
    if chosen.name == "draft_model":  # what V0 does with one is modelled
        return
    if chosen.name is not None and chosen.name not in {"eagle", "eagle3"}:
        _older_engine(case, chosen)
        return
    why = "this release runs it in V1 only with VLLM_USE_V1=1" if named else f"{chosen.name} was not asked for by name"
    says = f"{why}, so the V0 engine serves; what it does with a drafter is not modelled"
    case.step("runner", says, "method.v1-eagle" if named else "method.v1-only-if-named", at=chosen.at)
    draft.understood = False
    layers = [name for name in weights.names(case) if "midlayer." in name or "d2t" in name]
    if layers:
        case.refuse(
            RefusalKind.TENSOR_UNEXPECTED,
            "load",
            f"V0's EAGLE class has no place for {layers[0]}",
            at=case.drafter.tensors.at(layers[0]),
            keys=("method.v1-only-if-named",),
            tensors=tuple(layers),
            confidence=Confidence.LIKELY,
        )


def _served_by_v1(case: Case) -> bool:
    asked = case.request.environment.get("VLLM_USE_V1")
    forced = asked is not None and asked.value.strip().lower() in {"1", "true"}
    return forced or case.world.text("method.v1-eagle") == "V1"


def _older_engine(case: Case, chosen: method.Method) -> None:
    """Heads and prediction layers: V0 serves them with the same class and file wherever V1 does not know them."""
    typed = case.request.method
    named = typed is not None and typed.value in case.world.names("method.v1-names")
    engine = "V1" if named else "V0"
    case.step("runner", f"the {engine} engine serves {chosen.name}", "method.v1-names", at=chosen.at)
    asked = case.request.environment.get("VLLM_USE_V1")
    if named or asked is None or asked.value.strip().lower() not in {"1", "true"}:
        return
    says = f"VLLM_USE_V1 forces the V1 engine, which does not run {chosen.name}"
    case.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, at=asked.at, keys=("method.v1-names",))
