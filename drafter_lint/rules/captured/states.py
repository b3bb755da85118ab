"""The states a drafter needs against those the target hands over: one verdict, told by one of the 6xx rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from drafter_lint.drafters import AuxNeed, Eagle, aux_need, default_boundaries
from drafter_lint.engines import engine
from drafter_lint.engines.plan import Capture
from drafter_lint.findings import (
    Confidence,
    Evidence,
    Fix,
    Found,
    JsonValue,
    Location,
    RemoveConfig,
    SetConfig,
    weakest,
)
from drafter_lint.rules.method.remedy import world_of
from drafter_lint.rules.shared import class_cause, count_refused, first_of, once, states_withheld, widths_agree
from drafter_lint.scope import Deployment

Kind = Literal["agree", "undecided", "count", "graph-split", "ignored", "shifted", "mismatch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What is needed, what is captured, and how the two part.

    Attributes:
        kind: the way they part.
        need: the boundaries the drafter was trained on.
        capture: what the target hands over.
        offset: by how much every captured boundary is off, where ``kind`` is "shifted".
    """

    kind: Kind
    need: AuxNeed
    capture: Capture
    offset: int = 0

    def found(self, at: Deployment[Eagle], message: str) -> Found:
        """The finding that says so, with the places of both sides."""
        written = self.need.written or (at.drafter.layer_ids[0] if at.drafter.layer_ids else None)
        read = self.capture.read
        places: list[Location] = []
        if written is not None:
            places.append(written.ids.at.saying(f"{written.place}: {shown(self.need)}"))
        if read is not None:
            places.append(read.at.saying(f"read {self.capture.reading}: {list(self.capture.boundaries)}"))
        places += [item.at.saying("not read") for item in self.capture.ignored]
        measured: dict[str, JsonValue] = {
            "needed": list(self.need.boundaries) if self.need.boundaries else None,
            "captured": list(self.capture.boundaries),
            "asked": list(self.capture.asked),
        }
        sure = Confidence.LIKELY if self.need.boundaries is None else self.need.confidence
        fallback = at.drafter.tensor_at("fc.weight", f"needs {shown(self.need)}")
        return Found(
            message=message,
            locations=first_of(places) or (fallback,),
            measured=measured,
            evidence=self.evidence(at),
            confidence=weakest(sure, self.capture.confidence),
        )

    def evidence(self, at: Deployment[Eagle]) -> tuple[Evidence, ...]:
        """Where the engine decides what it captures."""
        return once((*self.capture.evidence, *at.plan.evidence_of("capture")))


def shown(need: AuxNeed) -> str:
    """The boundaries needed, or both readings of an undecided list."""
    if need.boundaries is not None:
        return str(list(need.boundaries))
    return " or ".join(str(list(reading)) for reading in need.readings)


def compare(at: Deployment[Eagle]) -> Comparison | None:
    """How needs and captured states part; None where there is nothing to compare, or an earlier cause covers it."""
    drafter, capture, layers = at.drafter, at.plan.capture, at.target.num_layers
    if drafter.generation != 3 or capture is None or not capture.active or layers is None:
        return None
    if states_withheld(at) or class_cause(at) or not widths_agree(at, drafter):
        return None
    need = aux_need(drafter, layers.value)
    kind = _kind(at, need, capture)
    offset = capture.boundaries[0] - need.boundaries[0] if kind == "shifted" and need.boundaries else 0
    return Comparison(kind=kind, need=need, capture=capture, offset=offset)


def _kind(at: Deployment[Eagle], need: AuxNeed, capture: Capture) -> Kind:
    joined = at.drafter.states or max((len(reading) for reading in need.readings), default=0)
    if len(capture.boundaries) != joined or any(count_refused(at, refusal) for refusal in at.plan.refusals):
        return "count"
    layers = at.target.num_layers.value if at.target.num_layers else 0
    # One of the two sets is wrong; which of them decides how a request fares, not whether there is a fault.
    halves = {capture.boundaries, default_boundaries(layers)}
    if any(step.topic == "capture-graph" for step in at.plan.steps) and halves & set(need.readings):
        return "graph-split"
    if capture.boundaries in need.readings or not need.readings:
        return "agree" if need.boundaries else "undecided"
    if capture.read is None and capture.ignored:
        return "ignored"
    return "shifted" if need.boundaries and _one_shift(capture.boundaries, need.boundaries) else "mismatch"


def _one_shift(captured: tuple[int, ...], needed: tuple[int, ...]) -> bool:
    return len(captured) == len(needed) and len({have - want for have, want in zip(captured, needed, strict=True)}) == 1


def with_fix(at: Deployment[Eagle], parted: Comparison, found: Found) -> Found:
    """The finding with the list to write; without edits where another engine's word on the ids would be a guess."""
    need, read, layers = parted.need.boundaries, parted.capture.read, at.target.num_layers
    if need is None:
        return replace(found, fix=Fix("--trained-on with the boundaries the drafter was trained on"))
    default = layers is not None and need == default_boundaries(layers.value)
    if read is None or read.at.pointer is None:
        place = engine(at.plan.engine).layer_ids(world_of(at), at.target, need)
        if place is None:
            return replace(found, fix=Fix(f"this engine at this version cannot be made to capture {list(need)}"))
        pointer, written = place
        text = f"{pointer}: {list(written)}, which this engine reads as boundaries {list(need)}"
        return replace(found, fix=Fix(text, (SetConfig(pointer, [*written]),)))
    if default:
        edits = tuple(RemoveConfig(entry.ids.at.pointer) for entry in at.drafter.layer_ids if entry.ids.at.pointer)
        return replace(found, fix=Fix(f"leave the ids out: {list(need)} is the default", edits))
    # One number between ids and boundaries: the reading is a plain shift, and the list that suits it can be computed.
    shifts = {have - written for have, written in zip(parted.capture.asked, sorted(read.value), strict=False)}
    if len(shifts) != 1 or parted.kind != "shifted":
        return replace(found, fix=Fix(f"write ids this engine reads as {list(need)}"))
    ids = [boundary - min(shifts) for boundary in need]
    return replace(found, fix=Fix(f"{read.at.pointer}: {ids}", (SetConfig(read.at.pointer, [*ids]),)))
