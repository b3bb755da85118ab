"""The published shape of composed commands, as pydantic models: what schemas/launch.schema.json is made from."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, JsonValue

from drafter_lint.renderers.json_models import (
    CostModel,
    EngineModel,
    EvidenceModel,
    FindingModel,
    LocationModel,
    Model,
    SkipModel,
    SubjectModel,
    ToolModel,
)


class PartModel(Model):
    """One thing a command says.

    ``words`` is how it is written, ``why`` what asks for it, ``at`` the place in the files that does; ``origin`` is
    "needed" by the engine, "mends" the findings named, or "given" by the user.
    """

    kind: Literal["variable", "model", "flag", "key"]
    name: str
    value: JsonValue
    words: tuple[str, ...]
    why: str
    origin: Literal["needed", "mends", "given"]
    mends: tuple[str, ...]
    evidence: tuple[EvidenceModel, ...]
    at: LocationModel | None


class OmissionModel(Model):
    """Something left out: ``asked`` for by the user, or often given by others; ``instead`` stands in its place."""

    shown: str
    why: str
    code: str | None
    instead: str | None
    asked: bool


class DefaultModel(Model):
    """A flag that is left to the engine, the value it will take, and why."""

    flag: str
    value: str
    why: str


class ReleasesModel(Model):
    """A run of read releases."""

    engine: str
    first: str
    last: str


class CommandModel(Model):
    """A command: ``text`` for a shell, ``argv`` without the variables of ``environment``, and its parts.

    ``config`` is the file that --config takes, null if the release reads none.
    """

    text: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    config: str | None
    parts: tuple[PartModel, ...]


class LaunchedModel(Model):
    """One engine's command.

    ``status`` is "ready", "refused" (the findings stand against ``command``, the best that was tried), or "unknown".
    ``works_in`` names the releases that have a command where this one has none, and is null if that was not looked for.
    """

    engine: EngineModel | None
    status: Literal["ready", "refused", "unknown"]
    command: CommandModel | None
    omitted: tuple[OmissionModel, ...]
    left_to_the_engine: tuple[DefaultModel, ...]
    notes: tuple[str, ...]
    findings: tuple[FindingModel, ...]
    not_checked: tuple[SkipModel, ...]
    works_in: tuple[ReleasesModel, ...] | None


class LaunchesModel(Model):
    """What ``drafter-lint launch --format json`` prints."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="drafter-lint launch")

    schema_: Literal[1] = 1
    tool: ToolModel
    drafter: SubjectModel
    target: SubjectModel | None
    launches: tuple[LaunchedModel, ...]
    io: CostModel
