"""The commands of a pair as one JSON object in the shape of schemas/launch.schema.json."""

from __future__ import annotations

from dataclasses import asdict

from drafter_lint.composition import Composed, Launches, defaults
from drafter_lint.launch.composed import Command, Part
from drafter_lint.renderers import launches_models as models
from drafter_lint.renderers.document import drafter_subject, finding, location, plain, subject
from drafter_lint.renderers.json_models import CostModel, EngineModel, EvidenceModel, SkipModel, ToolModel, dumped
from drafter_lint.renderers.json_text import written
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.tool_version import tool_version


def render(made: Launches, style: Style) -> str:
    """The object."""
    first = made.composed[0].check
    model = models.LaunchesModel(
        tool=ToolModel(name="drafter-lint", version=tool_version()),
        drafter=drafter_subject(first),
        target=subject(first.target) if first.target else None,
        launches=tuple(_launched(item) for item in made.composed),
        io=CostModel.of(made.cost),
    )
    return written(dumped(model), style)


def _launched(item: Composed) -> models.LaunchedModel:
    check = item.check
    return models.LaunchedModel(
        engine=EngineModel(**asdict(check.engine)) if check.engine else None,
        status=item.status,
        command=_command(item.command) if item.command else None,
        omitted=tuple(
            models.OmissionModel(
                shown=left.shown,
                why=left.why,
                code=left.code or None,
                instead=left.instead or None,
                asked=left.asked,
            )
            for left in item.omitted
        ),
        left_to_the_engine=tuple(
            models.DefaultModel(flag=flag, value=value, why=why) for flag, value, why in defaults(item)
        ),
        notes=item.notes,
        findings=tuple(finding(found) for found in check.findings),
        not_checked=tuple(SkipModel(**asdict(skip)) for skip in check.not_checked),
        works_in=None
        if item.works_in is None
        else tuple(models.ReleasesModel(engine=run.engine, first=run.first, last=run.last) for run in item.works_in),
    )


def _command(command: Command) -> models.CommandModel:
    return models.CommandModel(
        text=command.text,
        argv=command.argv,
        environment=command.variables,
        config=command.config if command.takes_config else None,
        parts=tuple(map(_part, command.parts)),
    )


def _part(part: Part) -> models.PartModel:
    return models.PartModel(
        kind=part.kind,
        name=part.name,
        value=plain(part.value),
        words=part.written if part.kind in ("flag", "model") else (part.shown,),
        why=part.why,
        origin=part.origin,
        mends=part.mends,
        evidence=tuple(EvidenceModel(**asdict(item)) for item in part.evidence),
        at=location(part.at) if part.at else None,
    )
