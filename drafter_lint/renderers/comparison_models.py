"""The published shape of a comparison, as pydantic models: what schemas/comparison.schema.json is made from."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, JsonValue

from drafter_lint.renderers.json_models import CostModel, EvidenceModel, Model, ToolModel


class SideModel(Model):
    """One of the two checkpoints as named and resolved."""

    spelling: str
    name: str
    commit: str | None
    title: str


class PlaceModel(Model):
    """Where a value stands."""

    file: str | None
    line: int | None
    column: int | None
    pointer: str | None
    tensor: str | None


class SaidModel(Model):
    """One side of a difference: as shown, as written in config.json where it stands there, and where."""

    text: str
    value: JsonValue
    at: PlaceModel | None


class DifferenceModel(Model):
    """One thing that is not the same; ``count`` tensors, where a pattern stands for several."""

    group: Literal["decides", "changes", "unknown", "nothing"]
    kind: Literal["meaning", "field", "tensor"]
    name: str
    count: int
    a: SaidModel
    b: SaidModel
    why: str
    says: tuple[str, ...]
    evidence: tuple[EvidenceModel, ...]


class SameModel(Model):
    """How much is the same on both sides."""

    fields: int
    tensors: int


class ComparisonModel(Model):
    """What ``drafter-lint compare --format json`` prints."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="drafter-lint comparison")

    schema_: Literal[1] = 1
    tool: ToolModel
    compared_as: Literal["drafter", "target"]
    a: SideModel
    b: SideModel
    conclusion: str
    same: SameModel
    differences: tuple[DifferenceModel, ...]
    not_compared: tuple[str, ...]
    io: CostModel
