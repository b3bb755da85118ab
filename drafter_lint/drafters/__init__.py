"""What a drafter needs: one module per published layout, and the typed family they produce."""

from drafter_lint.drafters.layer_ids import AuxNeed, Dialect, aux_need, default_boundaries
from drafter_lint.drafters.model import (
    Claim,
    Conflict,
    Drafter,
    Eagle,
    Layout,
    Match,
    Recognition,
    Unsupported,
    WrittenIds,
)

__all__ = [
    "AuxNeed",
    "Claim",
    "Conflict",
    "Dialect",
    "Drafter",
    "Eagle",
    "Layout",
    "Match",
    "Recognition",
    "Unsupported",
    "WrittenIds",
    "aux_need",
    "default_boundaries",
]
