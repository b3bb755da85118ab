"""What the target hands over: whether it can, which layers are read from the drafter's config, and what is lost."""

from __future__ import annotations

from drafter_lint.engines.plan import HOOK_UNKNOWN, Capture, RefusalKind
from drafter_lint.engines.sglang.fields import OVERRIDES, Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.tables import entry, has
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, JsonValue, Located
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

IDS = "eagle_aux_hidden_state_layer_ids"
_NESTED = ("eagle_config", IDS)
_SAYS = {"plus-one": "id + 1", "as-written": "as written"}


def last_state(target: Target) -> Capture:
    """Nothing but the last state is handed over."""
    return Capture(active=False, width=target.hidden_size.value if target.hidden_size else None)


def offers_head(world: World, target: Target, notes: Notes) -> None:
    """Every EAGLE worker asks the target for its embedding and head."""
    name = target.architecture.value if target.architecture else None
    if name is None or not has(world, "models.registered", name) or has(world, "models.get-embed-and-head", name):
        return
    says = f"target class {name} offers no get_embed_and_head"
    at = (target.architecture.at,) if target.architecture else ()
    notes.refuse(RefusalKind.TARGET_UNSUPPORTED, "load", says, "models.get-embed-and-head", "worker.sharing", at=at)


def captured(world: World, fields: Fields, target: Target, request: LaunchRequest, notes: Notes) -> Capture:
    """What EAGLE3 makes the target hand over."""
    ignored = tuple(ids for ids in (fields.config.integers(IDS),) if ids is not None)
    eagle = fields.nested("eagle_config")
    if world.flag("capture.use-aux-key") and eagle is not None and not eagle.get("use_aux_hidden_state", True):
        at = fields.at("eagle_config", "use_aux_hidden_state")
        notes.step("capture", "eagle_config.use_aux_hidden_state turns capturing off", "capture.use-aux-key", at=at)
        return Capture(
            active=False,
            ignored=ignored,
            width=target.hidden_size.value if target.hidden_size else None,
            evidence=world.evidence("capture.use-aux-key"),
        )
    _needs_hook(world, target, notes)
    layers = target.num_layers.value if target.num_layers else None
    read = _read(world, fields, request, notes)
    if not world.flag("capture.ids-read"):
        nested = fields.config.integers(*_NESTED)
        ignored += (nested,) if nested else ()
    if layers is None:
        return Capture(active=True, read=read, ignored=ignored, evidence=world.evidence("capture.ids-read"))
    asked, reading, keys = _asked(world, target, layers, read)
    boundaries = kept(world, target, layers, asked, notes, read=read)
    _graphs(world, request, asked, layers, notes, read=read)
    says = f"boundaries {list(asked)} are asked for ({reading})"
    notes.step("capture", says, *keys, at=read.at if read else None)
    width = target.hidden_size.value * len(boundaries) if target.hidden_size else None
    return Capture(
        active=True,
        boundaries=boundaries,
        asked=asked,
        read=read,
        reading=reading,
        ignored=ignored,
        width=width,
        evidence=world.evidence(*keys),
        confidence=Confidence.CERTAIN,
    )


def _needs_hook(world: World, target: Target, notes: Notes) -> None:
    written = target.architecture
    if written is None:
        return
    if not has(world, "models.registered", written.value):
        says = f"target architecture {written.value} is no class of SGLang {world.version}: its hook is not known"
        notes.step(HOOK_UNKNOWN, says, "models.registered", at=written.at)
    elif not has(world, "models.capture-hook", written.value):
        says = f"target class {written.value} has no hook for auxiliary states"
        where = ("models.capture-hook", "capture.missing-hook")
        notes.refuse(RefusalKind.TARGET_UNSUPPORTED, "load", says, *where, at=(written.at,))
    elif has(world, "models.capture-unmarked", written.value):
        # Its forward then unpacks the last state alone into a state and a list of states.
        says = f"target class {written.value} is told which layers to capture and marks none: it hands over no states"
        notes.refuse(RefusalKind.TARGET_UNSUPPORTED, "load", says, "models.capture-unmarked", at=(written.at,))


def _read(world: World, fields: Fields, request: LaunchRequest, notes: Notes) -> Located[tuple[int, ...]] | None:
    """The nested list, None for the default; anything unreadable is the default too."""
    if not world.flag("capture.ids-read"):
        return None
    if "eagle_config" in fields.overrides:
        typed, option = (fields.nested("eagle_config") or {}).get(IDS), request.options.get(OVERRIDES)
        if not isinstance(typed, list) or option is None or not all(isinstance(item, int) for item in typed):
            return None
        return Located(tuple(int(item) for item in typed), option.at)
    nested = fields.config.integers(*_NESTED)
    if nested is None and fields.config.has(*_NESTED):
        says = "eagle_config's layer ids are no list of integers"
        notes.step("capture", says, "capture.ids-read", at=fields.at(*_NESTED))
    return nested


