"""The published shape of an inspection, as pydantic models: what schemas/inspection.schema.json is made from."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from drafter_lint.renderers.json_models import CostModel, Model, ToolModel


class PartModel(Model):
    """A tensor that everything hangs on; ``symbols`` is its shape in symbols, "" if there are none for it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    symbols: str
    fits: bool


class ClaimModel(Model):
    """Somebody's word about which target a drafter was trained for."""

    target: str
    source: str


class WantedModel(Model):
    """What an engine wants to be told, at its newest known version."""

    engine: str
    version: str
    argv: tuple[str, ...]


class HookModel(Model):
    """The releases of an engine that let this target hand over auxiliary states, "" if none read does."""

    engine: str
    releases: str


class TargetModel(Model):
    """What it offers as a target, as its config.json has it; null for what is not written.

    ``standin`` says whose word it is where the files could not be read.
    """

    architecture: str | None
    text_architecture: str | None
    model_type: str | None
    text_model_type: str | None
    text_config: str
    hidden_size: int | None
    num_layers: int | None
    vocab_size: int | None
    num_attention_heads: int | None
    max_position_embeddings: int | None
    tie_word_embeddings: bool | None
    mtp_layers: int | None
    quantization: str | None
    auxiliary_states: tuple[HookModel, ...]
    drafters: tuple[str, ...]
    copies: tuple[str, ...]
    standin: str | None


class WeightsModel(Model):
    """Its weight files; ``sampled`` are those whose headers were read, empty if those of all were."""

    files: int
    sampled: tuple[str, ...]
    tensors: int | None
    unopened: tuple[str, ...]


class InspectionModel(Model):
    """What ``drafter-lint inspect --format json`` prints; ``symbols`` are those of H, Ht, K, V, Vd, n known."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="drafter-lint inspection")

    schema_: Literal[1] = 1
    tool: ToolModel
    spelling: str
    name: str
    commit: str | None
    kind: Literal["drafter", "model", "unknown"]
    title: str
    layout: str
    method: str | None
    because: tuple[str, ...]
    conflicts: tuple[str, ...]
    architecture: str | None
    model_type: str | None
    written_by: str | None
    needs: tuple[str, ...]
    symbols: dict[str, int]
    parts: tuple[PartModel, ...]
    vocabulary_map: str | None
    trained_for: tuple[ClaimModel, ...]
    wanted: tuple[WantedModel, ...]
    target: TargetModel | None
    weights: WeightsModel
    not_read: tuple[str, ...]
    io: CostModel
