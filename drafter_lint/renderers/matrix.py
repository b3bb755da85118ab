"""A survey as a matrix: a row per pair, a column per engine and version; as text, Markdown or HTML, line by line.

The records are gone through more than once, because columns and widths are known only at the end; none of them is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from drafter_lint.renderers.escaping import code, markdown, markup
from drafter_lint.renderers.html_page import page
from drafter_lint.renderers.ink import cells, clean, paint, plain, plural
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.survey_record import Record, RecordedCheck, RecordedSubject

#: Gives the records from the start, each time it is called.
Records = Callable[[], Iterable[Record]]
MATRICES = ("text", "markdown", "html")
_COLORS = {"refuses": "red", "silent": "red", "slow": "yellow", "unknown": "yellow", "hygiene": "cyan", "ok": "green"}
_WORST = tuple(_COLORS)
_CODES = 2
_FREQUENT = 10
_ALONE = "no engine"
_ERROR = "not asked"
_NAME = 60


class Cell(NamedTuple):
    """What a pair came to in one engine: the worst of its commands, and the rules that spoke."""

    verdict: str
    codes: tuple[str, ...]


def lines(records: Records, format_: str, style: Style) -> Iterator[str]:
    """The matrix in one of :data:`MATRICES`."""
    counted = _Count(records())
    if format_ == "html":
        return page("drafter-lint survey", _html(records, counted))
    made = _markdown(records, counted) if format_ == "markdown" else _text(records, counted, style)
    return (plain([line], style).rstrip("\n") for line in made)


class _Count:
    """What is known once every record has been seen."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.pairs = self.errors = 0
        self.widths = [len("drafter"), len("target")]
        self.verdicts: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        columns: dict[str, int] = {}
        for record in records:
            self.pairs += 1
            self.errors += record.error is not None
            self.widths = [max(old, cells(name)) for old, name in zip(self.widths, _names(record), strict=True)]
            self.verdicts.update(check.verdict for check in record.checks)
            self.rules.update({f"{item.code} {item.name}" for check in record.checks for item in check.findings})
            for name, cell in _cells(record).items():
                columns[name] = max(columns.get(name, cells(name)), cells(_said(cell)))
        self.columns = dict(sorted(columns.items(), key=lambda item: _by_version(item[0])))

    def told(self) -> Iterator[str]:
        """How many pairs came to what, and the rules that spoke of most of them."""
        total = ", ".join(f"{self.verdicts[word]} {word}" for word in _WORST if self.verdicts[word])
        errors = f", {self.errors} could not be asked" if self.errors else ""
        yield f"{plural(self.pairs, 'pair')}, {plural(self.verdicts.total(), 'check')}: {total or 'none'}{errors}"
        frequent = sorted(self.rules.items(), key=lambda item: (-item[1], item[0]))
        if frequent:
            more = f", and {len(frequent) - _FREQUENT} more rules" if len(frequent) > _FREQUENT else ""
            yield "in pairs: " + ", ".join(f"{name} {count}" for name, count in frequent[:_FREQUENT]) + more


def _by_version(name: str) -> tuple[str, Version, str]:
    engine, _, version = name.partition(" ")
    try:
        return engine, Version(version), name
    except InvalidVersion:
        return engine, Version("0"), name


def _names(record: Record) -> tuple[str, str]:
    """Drafter and target, as resolved; as asked where nothing came of it."""
    if record.checks:
        first = record.checks[0]
        return _subject(first.drafter), _subject(first.target) if first.target else "none known"
    asked = (record.asked.get("drafter") or record.asked.get("launch") or "", record.asked.get("target") or "")
    return clean(str(asked[0]), _NAME), clean(str(asked[1]), _NAME)


def _subject(subject: RecordedSubject) -> str:
    name = clean(subject.name, _NAME)
    return f"{name} @ {subject.commit[:7]}" if subject.commit else name


