"""The report as a JSON document: how it is put into its published shape."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict

from pydantic import JsonValue

from drafter_lint import findings, report
from drafter_lint.engines.plan import Plan
from drafter_lint.launch import LaunchRequest
from drafter_lint.renderers.json_models import (
    CheckModel,
    CostModel,
    EditKind,
    EditModel,
    EngineModel,
    EvidenceModel,
    FindingModel,
    FixModel,
    LaunchModel,
    LocationModel,
    ReportModel,
    SkipModel,
    SourceModel,
    SubjectModel,
    SuppressedModel,
    ToolModel,
    ValueModel,
    dumped,
    encodable,
)

_VALUES = tuple(name for name in LaunchModel.model_fields if name not in ("argv", "engine", "assumed", "unresolved"))
_EDITS: Mapping[type, EditKind] = {
    findings.ReplaceArgument: "replace-argument",
    findings.AddArguments: "add-arguments",
    findings.SetConfig: "set-config",
    findings.RemoveConfig: "remove-config",
    findings.SetTensor: "set-tensor",
}


def document(result: report.Report, version: str) -> dict[str, JsonValue]:
    """The report in its published shape, validated."""
    model = ReportModel(
        tool=ToolModel(name="drafter-lint", version=version),
        checks=tuple(_check(check) for check in result.checks),
        io=CostModel.of(result.cost),
    )
    return dumped(model)


def plain(value: object) -> JsonValue:
    """A dataclass tree as JSON: mappings, lists, text; places as pointers into their file."""
    if isinstance(value, findings.Location):
        return location(value).model_dump(mode="json")
    if isinstance(value, Mapping):
        return {encodable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    return encodable(str(value))


def plan_document(plan: Plan) -> dict[str, JsonValue]:
    """A plan as JSON."""
    made = plain(plan)
    if not isinstance(made, dict):
        raise TypeError("a plan is a table")
    return made


def location(at: findings.Location) -> LocationModel:
    """A place in its published shape."""
    return LocationModel(
        role=at.role,
        subject=at.subject,
        file=at.file or None,
        line=at.line,
        column=at.column,
        width=at.width,
        pointer=at.pointer,
        tensor=at.tensor,
        shape=at.shape,
        argument=at.argument,
        label=at.label,
    )


def _check(check: report.Check) -> CheckModel:
    return CheckModel(
        source=_source(check.source) if check.source else None,
        verdict=check.verdict,
        drafter=drafter_subject(check),
        target=subject(check.target) if check.target else None,
        engine=EngineModel(**asdict(check.engine)) if check.engine else None,
        launch=_launch(check.request) if check.request else None,
        plan=plan_document(check.plans[-1]) if check.plans else None,
        plan_before=plan_document(check.plans[0]) if len(check.plans) > 1 else None,
        findings=tuple(finding(item) for item in check.findings),
        not_checked=tuple(SkipModel(**asdict(item)) for item in check.not_checked),
        suppressed=tuple(
            SuppressedModel(reason=item.reason, at=location(item.at), finding=finding(item.finding))
            for item in check.suppressed
        ),
        checked=check.checked,
    )


def _source(at: findings.Location) -> SourceModel:
    return SourceModel(file=at.file, line=at.line or 1, column=at.column or 1)


def drafter_subject(check: report.Check) -> SubjectModel:
    """The drafter of a check, with what it was recognised as."""
    drafter = check.recognition.drafter if check.recognition else None
    layout, method = (drafter.layout.value, drafter.method) if drafter else (None, None)
    return subject(check.drafter, layout, method)


def subject(named: report.Subject, layout: str | None = None, method: str | None = None) -> SubjectModel:
    """A checkpoint in its published shape."""
    return SubjectModel(
        spelling=named.spelling,
        name=named.name,
        commit=named.commit,
        title=named.title,
        origin=named.origin,
        layout=layout,
        method=method or None,
    )


def _launch(request: LaunchRequest) -> LaunchModel:
    values: dict[str, ValueModel | None] = {}
    for name in _VALUES:
        located = getattr(request, name)
        values[name] = None if located is None else ValueModel(value=plain(located.value), line=located.at.line)
    return LaunchModel(
        argv=request.argv,
        engine=request.engine,
        assumed=request.assumed,
        unresolved=tuple(str(item) for item in request.unresolved),
        **values,
    )


def finding(item: findings.Finding) -> FindingModel:
    """A finding in its published shape."""
    fix = FixModel(text=item.fix.text, edits=tuple(_edit(edit) for edit in item.fix.edits)) if item.fix else None
    return FindingModel(
        code=item.code,
        name=item.name,
        outcome=item.outcome.value,
        confidence=item.confidence.value,
        message=item.message,
        locations=tuple(location(at) for at in item.locations),
        measured={encodable(key): plain(value) for key, value in item.measured.items()},
        evidence=tuple(EvidenceModel(**asdict(evidence)) for evidence in item.evidence),
        fix=fix,
    )


def _edit(edit: findings.Edit) -> EditModel:
    kind = _EDITS[type(edit)]
    if isinstance(edit, findings.ReplaceArgument):
        return EditModel(kind=kind, index=edit.index, values=(edit.value,))
    if isinstance(edit, findings.AddArguments):
        return EditModel(kind=kind, values=edit.values)
    if isinstance(edit, findings.SetTensor):
        return EditModel(kind=kind, tensor=edit.name)  # tens of thousands of values: the text says how they follow
    value = edit.value if isinstance(edit, findings.SetConfig) else None
    return EditModel(kind=kind, pointer=edit.pointer, value=value)
