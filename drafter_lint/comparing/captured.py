"""Which states of its target a drafter was trained on, where the target's depth is known without reading it."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint import catalogue
from drafter_lint.drafters import AuxNeed, Dialect, Eagle, aux_need
from drafter_lint.drafters.claims import OWN_NAME
from drafter_lint.findings import Location

_DIALECTS = {
    Dialect.OUTPUT: "written as outputs of layers",
    Dialect.BOUNDARY: "written as inputs of layers",
    Dialect.DEFAULT: "none written: the default",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The boundaries a drafter needs.

    Attributes:
        need: the boundaries, and how they were understood.
        depth: how deep the target is, and who says so.
    """

    need: AuxNeed
    depth: str

    @property
    def text(self) -> str:
        """``2/30/58 (written as inputs of layers)``; of a list that cannot be decided, the list."""
        if self.need.boundaries is None:
            written = list(self.need.written.ids.value) if self.need.written else []
            return f"{written} (ambiguous: outputs or inputs of layers)"
        dialect = _DIALECTS.get(self.need.dialect, self.need.dialect.value)
        return f"{'/'.join(map(str, self.need.boundaries))} ({dialect})"

    @property
    def at(self) -> Location | None:
        """Where the list stands that decided."""
        return self.need.written.ids.at if self.need.written else None


def boundaries(drafter: Eagle) -> Captured | None:
    """The boundaries; None for EAGLE-1, and where nobody knows how deep the target is that the drafter names."""
    if drafter.generation == 1:
        return None
    for claim in drafter.claims:
        known = catalogue.target(claim.target.value) if claim.source != OWN_NAME else None
        layers = known.integer("num_hidden_layers") if known else None
        if known and layers:
            return Captured(
                need=aux_need(drafter, layers), depth=f"{known.name} has {layers} layers, says the catalogue"
            )
    return None
