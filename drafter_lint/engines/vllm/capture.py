"""Which states the target hands over, and what the draft class does with them."""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.engines.plan import HOOK_UNKNOWN, Capture, FcUse, RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.classes import DraftClass
from drafter_lint.engines.vllm.view import View
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located
from drafter_lint.targets import Target

TOP = "eagle_aux_hidden_state_layer_ids"


def wanted(case: Case, view: View, *, method: str, runner: str) -> bool:
    """True if this runner asks the target for auxiliary states."""
    if method != "eagle3":
        return False
    honours = case.world.flag(f"capture.{runner}-use-aux-hidden-state")
    return not honours or bool(view.eagle_config().get("use_aux_hidden_state", True))


def hooked(case: Case) -> None:
    """Refuse a target whose class cannot hand over auxiliary states."""
    architecture = case.target.architecture
    if architecture is None or timeline.at(case.world, "registry.aux-targets", architecture.value) is not None:
        return
    if timeline.at(case.world, "registry.general", architecture.value) is None:
        says = f"no class is registered for {architecture.value}; whether it hands over states is not known"
        case.step(HOOK_UNKNOWN, says, "registry.general", at=architecture.at)
        return
    since = timeline.ever(case.world, "registry.aux-targets", architecture.value)
    case.refuse(
        RefusalKind.TARGET_UNSUPPORTED,
        "load",
        f"the target's class for {architecture.value} hands over no auxiliary states"
        + (f"; it does in {since}" if since else " in any release read"),
        at=architecture.at,
        keys=("registry.aux-targets",),
    )


def allowed(case: Case, method: str) -> None:
    """Refuse a target whose model_type is not on the list that older releases keep."""
    parts = case.world.names("targets.allowed")
    kind = case.target.text_model_type or case.target.model_type
    if method not in {"eagle3", "dflash"} or not parts or kind is None or any(part in kind.value for part in parts):
        return
    case.refuse(
        RefusalKind.TARGET_UNSUPPORTED,
        "config",
        f"{method} is for targets whose model_type contains one of {', '.join(parts)}; this one is {kind.value}",
        at=kind.at,
        keys=("targets.allowed",),
    )


