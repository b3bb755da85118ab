"""What a drafter needs: one module per kind of published layout, and the typed family they produce."""

from drafter_lint.drafters.family import BlockDrafter, DraftModel, Medusa, MlpSpeculator, Mtp
from drafter_lint.drafters.layer_ids import AuxNeed, Dialect, aux_need, default_boundaries
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.model import (
    Claim,
    Conflict,
    Drafter,
    Eagle,
    Match,
    Recognition,
    Unsupported,
    WrittenIds,
)
from drafter_lint.drafters.trained import Trained, Word

__all__ = [
    "AuxNeed",
    "BlockDrafter",
    "Claim",
    "Conflict",
    "Dialect",
    "DraftModel",
    "Drafter",
    "Eagle",
    "Layout",
    "Match",
    "Medusa",
    "MlpSpeculator",
    "Mtp",
    "Recognition",
    "Trained",
    "Unsupported",
    "Word",
    "WrittenIds",
    "aux_need",
    "default_boundaries",
]
