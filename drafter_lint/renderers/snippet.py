"""The places of a finding: source lines with their spans underlined, and related places grouped by whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

from drafter_lint.findings import Location
from drafter_lint.renderers.ink import cells, clean, paint, wrapped
from drafter_lint.renderers.style import Style

_CUT = "..."
_EXCERPT = 60
_PLACE = 30
_WHOLE = 1 << 30
_FLAG = 44
_LABEL = 30


class Margin(NamedTuple):
    """What stands left of everything about a finding: room for a line number, then the bar."""

    width: int
    style: Style

    @property
    def room(self) -> int:
        """Columns right of the bar and one space."""
        return max(self.style.width - self.width - 3, 30)

    def numbered(self, number: int | None, text: str = "") -> str:
        """A line behind the bar, with its number."""
        shown = " " * self.width if number is None else paint(f"{number:>{self.width}}", self.style, "blue")
        return f"{shown} {paint('|', self.style, 'blue')} {text}"

    def headed(self, sign: str, text: str) -> str:
        """A line that starts at the bar's left with ``-->``, ``:::`` or ``=``."""
        return f"{' ' * self.width}{paint(sign, self.style, 'blue')} {text}"

    def wrapped(self, text: str, *, indent: int, hang: int, color: str = "") -> Iterator[str]:
        """A sentence behind the bar."""
        left = " " * (self.width + 3)
        colors = (color,) if color else ()
        for line in wrapped(text, self.style, first=left + " " * indent, rest=left + " " * hang):
            body = line[len(left) :]
            blank = len(body) - len(body.lstrip())
            yield self.numbered(None, body[:blank] + paint(body[blank:], self.style, *colors))


def margin(locations: Sequence[Location], style: Style) -> Margin:
    """A margin wide enough for the largest line number drawn."""
    numbers = [item.line for item in _together(locations) if item.line]
    return Margin(max([2, *(len(str(number)) for number in numbers)]), style)


def places(locations: Sequence[Location], left: Margin) -> Iterator[str]:
    """Every place of a finding, the primary one first."""
    if not locations:
        return
    locations = _without_echoes(locations)
    primary, together = locations[0], _together(locations)
    related = [item for item in locations[1:] if item not in together]
    yield left.headed("-->", _where(primary))
    yield left.numbered(None)
    if together:
        yield from _document(primary, together, left)
    elif primary.tensor is not None:
        yield left.numbered(None, _named(primary))
        yield from _mark(0, cells(clean(primary.tensor)), primary, left, primary=True)
    elif said := _content(primary):
        yield from left.wrapped(said, indent=0, hang=2)
    if together or _content(primary):
        yield left.numbered(None)
    owners = list(dict.fromkeys(clean(item.subject) for item in related))
    for owner in owners:
        yield left.headed(":::", owner)
        yield from _group([item for item in related if clean(item.subject) == owner], left)
    if owners:
        yield left.numbered(None)


def _without_echoes(locations: Sequence[Location]) -> list[Location]:
    """The places without those that say nothing and stand where an earlier one does."""
    kept: list[Location] = []
    for item in locations:
        if item.label or not any(replace(other, label="") == item for other in kept):
            kept.append(item)
    return kept


def _together(locations: Sequence[Location]) -> list[Location]:
    """The primary place and every other that can be drawn in the same document, by line."""

    def document(item: Location) -> tuple[object, ...]:
        return (item.role, item.subject, item.file, item.text if item.line is None else None)

    drawn = [item for item in locations if item.text is not None and item.column is not None]
    if not drawn or drawn[0] is not locations[0]:
        return []
    return sorted((item for item in drawn if document(item) == document(drawn[0])), key=lambda item: item.line or 0)


def _where(at: Location) -> str:
    place = _inside(at)
    return place if at.role == "launch" else ": ".join(part for part in (clean(at.subject), place) if part)


def _inside(at: Location) -> str:
    """The place inside its subject: ``config.json:3:5``, ``model.safetensors``, ``command line``."""
    if at.role == "launch" and not at.file:
        return "command line"
    return clean(at.file) + (f":{at.line}:{at.column}" if at.line is not None else "")


def _named(at: Location) -> str:
    return f"{clean(at.tensor or '')} {list(at.shape) if at.shape is not None else '(absent)'}"


def _content(at: Location) -> str:
    """What is to be seen there: the value or the tensor, and the label."""
    value = _named(at) if at.tensor is not None else " = ".join(filter(None, (clean(at.pointer or ""), _excerpt(at))))
    return ", ".join(filter(None, (value, clean(at.label))))


def _excerpt(at: Location) -> str:
    """The characters of the span; nothing for objects and lists, whose first line says little."""
    if at.text is None or at.column is None:
        return ""
    span = at.text[at.column - 1 :][: at.width or 1]
    return "" if span.startswith(("{", "[")) else clean(span, _EXCERPT)


