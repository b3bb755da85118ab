"""Auxiliary layer ids, normalised to boundaries with the dialect they were written in; undecidable stays ambiguous.

A *boundary* b is Hugging Face's ``hidden_states[b]`` before the final norm: 0 the embeddings, k the input of layer k,
n the output of the last layer. Two dialects are in use: ``output`` (id L is the output of layer L: boundary L + 1;
SpecForge, ModelOpt) and ``boundary`` (id L is boundary L; speculators, vLLM). The classic defaults of both, [1, n//2-1,
n-4] and [2, n//2, n-3], are the same three states, which is what makes most lists decidable.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.model import Eagle, WrittenIds
from drafter_lint.findings import Confidence


class Dialect(StrEnum):
    """What an id means."""

    OUTPUT = "output of layer"
    BOUNDARY = "input of layer"
    AMBIGUOUS = "ambiguous"
    DEFAULT = "no ids written"
    DECLARED = "told by the user"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuxNeed:
    """Which boundaries a drafter was trained on.

    Attributes:
        boundaries: ascending as trained, None if ambiguous.
        readings: every reading that is possible; one unless ambiguous, none if the list is impossible.
        dialect: how the list was understood.
        written: the list that decided, None for a default.
        reason: why, in one sentence.
        confidence: how sure that reading is.
    """

    boundaries: tuple[int, ...] | None
    readings: tuple[tuple[int, ...], ...]
    dialect: Dialect
    written: WrittenIds | None
    reason: str
    confidence: Confidence


def default_boundaries(layers: int) -> tuple[int, int, int]:
    """The three boundaries every EAGLE-3 trainer takes unless told otherwise: 2, n//2, n-3."""
    return (2, layers // 2, layers - 3)


def aux_need(drafter: Eagle, layers: int) -> AuxNeed:
    """The boundaries an EAGLE-3 drafter needs from a target of ``layers`` decoder layers."""
    told = drafter.trained.boundaries
    if told is not None:
        return AuxNeed(
            boundaries=told,
            readings=(told,),
            dialect=Dialect.DECLARED,
            written=None,
            reason="told on the command line",
            confidence=Confidence.CERTAIN,
        )
    written = {entry.place: entry for entry in drafter.layer_ids if entry.ids.value}
    if not written:
        default = default_boundaries(layers)
        return AuxNeed(
            boundaries=default,
            readings=(default,),
            dialect=Dialect.DEFAULT,
            written=None,
            reason="the config names no layers: the trainers' default",
            confidence=Confidence.LIKELY,
        )
    top, nested = written.get("top-level"), written.get("nested")
    if top and nested and _shift(nested.ids.value) == tuple(sorted(top.ids.value)):
        reason = "top level and eagle_config differ by one everywhere: boundaries above, outputs inside"
        return _decided(top, Dialect.BOUNDARY, reason, Confidence.CERTAIN)
    return _one_list(drafter, top or next(iter(written.values())), layers)


def _one_list(drafter: Eagle, entry: WrittenIds, layers: int) -> AuxNeed:
    ids = tuple(sorted(entry.ids.value))
    default = default_boundaries(layers)
    as_output = _shift(ids)
    speculators = drafter.layout is Layout.EAGLE3_SPECULATORS
    if ids == default:
        return _decided(entry, Dialect.BOUNDARY, "equals the default written as inputs of layers", Confidence.CERTAIN)
    if speculators and as_output == default:
        return _ambiguous(entry, "the speculators layout counts inputs, yet the list is the default counted as outputs")
    if as_output == default:
        return _decided(entry, Dialect.OUTPUT, "equals the default written as outputs of layers", Confidence.CERTAIN)
    if max(ids) == layers:
        return _decided(entry, Dialect.BOUNDARY, f"names {layers}, which no layer's output has", Confidence.CERTAIN)
    if speculators:
        return _decided(entry, Dialect.BOUNDARY, "the speculators layout counts inputs of layers", Confidence.LIKELY)
    if drafter.layout is Layout.EAGLE3_DEEPSPEC:
        return _decided(entry, Dialect.OUTPUT, "target_layer_ids counts outputs of layers", Confidence.LIKELY)
    possible = tuple(reading for reading in (ids, as_output) if reading[0] >= 0 and reading[-1] <= layers)
    if not possible:
        return _impossible(entry, f"{list(ids)} names no states of a {layers}-layer target, however it is counted")
    return _ambiguous(entry, f"{list(ids)} fits neither default of a {layers}-layer target, and no field says which")


def _shift(ids: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(identifier + 1 for identifier in ids))


def _decided(entry: WrittenIds, dialect: Dialect, reason: str, confidence: Confidence) -> AuxNeed:
    ids = tuple(sorted(entry.ids.value))
    boundaries = _shift(ids) if dialect is Dialect.OUTPUT else ids
    return AuxNeed(
        boundaries=boundaries,
        readings=(boundaries,),
        dialect=dialect,
        written=entry,
        reason=reason,
        confidence=confidence,
    )


def _impossible(entry: WrittenIds, reason: str) -> AuxNeed:
    """A list no drafter can have been trained on: what it was trained on stands nowhere."""
    return AuxNeed(
        boundaries=None,
        readings=(),
        dialect=Dialect.AMBIGUOUS,
        written=entry,
        reason=reason,
        confidence=Confidence.POSSIBLE,
    )


def _ambiguous(entry: WrittenIds, reason: str) -> AuxNeed:
    ids = tuple(sorted(entry.ids.value))
    return AuxNeed(
        boundaries=None,
        readings=(ids, _shift(ids)),
        dialect=Dialect.AMBIGUOUS,
        written=entry,
        reason=reason,
        confidence=Confidence.POSSIBLE,
    )
