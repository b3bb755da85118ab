"""Which states a block drafter is handed: which of its lists is read, and as what."""

from __future__ import annotations

from drafter_lint.engines.plan import Capture
from drafter_lint.engines.vllm import capture as eagle
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.view import View
from drafter_lint.findings import Confidence, Located

Ids = Located[tuple[int, ...]]
#: The places of a list, and how much is added to each id to make it a boundary.
_PLACES: tuple[tuple[tuple[str, ...], int], ...] = (
    ((eagle.TOP,), 0),
    (("dflash_config", "target_layer_ids"), 1),
    (("dspark_target_layer_ids",), 1),
    (("target_layer_ids",), 1),
    (("dflash_config", "layer_ids"), 0),
    (("eagle_config", "layer_ids"), 0),
)


def chosen(case: Case, view: View, *, runner: str) -> tuple[Ids, int] | None:
    """The list a runner reads, and what it adds to an id; None if it reads none and takes the target's default."""
    law = case.world.text(f"block.reading-{runner}")
    kept = {
        "not read": _PLACES[:1],
        "no runner": _PLACES[:1],
        "as written": ((_PLACES[0][0], 0), (_PLACES[1][0], 0)),
        "dflash_config plus one": _PLACES[:2],
        "plus one, unless there is an eagle_config": _PLACES[:1] if view.eagle_config() else _PLACES[:2],
        "every list": _PLACES,
    }[law]
    for keys, added in kept:
        ids = view.ids(*keys)
        if ids is not None:
            kind = case.target.model_type
            plain = keys == ("dspark_target_layer_ids",) and kind is not None and kind.value == "deepseek_v41"
            return ids, 0 if plain else added
    return None


def capture(case: Case, view: View, *, runner: str) -> Capture:
    """The states handed over."""
    key = f"block.reading-{runner}"
    width = case.target.hidden_size.value if case.target.hidden_size else None
    layers = case.target.num_layers.value if case.target.num_layers else None
    read = chosen(case, view, runner=runner)
    asked: tuple[int, ...] = (2, layers // 2, layers - 3) if layers else ()
    reading = "default"
    if read is not None:
        asked = tuple(identifier + read[1] for identifier in read[0].value)
        reading = f"id + {read[1]}" if read[1] else "as written"
    boundaries = eagle.captured(case, asked, layers)
    shown = ", ".join(map(str, boundaries))
    case.step("capture", f"states before layers {shown} ({reading})", key, at=read[0].at if read else None)
    lists = [found for keys, _ in _PLACES if (found := view.ids(*keys)) is not None]
    if view.speculators:
        lists = [ids for ids in lists if read is not None and ids.at == read[0].at][:1]
    return Capture(
        active=True,
        boundaries=boundaries,
        asked=asked,
        read=read[0] if read else None,
        reading=reading,
        ignored=tuple(ids for ids in lists if read is None or ids != read[0]),
        width=width * len(boundaries) if width is not None else None,
        evidence=case.evidence(key, "capture.sorted"),
        confidence=Confidence.CERTAIN if layers else Confidence.LIKELY,
    )
