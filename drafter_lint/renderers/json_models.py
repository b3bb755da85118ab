"""The published shape of a report, as pydantic models: what schemas/report.schema.json is made from."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue, model_validator

from drafter_lint.report import Cost

EditKind = Literal["replace-argument", "add-arguments", "set-config", "remove-config", "set-tensor"]


class Model(BaseModel):
    """Strict about its own shape."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _sound_text(cls, data: object) -> object:
        return {key: _sound(value) for key, value in data.items()} if isinstance(data, dict) else data


def _sound(value: object) -> object:
    if isinstance(value, str):
        return encodable(value)
    return tuple(map(_sound, value)) if isinstance(value, tuple) else value


def encodable(value: str) -> str:
    """Text that can be encoded: a lone surrogate, from a file name or a JSON escape, becomes U+FFFD."""
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class ToolModel(Model):
    """Which tool wrote this."""

    name: str
    version: str


class LocationModel(Model):
    """A place; fields that do not apply are null."""

    role: Literal["drafter", "target", "launch", "engine"]
    subject: str
    file: str | None
    line: int | None
    column: int | None
    width: int | None
    pointer: str | None
    tensor: str | None
    shape: tuple[int, ...] | None
    argument: int | None
    label: str


class EvidenceModel(Model):
    """Why an engine claim is believed."""

    engine: str
    version: str
    file: str
    symbol: str
    how: Literal["run", "read", "inferred"]
    note: str


class EditModel(Model):
    """One machine-applicable change."""

    kind: EditKind
    index: int | None = None
    values: tuple[str, ...] = ()
    pointer: str | None = None
    value: JsonValue = None
    tensor: str | None = None


class FixModel(Model):
    """What to change; ``edits`` is empty where a machine cannot do it."""

    text: str
    edits: tuple[EditModel, ...]


class FindingModel(Model):
    """A finding."""

    code: str
    name: str
    outcome: Literal["refuses", "silent", "slow", "hygiene"]
    confidence: Literal["certain", "likely", "possible"]
    message: str
    locations: tuple[LocationModel, ...]
    measured: dict[str, JsonValue]
    evidence: tuple[EvidenceModel, ...]
    fix: FixModel | None


class SkipModel(Model):
    """A check that could not run; ``needed`` if the verdict would rest on it."""

    code: str
    name: str
    reason: str
    needed: bool


class SuppressedModel(Model):
    """A finding that counts no more, with the reason and the place of its suppression."""

    reason: str
    at: LocationModel
    finding: FindingModel


class SubjectModel(Model):
    """A checkpoint as named and resolved."""

    spelling: str
    name: str
    commit: str | None
    title: str
    origin: str
    layout: str | None
    method: str | None


class EngineModel(Model):
    """The engine of a check; ``basis`` are the read releases it rests on."""

    name: str
    version: str
    knowledge: Literal["observed", "bracketed", "extrapolated", "ambiguous"]
    newest: str
    basis: tuple[str, ...]
    asked: bool


class ValueModel(Model):
    """A value of the launch command and the line it stands on (null on our own command line)."""

    value: JsonValue
    line: int | None


class LaunchModel(Model):
    """The launch command, understood."""

    argv: tuple[str, ...]
    engine: str
    assumed: bool
    method: ValueModel | None
    drafter: ValueModel | None
    target: ValueModel | None
    num_speculative_tokens: ValueModel | None
    num_steps: ValueModel | None
    topk: ValueModel | None
    num_draft_tokens: ValueModel | None
    tensor_parallel: ValueModel | None
    draft_tensor_parallel: ValueModel | None
    quantization: ValueModel | None
    draft_quantization: ValueModel | None
    dtype: ValueModel | None
    context_length: ValueModel | None
    unresolved: tuple[str, ...]


class SourceModel(Model):
    """Where in a document the command stands."""

    file: str
    line: int
    column: int


class CheckModel(Model):
    """One drafter, one target, one engine at one version, one set of flags.

    ``plan`` is null where none could be made. Where two read releases around the version differ it is the newer one's,
    and ``plan_before`` the older one's.
    """

    source: SourceModel | None
    verdict: Literal["refuses", "silent", "slow", "hygiene", "ok", "unknown"]
    drafter: SubjectModel
    target: SubjectModel | None
    engine: EngineModel | None
    launch: LaunchModel | None
    plan: dict[str, JsonValue] | None
    plan_before: dict[str, JsonValue] | None
    findings: tuple[FindingModel, ...]
    not_checked: tuple[SkipModel, ...]
    suppressed: tuple[SuppressedModel, ...]
    checked: int


class CostModel(Model):
    """What the run read; ``cached`` of the bytes came from a cache of what a Hub once sent."""

    requests: int
    bytes: int
    cached: int
    seconds: float

    @classmethod
    def of(cls, cost: Cost) -> CostModel:
        """A run's cost, to the millisecond."""
        return cls(requests=cost.requests, bytes=cost.bytes, cached=cost.cached, seconds=round(cost.seconds, 3))


class ReportModel(Model):
    """The whole report; ``schema`` counts incompatible changes of this shape."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="drafter-lint report")

    schema_: Literal[1] = 1
    tool: ToolModel
    checks: tuple[CheckModel, ...]
    io: CostModel


def schema() -> dict[str, JsonValue]:
    """The JSON Schema of a report."""
    return schema_of(ReportModel)


def schema_of(model: type[Model]) -> dict[str, JsonValue]:
    """The JSON Schema of one of our documents; every one of them counts its shape under ``schema``."""
    made: dict[str, JsonValue] = model.model_json_schema(mode="serialization")
    properties = made["properties"]
    if not isinstance(properties, dict):
        raise TypeError("a model's schema has properties")
    renamed = {"schema": properties.pop("schema_"), **properties}
    made["properties"], made["required"] = renamed, list(renamed)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def dumped(model: Model) -> dict[str, JsonValue]:
    """One of our documents, its ``schema`` first."""
    made: dict[str, JsonValue] = model.model_dump(mode="json")
    return {"schema": made.pop("schema_"), **made}