def _cells(record: Record) -> dict[str, Cell]:
    grouped: dict[str, list[RecordedCheck]] = {}
    for check in record.checks:
        name = f"{check.engine} {check.version}" if check.engine else _ALONE
        grouped.setdefault(name, []).append(check)
    return {
        name: Cell(
            min((check.verdict for check in checks), key=_WORST.index),
            tuple(dict.fromkeys(item.code for check in checks for item in check.findings)),
        )
        for name, checks in grouped.items()
    }


def _said(cell: Cell) -> str:
    more = f" +{len(cell.codes) - _CODES}" if len(cell.codes) > _CODES else ""
    return " ".join([cell.verdict, *cell.codes[:_CODES]]) + more


def _text(records: Records, counted: _Count, style: Style) -> Iterator[str]:
    widths = [*counted.widths, *counted.columns.values()]
    if counted.pairs:
        yield paint(_aligned(["drafter", "target", *counted.columns], widths), style, "bold")
    for record in records():
        names, found = _names(record), _cells(record)
        said = [_said(found[name]) if name in found else "" for name in counted.columns]
        line = _aligned([*names, *said], widths)
        verdict = min((cell.verdict for cell in found.values()), key=_WORST.index, default="unknown")
        told = f"{_aligned([*names], widths[:2])}  {_ERROR}: {clean(record.error, 300)}" if record.error else line
        yield paint(told, style, _COLORS[verdict]) if verdict != "ok" else told
    if counted.pairs:
        yield ""
    yield from counted.told()


def _aligned(words: list[str], widths: list[int]) -> str:
    return "  ".join(word + " " * (width - cells(word)) for word, width in zip(words, widths, strict=True)).rstrip()


def _markdown(records: Records, counted: _Count) -> Iterator[str]:
    yield "### drafter-lint survey"
    for line in counted.told():
        yield ""
        yield markdown(line)
    if not counted.pairs:
        return
    yield ""
    yield "| drafter | target |" + "".join(f" {markdown(name)} |" for name in counted.columns)
    yield "| --- | --- |" + " --- |" * len(counted.columns)
    for record in records():
        found = _cells(record)
        said = [_marked(found[name]) if name in found else "" for name in counted.columns]
        if record.error and said:
            said[0] = markdown(f"{_ERROR}: {record.error}")
        names = [code(name, cell=True) if name else "" for name in _names(record)]
        yield f"| {' | '.join([*names, *said])} |"


def _marked(cell: Cell) -> str:
    return f"**{cell.verdict}** {markdown(' '.join(cell.codes))}".rstrip()


def _html(records: Records, counted: _Count) -> Iterator[str]:
    yield "<header><h1>drafter-lint survey</h1>"
    for line in counted.told():
        yield f'<p class="soft">{markup(line)}</p>'
    yield "</header><main>"
    yield '<form hidden><input type="search" name="words" aria-label="filter" placeholder="name, engine or code">'
    yield '<span class="soft" id="shown" role="status"></span></form>'
    yield '<div class="scroll" tabindex="0" role="region" aria-label="verdicts"><table><thead><tr>'
    yield "".join(f'<th scope="col">{markup(name)}</th>' for name in ("drafter on target", *counted.columns))
    yield "</tr></thead><tbody>"
    for record in records():
        drafter, target = _names(record)
        found = _cells(record)
        codes = " ".join(code for cell in found.values() for code in cell.codes)
        searched = markup(f"{drafter} {target} {codes}".lower())
        yield f'<tr data-pair="" data-search="{searched}">'
        yield f'<th scope="row">{markup(drafter)}<br><span class="soft">on {markup(target or "no known target")}</span>'
        yield f"<br>{markup(f'{_ERROR}: {record.error}')}</th>" if record.error else "</th>"
        yield "".join(f"<td>{_badged(found[name]) if name in found else ''}</td>" for name in counted.columns)
        yield "</tr>"
    yield "</tbody></table></div></main>"


def _badged(cell: Cell) -> str:
    badge = f'<span class="badge {cell.verdict}">{cell.verdict}</span>'
    return badge + (f'<span class="codes">{markup(", ".join(cell.codes))}</span>' if cell.codes else "")
