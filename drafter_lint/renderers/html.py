"""The report as one HTML page that needs nothing else: a matrix of pairs and engines, a filter, and the details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drafter_lint.renderers.advice import citations, said_and_typed
from drafter_lint.renderers.escaping import block, markup
from drafter_lint.renderers.html_page import page
from drafter_lint.renderers.ink import plural
from drafter_lint.renderers.occurrences import Occurrence, engine_name, in_all_engines, pairs, unchecked
from drafter_lint.renderers.snippet import margin, places
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.summary import spent, summary
from drafter_lint.report import Check, Cost, Report, Subject

_OUTCOMES = {
    "refuses": "does not start, or stops at the first request",
    "silent": "starts and answers; the drafts are wrong or useless",
    "slow": "works below what it could",
    "hygiene": "works; worth tidying",
}
_PLAIN = Style(width=92, verbose=True)
_NOTHING = Cost(requests=0, bytes=0, seconds=0.0)


def render(report: Report, style: Style) -> str:
    """The page."""
    text = "\n".join(page(f"drafter-lint: {_total(report)}", _body(report))) + "\n"
    return text if style.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _total(report: Report) -> str:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.summary.items())
    return counts or "nothing was checked"


def _body(report: Report) -> Iterator[str]:
    groups = list(pairs(report.checks))
    numbers = {id(check): number for number, check in enumerate(report.checks, 1)}
    yield "<header><h1>drafter-lint</h1>"
    said = [plural(len(groups), "pair"), plural(len(report.checks), "check"), _total(report)]
    said += spent(report.cost)
    yield f'<p class="soft">{" · ".join(said)}</p></header>'
    if not groups:
        return
    yield "<main>"
    yield from _matrix(groups, numbers)
    yield from _filter()
    for number, group in enumerate(groups, 1):
        yield from _pair(number, group, numbers)
    yield "</main>"


def _matrix(groups: Sequence[Sequence[Check]], numbers: dict[int, int]) -> Iterator[str]:
    """A row per pair, a column per engine and version; a cell may hold several commands."""
    columns = list(dict.fromkeys(engine_name(check) for group in groups for check in group))
    yield '<div class="scroll" tabindex="0" role="region" aria-label="verdicts"><table><thead><tr>'
    yield from (f'<th scope="col">{markup(name)}</th>' for name in ("drafter on target", *columns))
    yield "</tr></thead><tbody>"
    for number, group in enumerate(groups, 1):
        yield f'<tr data-pair="{number}" data-search="{_searched(group)}">'
        target = markup(group[0].target.name) if group[0].target else "no known target"
        link = f'<a href="#pair-{number}">{markup(group[0].drafter.name)}</a>'
        yield f'<th scope="row">{link}<br><span class="soft">on {target}</span></th>'
        for name in columns:
            cells = [_cell(check, numbers[id(check)]) for check in group if engine_name(check) == name]
            yield f"<td>{''.join(cells)}</td>"
        yield "</tr>"
    yield "</tbody></table></div>"


def _cell(check: Check, number: int) -> str:
    codes = ", ".join(dict.fromkeys(item.code for item in check.findings))
    listed = f'<span class="codes">{markup(codes)}</span>' if codes else ""
    return f'<a href="#check-{number}">{_badge(check.verdict)}{listed}</a>'


def _badge(word: str) -> str:
    return f'<span class="badge {word}">{word}</span>'


def _filter() -> Iterator[str]:
    yield '<form hidden><fieldset aria-label="outcomes">'
    for word, meaning in _OUTCOMES.items():
        box = f'<input type="checkbox" value="{word}" checked>'
        yield f'<label title="{markup(meaning)}">{box}{_badge(word)}</label>'
    yield '</fieldset><input type="search" name="words" aria-label="filter" placeholder="code, name, engine or words">'
    yield '<span class="soft" id="shown" role="status"></span></form>'


def _pair(number: int, group: Sequence[Check], numbers: dict[int, int]) -> Iterator[str]:
    first = group[0]
    yield f'<section data-pair="{number}" data-search="{_searched(group)}">'
    yield f'<h2 id="pair-{number}">{_pair_name(first)}</h2>'
    titles = [_subject(item) for item in (first.drafter, first.target) if item]
    yield f'<p class="soft">{"<br>".join(titles)}</p>'
    found = in_all_engines(group)
    for item in found:
        yield from _finding(item)
    if not found:
        yield "<p>Nothing found.</p>"
    for check in group:
        yield from _check(check, numbers[id(check)])
    yield "</section>"


def _pair_name(check: Check) -> str:
    target = markup(check.target.name) if check.target else "no known target"
    return f'{markup(check.drafter.name)} <span class="soft">on</span> {target}'


def _subject(subject: Subject) -> str:
    origin = "" if subject.origin == "given" else f" ({subject.origin})"
    return markup(f"{subject.role}: {subject.shown}{origin}" + (f": {subject.title}" if subject.title else ""))


def _searched(group: Sequence[Check]) -> str:
    engines = " ".join(engine_name(check) for check in group)
    target = group[0].target.name if group[0].target else ""
    return markup(f"{group[0].drafter.name} {target} {engines}".lower())


def _finding(item: Occurrence) -> Iterator[str]:
    finding, check = item.finding, item.check
    outcome = finding.outcome.value
    searched = f"{finding.code} {finding.name} {finding.message} {item.engines} {check.drafter.name} {outcome}"
    yield f'<article class="{outcome}" data-outcome="{outcome}" data-search="{markup(searched.lower())}">'
    yield f"<header>{_badge(outcome)}<h3>{markup(f'{finding.code} {finding.name}')}</h3>"
    yield f'<span class="soft">{finding.confidence.value} · {markup(item.engines)}</span></header>'
    yield f"<p>{markup(finding.message)}</p>"
    if finding.locations:
        yield f"<pre>{block(places(finding.locations, margin(finding.locations, _PLAIN)))}</pre>"
    if finding.fix:
        said, typed = said_and_typed(finding.fix, check.request.argv if check.request else ())
        yield (
            "<p>Fix: "
            + ": ".join([markup(said)] * bool(said) + [f"<code>{markup(typed)}</code>"] * bool(typed))
            + "</p>"
        )
    cited = list(citations(finding.evidence))
    if cited:
        yield f"<details><summary>Evidence ({len(cited)})</summary><ul>"
        yield from (f"<li>{markup(text)}</li>" for text in cited)
        yield "</ul></details>"
    yield "</article>"


def _check(check: Check, number: int) -> Iterator[str]:
    """What the verdict in one engine rests on, and what was not checked."""
    yield f'<details id="check-{number}"><summary><strong>{markup(engine_name(check))}</strong> {_badge(check.verdict)}'
    missed = unchecked([check])
    yield f'<span class="soft">{check.checked} checked, {len(missed)} not checked</span></summary>'
    if check.request:
        assumed = "needed flags, none were given" if check.request.assumed else "command"
        yield f'<p class="soft">{assumed}</p><pre class="wrap">{markup(" ".join(check.request.argv))}</pre>'
    yield f"<pre>{block(summary([check], _NOTHING, _PLAIN))}</pre>"
    yield "</details>"
