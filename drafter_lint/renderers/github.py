"""The report as GitHub workflow commands: annotations on the files of the checkout, the worst first.

A step shows ten annotations of each level and drops the rest without a word, so there are ten, and a line that says how
many more there are. The step summary is the Markdown report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from drafter_lint.findings import Outcome
from drafter_lint.renderers.advice import advice
from drafter_lint.renderers.artifacts import Place
from drafter_lint.renderers.escaping import command_data, command_property, log_line
from drafter_lint.renderers.ink import plain, plural
from drafter_lint.renderers.occurrences import Occurrence, engine_list, in_all_engines, pair_name, unchecked
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report

MAX_ANNOTATIONS = 10
_COMMANDS = {"refuses": "error", "silent": "error", "slow": "warning", "hygiene": "notice"}


class _Annotation(NamedTuple):
    command: str
    properties: Mapping[str, str | int]
    text: str

    def __str__(self) -> str:
        said = ",".join(f"{key}={command_property(str(value))}" for key, value in self.properties.items())
        return f"::{self.command} {said}::{command_data(self.text)}"


def render(report: Report, style: Style) -> str:
    """Annotations, how many were left out, and one line per check for the log."""
    annotations = list(_annotations(report))
    lines = [str(item) for item in annotations[:MAX_ANNOTATIONS]]
    more = len(annotations) - MAX_ANNOTATIONS
    if more > 0:
        lines.append(str(_Annotation("notice", {"title": "drafter-lint"}, f"{plural(more, 'finding')} more")))
    if not style.quiet:
        lines += [log_line(f"{check.verdict}: {pair_name(check)}, {engine_list([check])}") for check in report.checks]
    return plain(lines, style)


def _annotations(report: Report) -> Iterator[_Annotation]:
    """What stops or spoils the run, then what a verdict rests on and was not checked, then the rest."""
    found = in_all_engines(report.checks)
    grave = [item for item in found if item.finding.outcome.rank >= Outcome.SILENT.rank]
    yield from map(_annotation, grave)
    for item in unchecked(report.checks):
        if item.skip.needed:
            title = f"{item.skip.code} {item.skip.name} was not checked"
            text = f"{item.skip.reason} ({engine_list(item.checks)})"
            yield _Annotation("warning", {"title": title}, text)
    yield from map(_annotation, found[len(grave) :])


def _annotation(item: Occurrence) -> _Annotation:
    finding, check = item.finding, item.check
    target = check.target.name if check.target else "no known target"
    text = f"{finding.message} ({check.drafter.name} on {target}, {item.engines})"
    if finding.fix:
        text += f"; fix: {advice(finding.fix, check.request.argv if check.request else ())}"
    title = f"{finding.code} {finding.name}"
    return _Annotation(_COMMANDS[finding.outcome.value], {**_where(item.place), "title": title}, text)


def _where(place: Place) -> dict[str, str | int]:
    """File, line and columns; nothing for a file that is not in the checkout."""
    if not place.local:
        return {}
    where: dict[str, str | int] = {"file": place.path, "line": place.line}
    if place.at and place.at.line and place.at.column:
        # Both ends are part of the span: the runner sets endColumn to col where it is left out.
        where |= {"endLine": place.line, "col": place.at.column}
        where["endColumn"] = place.at.column + max((place.at.width or 1) - 1, 0)
    return where