def capture(case: Case, view: View, *, active: bool, runner: str) -> Capture:
    """The states handed over."""
    width = case.target.hidden_size.value if case.target.hidden_size else None
    lists = _lists(view)
    if not active:
        ignored = tuple(lists.values())
        return Capture(active=False, width=width, ignored=ignored, evidence=case.evidence(f"capture.reading-{runner}"))
    key = f"capture.reading-{runner}"
    law = case.world.text(key)
    read = _read(lists, law)
    layers = case.target.num_layers.value if case.target.num_layers else None
    asked = read.value if read else (2, layers // 2, layers - 3) if layers else ()
    boundaries = captured(case, asked, layers)
    ignored = tuple(entry for entry in lists.values() if entry is not read)
    source = "as written" if read else "default"
    shown = ", ".join(map(str, boundaries))
    case.step("capture", f"states before layers {shown} ({source})", key, at=read.at if read else None)
    return Capture(
        active=True,
        boundaries=boundaries,
        asked=asked,
        read=read,
        reading=source,
        ignored=ignored,
        width=width * len(boundaries) if width is not None else None,
        evidence=case.evidence(key, "capture.sorted"),
        confidence=Confidence.CERTAIN if layers else Confidence.LIKELY,
    )


def layer_ids(world: World, target: Target, boundaries: tuple[int, ...]) -> tuple[str, tuple[int, ...]] | None:
    """The top-level list, which every release that reads ids reads as it is, whichever runner runs."""
    layers = target.num_layers.value if target.num_layers else None
    reads = any(world.text(f"capture.reading-{runner}") != "nothing" for runner in ("v1", "v2"))
    return (f"/{TOP}", boundaries) if reads and layers and max(boundaries) <= layers else None


def _lists(view: View) -> dict[str, Located[tuple[int, ...]]]:
    found = {
        "top": view.ids(TOP),
        "nested": view.ids("eagle_config", TOP),
        "layer_ids": view.ids("eagle_config", "layer_ids"),
    }
    return {name: ids for name, ids in found.items() if ids is not None}


def _read(lists: dict[str, Located[tuple[int, ...]]], law: str) -> Located[tuple[int, ...]] | None:
    order = {
        "nothing": (),
        "top": ("top",),
        "top, then eagle_config": ("top", "nested"),
        "top, then eagle_config.layer_ids": ("top", "layer_ids"),
    }[law]
    return next((lists[name] for name in order if name in lists), None)


def captured(case: Case, asked: tuple[int, ...], layers: int | None) -> tuple[int, ...]:
    """Those of the ids a decoder loop meets, in layer order, each once."""
    if layers is None:
        return tuple(sorted(set(asked)))
    architecture = case.target.architecture.value if case.target.architecture else ""
    mixin = case.world.flag("capture.last-boundary")
    deepseek = architecture in case.world.names("capture.deepseek-targets")
    first = 0 if mixin and not deepseek else 1
    last = layers if (case.world.flag("capture.deepseek-last-boundary") if deepseek else mixin) else layers - 1
    met = tuple(sorted({identifier for identifier in asked if first <= identifier <= last}))
    if first == 1 and 0 in asked:
        case.refuse(
            RefusalKind.STATE_WIDTH,
            "load",
            "id 0 asks for the embeddings, where this target's decoder has no residual to add yet",
            keys=("capture.last-boundary", "capture.deepseek-targets"),
            confidence=Confidence.LIKELY,
        )
    lost = [identifier for identifier in asked if not first <= identifier <= last]
    if lost:
        case.step(
            "capture", f"ids {lost} name no boundary of {layers} layers and are never met", "capture.last-boundary"
        )
    return met


def fc_use(case: Case, view: View, drafter: DraftClass, *, captured: Capture, runner: str, method: str) -> FcUse:
    """What ``fc`` is fed, and whether it runs."""
    if drafter.kind == "eagle1":
        return _fc_of_eagle1(case, view, drafter, captured)
    built = drafter.fc_input is not None
    fed = captured.width
    if method != "eagle3":
        width = drafter.integer("hidden_size")
        says = f"method {method} hands over one state and never combines states, so fc is built and not applied"
        use = FcUse(built=built, runs=False, takes=drafter.fc_input, fed=fed, says=says)
        _same_width(case, fed, width)
    elif not built:
        says = "use_aux_hidden_state is false: the class has no fc and takes the last state as it is"
        use = FcUse(built=False, runs=False, fed=fed, says=says)
        _same_width(case, fed, drafter.integer("hidden_size"))
    else:
        use = FcUse(built=True, runs=True, takes=drafter.fc_input, fed=fed, says="applied to what is handed over")
        if fed is not None and drafter.fc_input != fed:
            _misfit(case, drafter.fc_input or 0, fed, captured, runner=runner)
    case.step("fc", use.says, "class.fc-applied", "class.fc-count")
    return replace(use, evidence=case.evidence("class.fc-applied", "class.fc-count"))


def _fc_of_eagle1(case: Case, view: View, drafter: DraftClass, captured: Capture) -> FcUse:
    width = drafter.integer("hidden_size")
    _same_width(case, captured.width, width, place=view)
    fed = width + captured.width if width and captured.width else None
    says = "applied to embedding and last state side by side"
    return FcUse(
        built=True, runs=True, takes=drafter.fc_input, fed=fed, says=says, evidence=case.evidence("class.fc-applied")
    )


def _same_width(case: Case, fed: int | None, width: int | None, *, place: View | None = None) -> None:
    if fed is None or width is None or fed == width:
        return
    case.refuse(
        RefusalKind.STATE_WIDTH,
        "first-request",
        f"the target hands over {fed} elements a token, the drafter takes {width}",
        at=place.at("hidden_size") if place else case.drafter.config.at("hidden_size"),
        keys=("class.fc-applied",),
        measured={"fed": fed, "takes": width},
    )


def _misfit(case: Case, takes: int, fed: int, captured: Capture, *, runner: str) -> None:
    # V2 runs the drafter while profiling; V1 combines states at the first real request only
    # (vllm 0.33.0, v1/spec_decode/llm_base_proposer.py, dummy_run against propose).
    case.refuse(
        RefusalKind.STATE_WIDTH,
        "load" if runner == "v2" else "first-request",
        f"{len(captured.boundaries)} states make {fed} elements a token; fc takes {takes}",
        at=captured.read.at if captured.read else case.drafter.config.at(),
        keys=(f"capture.reading-{runner}", "class.fc-count"),
        measured={"fed": fed, "takes": takes, "states": len(captured.boundaries)},
    )
