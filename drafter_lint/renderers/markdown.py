"""The report as Markdown, for a pull request's comment and a step's summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drafter_lint.renderers.advice import citations, said_and_typed
from drafter_lint.renderers.escaping import code, fenced, markdown
from drafter_lint.renderers.ink import plain, plural
from drafter_lint.renderers.occurrences import (
    Occurrence,
    Unchecked,
    engine_list,
    engine_name,
    in_all_engines,
    pairs,
    unchecked,
)
from drafter_lint.renderers.snippet import margin, places
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Report, Subject

#: GitHub refuses a comment of more than 65,536 characters.
MAX_CHARACTERS = 60_000
_MAX_ROWS = 100
_CITED = 3
_MEANINGS = {
    "refuses": "does not start",
    "silent": "drafts wrong or useless",
    "unknown": "not everything needed could be read",
    "slow": "slower than it could be",
    "hygiene": "worth tidying",
    "ok": "nothing found",
}
_WORST_FIRST = list(_MEANINGS)


def render(report: Report, style: Style) -> str:
    """A table of all checks, every finding, and what was not checked; the mildest are left out of a text too long."""
    head = "\n".join(_table(report.checks)) + "\n"
    tail = "" if style.quiet else "\n".join(_foot(report)) + "\n"
    parts = [head]
    room = MAX_CHARACTERS - len(head) - len(tail) - 200
    blocks = ["\n".join(_finding(item)) + "\n" for item in in_all_engines(report.checks)]
    shown = 0
    for block in blocks:
        room -= len(block) + 1
        if room < 0:
            break
        parts.append(block)
        shown += 1
    if shown < len(blocks):
        parts.append(
            f"{plural(len(blocks) - shown, 'finding')} more, none of them worse, left out of a text this long.\n"
        )
    return plain("\n".join([*parts, tail] if tail else parts).splitlines(), style)


def _table(checks: Sequence[Check]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for check in checks:
        counts[check.verdict] = counts.get(check.verdict, 0) + 1
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    yield f"### drafter-lint: {total or 'nothing was checked'}"
    if not checks:
        return
    yield ""
    yield "| drafter | target | engine | verdict | findings |"
    yield "| --- | --- | --- | --- | --- |"
    shown = checks if len(checks) <= _MAX_ROWS else sorted(checks, key=lambda check: _WORST_FIRST.index(check.verdict))
    for check in shown[:_MAX_ROWS]:
        codes = ", ".join(dict.fromkeys(item.code for item in check.findings)) or "none"
        target = _subject(check.target) if check.target else "none known"
        meaning = _MEANINGS[check.verdict]
        yield (
            f"| {_subject(check.drafter)} | {target} | {code(engine_name(check), cell=True)} "
            f"| **{check.verdict}**: {meaning} | {markdown(codes)} |"
        )
    if len(checks) > _MAX_ROWS:
        yield f"\n{plural(len(checks) - _MAX_ROWS, 'row')} more, none of them worse."


def _subject(subject: Subject) -> str:
    commit = f" at {code(subject.commit[:7], cell=True)}" if subject.commit else ""
    given = "" if subject.spelling in ("", subject.name) else f"{code(subject.spelling, cell=True)} is "
    return f"{given}{code(subject.name, cell=True)}{commit}"


def _finding(item: Occurrence) -> Iterator[str]:
    finding, check = item.finding, item.check
    yield f"**{markdown(f'{finding.code} {finding.name}')}** ({finding.outcome.value}, {finding.confidence.value})<br>"
    yield f"{markdown(finding.message)}<br>"
    target = f" on {code(check.target.name)}" if check.target else ""
    yield f"For {code(check.drafter.name)}{target}, {markdown(item.engines)}"
    if finding.locations:
        yield ""
        yield fenced(places(finding.locations, margin(finding.locations, Style())))
    if finding.fix:
        yield ""
        said, typed = said_and_typed(finding.fix, check.request.argv if check.request else ())
        yield "Fix: " + ": ".join([markdown(said)] * bool(said) + [code(typed)] * bool(typed))
    cited = list(citations(finding.evidence))
    if cited:
        more = f"; {len(cited) - _CITED} more" if len(cited) > _CITED else ""
        yield ""
        yield f"<sub>Rests on {'; '.join(map(markdown, cited[:_CITED]))}{more}</sub>"


def _foot(report: Report) -> Iterator[str]:
    checked = sum(check.checked for check in report.checks)
    missed = unchecked(report.checks)
    yield f"{checked} checked, {sum(len(item.checks) for item in missed)} not checked"
    if missed:
        yield ""
        yield "<details><summary>Not checked</summary>"
        yield ""
        for item in missed[:_MAX_ROWS]:
            yield _missed(item)
        if len(missed) > _MAX_ROWS:
            yield f"- {plural(len(missed) - _MAX_ROWS, 'reason')} more"
        yield ""
        yield "</details>"
    if len(list(pairs(report.checks))) == 1 and report.checks[0].request and not report.checks[0].request.assumed:
        yield ""
        yield f"Command: {code(' '.join(report.checks[0].request.argv))}"


def _missed(item: Unchecked) -> str:
    needed = "needed, " if item.skip.needed else ""
    where = engine_list(item.checks)
    return (
        f"- {markdown(f'{item.skip.code} {item.skip.name}')} ({needed}{markdown(where)}): {markdown(item.skip.reason)}"
    )
