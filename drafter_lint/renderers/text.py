"""The report for a person at a terminal: what will happen, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from drafter_lint.findings import (
    Evidence,
    Finding,
    Outcome,
)
from drafter_lint.renderers.advice import advice
from drafter_lint.renderers.ink import aligned, paint, plain
from drafter_lint.renderers.snippet import Margin, margin, places
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.summary import engine_name, engine_names, headline, summary, verdict_color
from drafter_lint.report import Check, Cost, Report

_LEVEL = {Outcome.REFUSES: "error", Outcome.SILENT: "error", Outcome.SLOW: "warning", Outcome.HYGIENE: "note"}
_COLOR = {"error": "red", "warning": "yellow", "note": "cyan"}
_MEANING = {
    Outcome.REFUSES: "the server does not start, or stops at the first request",
    Outcome.SILENT: "the server starts and answers; the drafts are wrong or useless",
    Outcome.SLOW: "works below what it could",
    Outcome.HYGIENE: "works; worth tidying",
}
_CITED = 3


def render(report: Report, style: Style) -> str:
    """The whole report: a table first if there are several checks, each finding once, then what it rests on."""
    blocks: list[list[str]] = []
    groups = [
        list(group)
        for _, group in groupby(report.checks, key=lambda check: (check.drafter, check.target, check.source))
    ]
    if not groups and not style.quiet:
        blocks.append(["nothing to check: no launch command with speculative decoding"])
    for checks in groups:
        if len(checks) > 1 and not style.quiet:
            blocks.append(list(_table(checks, style)))
        blocks += [list(_finding(finding, where, len(checks) > 1, style)) for finding, where in _distinct(checks)]
        if not style.quiet:
            # What reading cost is said once, at the end.
            cost = report.cost if checks is groups[-1] else Cost(requests=0, bytes=0, seconds=0.0)
            blocks.append(list(summary(checks, cost, style)))
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines else block
    return plain(lines, style)


def _table(checks: Sequence[Check], style: Style) -> Iterator[str]:
    codes = [", ".join(dict.fromkeys(item.code for item in check.findings)) or "-" for check in checks]
    rows = [(f" {engine_name(check)}", check.verdict, said) for check, said in zip(checks, codes, strict=True)]
    header, *lines = aligned([(" engine", "verdict", "findings"), *rows])
    yield paint(header, style, "bold")
    for check, line in zip(checks, lines, strict=True):
        at = line.index(check.verdict, len(engine_name(check)))
        painted = paint(check.verdict, style, verdict_color(check))
        yield line[:at] + painted + line[at + len(check.verdict) :]


def _distinct(checks: Sequence[Check]) -> Iterator[tuple[Finding, list[Check]]]:
    """Every finding once, the worst first, with the checks that share it."""
    found: dict[tuple[str, str], tuple[Finding, list[Check]]] = {}
    for check in checks:
        for finding in check.findings:
            found.setdefault((finding.code, finding.message), (finding, []))[1].append(check)
    order = {key: index for index, key in enumerate(found)}
    yield from (found[key] for key in sorted(found, key=lambda key: (-found[key][0].outcome.rank, order[key])))


def _finding(finding: Finding, checks: Sequence[Check], several: bool, style: Style) -> Iterator[str]:
    left = margin(finding.locations, style)
    level = _LEVEL[finding.outcome]
    yield from headline(f"{level}[{finding.code}]", f"{finding.name}: {finding.message}", style, _COLOR[level])
    yield from places(finding.locations, left)
    if several:
        yield from _note("engine", ", ".join(engine_names(checks)), left)
    yield from _note("outcome", f"{finding.outcome.value} – {_MEANING[finding.outcome]}", left)
    yield from _note(finding.confidence.value, _evidence(finding.evidence, verbose=style.verbose), left)
    if finding.fix:
        request = checks[0].request
        yield from _note("fix", advice(finding.fix, request.argv if request else (), quoted=True), left)
    yield from _note("more", f"drafter-lint explain {finding.code}", left)


def _note(word: str, text: str, left: Margin) -> Iterator[str]:
    """``= word: text``, wrapped behind the sign."""
    lines = list(left.wrapped(f"{word}: {text}", indent=0, hang=2))
    bare = len(left.numbered(None))
    first, *rest = (line[bare:] for line in lines)
    yield left.headed("=", paint(f"{word}:", left.style, "bold") + first[len(word) + 1 :])
    yield from (" " * (left.width + 2) + line for line in rest)


def _evidence(evidence: Sequence[Evidence], *, verbose: bool) -> str:
    """Where the claim was seen, the places of one release after another."""
    if not evidence:
        return "from the files alone"
    said: list[str] = []
    unique = list(dict.fromkeys(evidence))
    shown = unique if verbose else unique[:_CITED]
    more = len(unique) - len(shown)
    said += [item.note for item in shown if not item.engine and item.note]
    shown = [item for item in shown if item.engine or not item.note]
    for (engine, version, how), items in groupby(shown, key=lambda item: (item.engine, item.version, item.how)):
        where = "; ".join(dict.fromkeys(", ".join(filter(None, (item.file, item.symbol))) for item in items))
        seen = "" if how == "read" else f" ({how})"
        said.append(", ".join(filter(None, (f"{engine} {version}".strip() + seen, where))))
    return "; ".join(said) + (f"; {more} more with -v" if more else "")
