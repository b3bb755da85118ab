"""One row of a survey as a line of JSON, and read again; its schema is shipped as survey.schema.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from drafter_lint.findings import Finding, Skip
from drafter_lint.renderers.document import plain
from drafter_lint.renderers.json_models import encodable
from drafter_lint.report import Check, Report, Subject

_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedSubject(_Record):
    """A checkpoint, as named and resolved."""

    spelling: str
    name: str
    commit: str | None
    title: str


class RecordedFinding(_Record):
    """A finding; `drafter-lint check` of the same pair gives its places and its evidence."""

    code: str
    name: str
    outcome: Literal["refuses", "silent", "slow", "hygiene"]
    confidence: Literal["certain", "likely", "possible"]
    message: str
    measured: dict[str, JsonValue]
    fix: str | None


class RecordedSkip(_Record):
    """A check that could not run, though the verdict would rest on it."""

    code: str
    reason: str


class RecordedCheck(_Record):
    """One engine at one version."""

    engine: str | None
    version: str | None
    knowledge: Literal["observed", "bracketed", "extrapolated", "ambiguous"] | None
    verdict: Literal["refuses", "silent", "slow", "hygiene", "ok", "unknown"]
    drafter: RecordedSubject
    target: RecordedSubject | None
    method: str | None
    findings: tuple[RecordedFinding, ...]
    suppressed: tuple[str, ...]
    checked: int
    not_checked: int
    needed: tuple[RecordedSkip, ...]


class Record(_Record):
    """A row of a survey: what was asked, and what came of it; ``error`` if it could not even be asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="drafter-lint survey record")

    survey: Literal[1]
    key: str
    tool: str
    asked: dict[str, JsonValue]
    exit_code: Literal[0, 1, 3, 4]
    error: str | None
    checks: tuple[RecordedCheck, ...]


def record(
    key: str, asked: Mapping[str, JsonValue], report: Report | None, *, tool: str, error: str | None = None
) -> str:
    """A line, without what differs from run to run: times, requests, the order of the work.

    Args:
        key: what it is found by again.
        asked: the row.
        report: what came of it, None for an ``error``.
        tool: the version of this tool.
        error: why nothing came of it.
    """
    code = report.exit_code if report else 4 if error and error.startswith("internal error") else 3
    made = {
        "survey": 1,
        "key": key,
        "tool": tool,
        "asked": dict(asked),
        "exit_code": code,
        "error": error,
        "checks": [_check(check) for check in report.checks] if report else [],
    }
    text = encodable(json.dumps(made, ensure_ascii=False, separators=(",", ":")))
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def recorded(line: str | bytes) -> Record:
    """A line read again.

    Raises:
        ValueError: it is no record.
    """
    return Record.model_validate_json(line)


def schema() -> dict[str, JsonValue]:
    """The JSON Schema of a line."""
    made: dict[str, JsonValue] = Record.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _check(check: Check) -> dict[str, object]:
    engine, plan = check.engine, check.plans[-1] if check.plans else None
    needed = dict.fromkeys((item.code, item.reason) for item in check.not_checked if _needed(item))
    return {
        "engine": engine.name if engine else None,
        "version": engine.version if engine else None,
        "knowledge": engine.knowledge if engine else None,
        "verdict": check.verdict,
        "drafter": _subject(check.drafter),
        "target": _subject(check.target) if check.target else None,
        "method": (plan.method or None) if plan else None,
        "findings": [_finding(item) for item in check.findings],
        "suppressed": [item.finding.code for item in check.suppressed],
        "checked": check.checked,
        "not_checked": len(check.not_checked),
        "needed": [{"code": code, "reason": reason} for code, reason in needed],
    }


def _needed(skip: Skip) -> bool:
    return skip.needed


def _subject(subject: Subject) -> dict[str, object]:
    return {
        "spelling": subject.spelling,
        "name": subject.name,
        "commit": subject.commit,
        "title": subject.title,
    }


def _finding(item: Finding) -> dict[str, object]:
    return {
        "code": item.code,
        "name": item.name,
        "outcome": item.outcome.value,
        "confidence": item.confidence.value,
        "message": item.message,
        "measured": {name: plain(value) for name, value in item.measured.items()},
        "fix": item.fix.text if item.fix else None,
    }
