"""Which method a command ends in: ``SpeculativeConfig.__post_init__``, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.arguments import place
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Location

Origin = Literal["flag", "name", "default", "checkpoint"]
#: Methods that run without a draft model of their own.
_WITHOUT_MODEL = {"ngram", "[ngram]", "ngram_gpu", "suffix", "extract_hidden_states", "custom_class"}


@dataclass(frozen=True, slots=True)
class Method:
    """A method and how it was arrived at; None while nothing is decided."""

    name: str | None
    origin: Origin
    at: Location


def before_config(case: Case) -> Method:
    """What is decided before the drafter's config is read."""
    typed = case.request.method
    model = case.request.drafter.value if case.request.drafter else None
    method = Method(typed.value if typed else None, "flag", typed.at if typed else place(case, "method"))
    if method.name is not None:
        method = _known(case, method)
    if method.name == "draft_model" and method.origin == "flag" and case.world.flag("method.draft-model-refused"):
        says = "this release runs no plain draft model, and refuses the word whatever the path leads to"
        keys = ("method.draft-model-refused",)
        case.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, at=method.at, keys=keys)
    if _is_custom_class(case, model, method):
        case.step(
            "method",
            f"{model!r} reads as a dotted import path: custom_class",
            "method.custom-class",
            at=place(case, "model"),
        )
        return Method("custom_class", "name", place(case, "model"))
    if method.name is None and model in {"ngram", "[ngram]"}:
        return Method("ngram", "name", place(case, "model"))
    provisional = case.world.text("method.provisional")
    if method.name is None and provisional:
        case.step("method", f"no method given: {provisional} until something else is found", "method.provisional")
        method = Method(provisional, "default", method.at)
    if method.name and timeline.at(case.world, "methods.mtp-aliases", method.name) is not None:
        case.rewrite("method", (method.name, "mtp"), "an older name of mtp", "methods.mtp-aliases", at=method.at)
        method = Method("mtp", method.origin, method.at)
    if model is None:
        _without_model(case, method)
    return method


def after_config(case: Case, method: Method, view: View) -> Method:
    """The chain of guesses over path, architecture and model_type; the first that fits wins."""
    if method.name in case.world.names("method.kept"):
        case.step("method", f"{method.name} was asked for and is kept", "method.kept", at=method.at)
        return method
    path = case.request.drafter.value if case.request.drafter else case.drafter.reference.spelling
    for part, name in case.world.table("method.by-name").items():
        if part in path.lower():
            asked = f", whatever was asked for ({method.name})" if method.origin == "flag" and method.name else ""
            says = f"the path {path!r} contains {part!r}: {name}{asked}"
            case.step("method", says, "method.by-name", at=place(case, "model"))
            if method.origin == "flag" and method.name and method.name != name:
                case.rewrite("method", (method.name, name), "the path decides", "method.by-name", at=method.at)
            return Method(name, "name", place(case, "model"))
    architecture = view.architecture.value if view.architecture else ""
    if found := timeline.at(case.world, "method.by-architecture", architecture):
        case.step(
            "method", f"architecture {architecture}: {found}", "method.by-architecture", at=view.at("architectures")
        )
        return Method(found, "checkpoint", view.at("architectures"))
    if method.name == "medusa" and case.world.flag("method.medusa-forced") and view.model_type != "medusa":
        _forced_medusa(case, method, view)
        return method
    if found := _by_model_type(case, view):
        case.step("method", f"model_type {view.model_type}: {found}", "method.by-model-type", at=view.at("model_type"))
        return Method(found, "checkpoint", view.at("model_type"))
    return _otherwise(case, method)


def _forced_medusa(case: Case, method: Method, view: View) -> None:
    says = (
        f"the config is read as Medusa's, whatever its model_type ({view.model_type}); no Medusa head is built from it"
    )
    case.refuse(
        RefusalKind.METHOD_UNSUITABLE,
        "load",
        says,
        at=method.at,
        keys=("method.medusa-forced",),
        confidence=Confidence.LIKELY,
    )


def _by_model_type(case: Case, view: View) -> str | None:
    table = case.world.table("method.by-model-type")
    if timeline.at(case.world, "methods.mtp-aliases", view.model_type) is not None:
        return "mtp"
    return table.get(view.model_type)


def _otherwise(case: Case, method: Method) -> Method:
    law = case.world.text("method.otherwise")
    if method.name == "draft_model" and case.world.flag("method.draft-model-refused"):
        return Method(None, method.origin, method.at)  # refused already
    if law == "draft_model" or (law == "draft_model if asked" and method.name == "draft_model"):
        says = "neither path nor config names a method: the drafter runs as a plain draft model"
        case.step("method", says, "method.otherwise", at=method.at)
        return Method("draft_model", method.origin if method.name == "draft_model" else "default", method.at)
    asked = f"method {method.name}" if method.name else "no method"
    case.refuse(
        RefusalKind.METHOD_UNSUITABLE,
        "config",
        f"{asked}, and neither the path nor the config of the drafter leads to a method that fits it",
        at=method.at,
        keys=("method.otherwise",),
    )
    return Method(None, method.origin, method.at)


def _known(case: Case, method: Method) -> Method:
    name = method.name or ""
    if timeline.at(case.world, "methods.known", name) is not None or name == "[ngram]":
        return method
    if not case.world.flag("methods.enforced"):
        case.step("method", f"{name!r} is not checked here; the drafter's path and config decide", "methods.enforced")
        return method
    elsewhere = timeline.ever(case.world, "methods.known", name)
    lower = name.lower()
    near = lower if lower != name and timeline.at(case.world, "methods.known", lower) is not None else ""
    tail = f"; {near!r} is" if near else f"; releases {elsewhere} have it" if elsewhere else ""
    case.refuse(
        RefusalKind.METHOD_REMOVED if timeline.gone(case.world, "methods.known", name) else RefusalKind.METHOD_UNKNOWN,
        "arguments",
        f"{name!r} is no method of this release{tail}",
        at=method.at,
        keys=("methods.known", "methods.enforced"),
    )
    return Method(near or None, "flag", method.at)


def _is_custom_class(case: Case, model: str | None, method: Method) -> bool:
    law = case.world.text("method.custom-class")
    if law == "no" or model is None or "/" in model or model.startswith(("http://", "https://", "file://")):
        return False
    if law == "dotted":
        return "." in model
    parts = model.split(".")
    return method.name is None and len(parts) >= 2 and all(part.isidentifier() for part in parts)


def _without_model(case: Case, method: Method) -> None:
    """No ``model``: some methods draft with the target itself or with nothing, the others stop."""
    own = case.world.names("method.self-drafting")
    kind = case.target.text_model_type or case.target.model_type
    if method.name in _WITHOUT_MODEL or method.name in own or (kind and kind.value in own):
        return
    case.refuse(
        RefusalKind.DRAFT_PATH_MISSING,
        "config",
        "the speculative configuration names no draft model",
        at=method.at,
        keys=("method.self-drafting",),
    )