def _group(items: Sequence[Location], left: Margin) -> Iterator[str]:
    """The places of one owner in two columns: where, and what is to be seen there."""
    width = min(max(cells(_inside(item)) for item in items), _PLACE)
    for item in items:
        where = _inside(item)
        head, *rest = left.wrapped(_content(item), indent=width + 2, hang=width + 2)
        if len(where) > width:
            yield left.numbered(None, where)
            yield head
        else:
            yield left.numbered(None, where.ljust(width + 2) + head[len(left.numbered(None)) + width + 2 :])
        yield from rest


def _document(primary: Location, together: Sequence[Location], left: Margin) -> Iterator[str]:
    lines = [list(items) for _, items in groupby(together, key=lambda item: item.line)]
    gaps = [False, *((after[0].line or 0) - (before[0].line or 0) > 1 for before, after in pairwise(lines))]
    for spans, gap in zip(lines, gaps, strict=True):
        if gap:
            yield paint(_CUT, left.style, "blue")
        ordered = sorted(spans, key=lambda item: (item is not primary, item.column))
        for window in _windows(ordered, left.room):
            yield from _line(window, primary, left)


def _windows(spans: Sequence[Location], room: int) -> Iterator[list[Location]]:
    """Spans of one line that can be seen at once stand together; the others get the line again, cut elsewhere."""
    text = clean(spans[0].text or "", _WHOLE).rstrip()
    seen: list[Location] = []
    for span in spans:
        low = _context(text, min(_start(item) for item in [*seen, span]))
        high = max(_end(item) for item in [*seen, span])
        if seen and len(text) > room and high - low > room - 2 * len(_CUT) - 2:
            yield seen
            seen = []
        seen.append(span)
    yield seen


def _context(text: str, low: int) -> int:
    """Where the word before a span begins: the flag of a value, the key of a member."""
    before = text[:low].rstrip()
    start = before.rfind(" ") + 1
    return start if low - start <= _FLAG else max(0, low - _FLAG // 2)


def _start(at: Location) -> int:
    return len(clean((at.text or "")[: (at.column or 1) - 1], _WHOLE))


def _end(at: Location) -> int:
    return len(clean((at.text or "")[: (at.column or 1) - 1 + (at.width or 1)], _WHOLE))


def _line(spans: Sequence[Location], primary: Location, left: Margin) -> Iterator[str]:
    """The source line, cut to a window around the spans, and each span underlined with its label."""
    text = clean(spans[0].text or "", _WHOLE).rstrip()
    start, end = _cut(text, min(map(_start, spans)), max(map(_end, spans)), left.room)
    head = f"{_CUT} " if start else ""
    tail = f" {_CUT}" if end < len(text) else ""
    yield left.numbered(spans[0].line, f"{head}{text[start:end]}{tail}")
    for span in spans:
        column = len(head) + cells(text[start : _start(span)])
        width = max(1, cells(text[_start(span) : min(_end(span), end)]))
        yield from _mark(column, width, span, left, primary=span is primary)


def _cut(text: str, low: int, high: int, room: int) -> tuple[int, int]:
    """The part of a line to show: all of it, or what fits from the word before the spans on, up to a word's end."""
    if len(text) <= room:
        return 0, len(text)
    inner = room - 2 * len(_CUT) - 2
    start = min(_context(text, low), max(0, high - inner, len(text) - inner))
    start = start if start >= high - inner else min(low, high - inner)
    if start and text[start - 1] != " ":
        start = text.find(" ", start, low) + 1 or start
    end = min(len(text), start + inner)
    if end < len(text):
        space = text.rfind(" ", high, end)
        end = space if space >= 0 else end
    return start, end


def _mark(column: int, width: int, at: Location, left: Margin, *, primary: bool) -> Iterator[str]:
    """The underline, its label behind it if there is room, else below."""
    sign, color = ("^", "red") if primary else ("-", "blue")
    label = clean(at.label)
    underline = sign * min(width, max(left.room - column, 1))
    behind = column + len(underline) + 1
    marked = " " * column + paint(underline, left.style, color)
    longest = max(map(cells, label.split()), default=0)
    if left.room - behind >= max(min(cells(label), _LABEL), longest):
        first, *rest = left.wrapped(label, indent=behind, hang=behind, color=color)
        yield left.numbered(None, f"{marked} {first[len(left.numbered(None)) + behind :]}".rstrip())
        yield from rest
        return
    yield left.numbered(None, marked)
    indent = max(0, min(column, left.room - cells(label)))
    yield from left.wrapped(label, indent=indent, hang=indent, color=color)
