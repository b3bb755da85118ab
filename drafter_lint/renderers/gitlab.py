"""The report as GitLab's code quality JSON: one issue per finding and engine. Unread parts have no place in it."""

from __future__ import annotations

import json

from drafter_lint.findings import JsonValue
from drafter_lint.renderers.escaping import sound
from drafter_lint.renderers.fingerprint import Fingerprints
from drafter_lint.renderers.occurrences import Occurrence, in_each_engine
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report

_SEVERITIES = {"refuses": "blocker", "silent": "critical", "slow": "minor", "hygiene": "info"}


def render(report: Report, style: Style) -> str:
    """A JSON list, empty if nothing was found."""
    fingerprints = Fingerprints()
    issues = [_issue(item, fingerprints) for item in in_each_engine(report.checks)]
    return json.dumps(issues, indent=2, ensure_ascii=not style.unicode) + "\n"


def _issue(item: Occurrence, fingerprints: Fingerprints) -> dict[str, JsonValue]:
    finding, check = item.finding, item.check
    target = check.target.name if check.target else "no known target"
    return {
        "description": sound(f"{finding.message} ({check.drafter.name} on {target}, {item.engines})"),
        "check_name": f"{finding.code} {finding.name}",
        "fingerprint": fingerprints.of(finding, check),
        "severity": _SEVERITIES[finding.outcome.value],
        "location": {"path": sound(item.place.path), "lines": {"begin": item.place.line}},
    }