def _asked(
    world: World, target: Target, layers: int, read: Located[tuple[int, ...]] | None
) -> tuple[tuple[int, ...], str, tuple[str, ...]]:
    """The boundaries asked for, how they were made, and the facts that say so."""
    name = target.architecture.value if target.architecture else None
    rule = entry(world, "models.capture-rule", name) or "plus-one"
    keys = ("capture.ids-read", "models.capture-rule" if rule != "plus-one" else "capture.generic-rule")
    if read is None:
        default = (2, layers // 2, layers - 3)
        if rule == "plus-one-on-default":
            return tuple(value + 1 for value in default), "default, each + 1", ("capture.default", *keys)
        return default, "default", ("capture.default", *keys)
    ids = read.value
    as_written = (rule == "plus-one-if-first-is-one" and not (ids and ids[0] == 1)) or (
        rule == "plus-one-unless-last" and bool(ids) and max(ids) == layers
    )
    reading = _SAYS["as-written" if as_written else "plus-one"]
    return (ids if as_written else tuple(value + 1 for value in ids)), reading, keys


def kept(
    world: World,
    target: Target,
    layers: int,
    asked: tuple[int, ...],
    notes: Notes,
    *,
    read: Located[tuple[int, ...]] | None,
) -> tuple[int, ...]:
    """What is captured: in layer order, once each, and only where the target's loop comes by."""
    name = target.architecture.value if target.architecture else ""
    at = (read.at,) if read else (target.text.at("num_hidden_layers"),)
    measured: dict[str, JsonValue] = {"asked": list(asked), "layers": layers}
    flagged = name in world.names("capture.by-flag")
    last = entry(world, "models.capture-rule", name) == "plus-one-unless-last"
    reach = layers + 1 if last else layers
    if flagged and any(value >= layers or value < -layers for value in asked):
        says = f"layers {list(asked)} are marked one by one, the target has {layers}"
        notes.refuse(RefusalKind.STATE_WIDTH, "load", says, "capture.by-flag", at=at, measured=measured)
    places = {value % layers if flagged and layers and value < 0 else value for value in asked}
    kept = tuple(sorted(value for value in places if 0 <= value < reach))
    if name in world.names("capture.packed") and len(kept) < len(asked):
        says = f"{len(kept)} of {len(asked)} states asked for are captured ({list(asked)}, {layers} layers)"
        notes.refuse(RefusalKind.STATE_WIDTH, "first-request", says, "capture.packed", at=at, measured=measured)
    if 0 in kept and world.text("capture.zero") == "refused":
        notes.refuse(
            RefusalKind.STATE_WIDTH,
            "first-request",
            "boundary 0, the embedding, is asked for; there is no residual yet to add to it",
            "capture.zero",
            at=at,
            measured=measured,
            confidence=Confidence.LIKELY,
        )
    return kept


def layer_ids(world: World, target: Target, boundaries: tuple[int, ...]) -> tuple[str, tuple[int, ...]] | None:
    """The nested list that is read as these boundaries: as outputs of layers where they can be, else as they are."""
    if not world.flag("capture.ids-read") or target.num_layers is None:
        return None
    layers = target.num_layers
    for ids in (tuple(boundary - 1 for boundary in boundaries), boundaries):
        asked, _, _ = _asked(world, target, layers.value, Located(ids, layers.at))
        if kept(world, target, layers.value, asked, Notes(world), read=None) == boundaries:
            return "/" + "/".join(_NESTED), ids
    return None


def _graphs(
    world: World,
    request: LaunchRequest,
    asked: tuple[int, ...],
    layers: int,
    notes: Notes,
    *,
    read: Located[tuple[int, ...]] | None,
) -> None:
    """Releases that record the target's graphs with the default layers and set the configured ones afterwards."""
    default = (2, layers // 2, layers - 3)
    if read is None or asked == default or not world.flag("capture.graphs-keep-default"):
        return
    if "--disable-cuda-graph" in request.options:
        return
    says = f"CUDA graphs hand over boundaries {list(default)}; only a prefill outside them hands over {list(asked)}"
    notes.step("capture-graph", says, "capture.graphs-keep-default", at=read.at)
