"""What a checkpoint is, with reasons: from its config and its tensor names, the tensors deciding."""

from __future__ import annotations

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import eagle
from drafter_lint.drafters.model import Conflict, Drafter, Layout, Match, Recognition
from drafter_lint.drafters.others import other, unknown
from drafter_lint.drafters.view import View, view


def recognise(checkpoint: Checkpoint) -> Recognition:
    """Recognise a checkpoint; total: never raises on what the files say, or on what cannot be read of them."""
    seen = view(checkpoint)
    shown, named = eagle.by_tensors(seen), eagle.by_config(seen)
    foreign = other(seen)
    if shown and shown.layout is Layout.EAGLE1 and foreign and _said_by_config(foreign[0]):
        # An fc of [H, 2H] over plain layers is weak evidence: block drafters of two states look the same.
        shown = None
    if shown:
        drafter: Drafter = eagle.build(seen, shown.layout)
        conflicts = _conflicts(seen, shown, named, foreign[0] if foreign and _said_by_config(foreign[0]) else None)
        return Recognition(matches=_matches(shown, named, conflicts), drafter=drafter, conflicts=conflicts)
    if foreign:
        match, drafter = foreign
        conflicts = _foreign_conflict(seen, match, named)
        return Recognition(matches=_matches(match, named, conflicts), drafter=drafter, conflicts=conflicts)
    if named and not _contradicted(seen):
        return Recognition(matches=(named,), drafter=eagle.build(seen, named.layout))
    match, drafter = unknown(seen)
    return Recognition(matches=(match,) if match.reasons else (), drafter=drafter)


def _contradicted(seen: View) -> bool:
    """True if tensors were read and none of them belongs to a drafter the config might mean."""
    return seen.readable and bool(seen.tensors) and not seen.any_with("fc.", "layers.0.", "lm_head", "d2t")


def _said_by_config(match: Match) -> bool:
    return any(not reason.startswith("tensors") for reason in match.reasons)


def _matches(first: Match, second: Match | None, conflicts: tuple[Conflict, ...]) -> tuple[Match, ...]:
    return (first, second) if second and conflicts else (first,)


def _conflicts(seen: View, shown: Match, named: Match | None, foreign: Match | None) -> tuple[Conflict, ...]:
    """Where the config names another thing than the tensors show."""
    if foreign and not (named and named.layout is Layout.EAGLE3_SPECULATORS):
        return (_conflict(seen, foreign, shown),)
    if named and _generation(named.layout) != _generation(shown.layout) and seen.architecture:
        return (_conflict(seen, named, shown),)
    return ()


def _foreign_conflict(seen: View, match: Match, named: Match | None) -> tuple[Conflict, ...]:
    """An EAGLE name in the config over tensors of something else."""
    return (_conflict(seen, named, match),) if named and not _said_by_config(match) else ()


def _conflict(seen: View, named: Match, shown: Match) -> Conflict:
    first = next(iter(seen.tensors.values()), None)
    places = [seen.config.at("architectures", "0") if seen.architecture else seen.config.at("speculators_model_type")]
    places += [seen.checkpoint.tensors.at("fc.weight" if seen.has("fc.weight") else first.name)] if first else []
    return Conflict(
        config_says=f"{named.layout}: {'; '.join(named.reasons)}",
        tensors_say=f"{shown.layout}: {'; '.join(shown.reasons)}",
        locations=tuple(places),
    )


def _generation(layout: Layout) -> int:
    return 1 if layout is Layout.EAGLE1 else 3
