"""Colour, characters and wrapping, so that renderers speak only of what they say."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Iterator

from drafter_lint.renderers.style import Style

# The eight colours every palette maps to something readable on its own background; never black or white.
_CODES = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36", "green": "32", "bold": "1", "dim": "2"}
_ASCII = {"–": "-", "—": "-", "…": "...", "“": '"', "”": '"', "→": "->", "×": "x", "·": ";", "≥": ">=", "≤": "<="}
# Control, format (bidi marks, joiners), surrogate, line and paragraph separator: a terminal would obey them or choke.
_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_LONGEST = 600


def clean(text: str, limit: int = _LONGEST) -> str:
    """Text from files, safe for a terminal and of bounded length: what a terminal would obey is shown as an escape."""
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char == "\t":
        return " "
    if unicodedata.category(char) not in _OBEYED:
        return char
    return char.encode("unicode_escape").decode("ascii")


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
        for char in text
    )


def paint(text: str, style: Style, *colors: str) -> str:
    """Text in colours, if the style has them."""
    if not style.color or not text or not colors:
        return text
    return f"\x1b[{';'.join(_CODES[color] for color in colors)}m{text}\x1b[0m"


def plain(lines: Iterable[str], style: Style) -> str:
    """Lines as one text within the character set of the style; nothing for no lines."""
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    if style.unicode:
        return text
    for char, replacement in _ASCII.items():
        text = text.replace(char, replacement)
    return text.encode("ascii", "backslashreplace").decode("ascii")


def wrapped(text: str, style: Style, *, first: str, rest: str) -> Iterator[str]:
    """Wrap a sentence: ``first`` before the first line, ``rest`` before the others."""
    lines = textwrap.wrap(
        clean(text),
        width=max(style.width, 40),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from lines or [first.rstrip()]


def aligned(rows: Iterable[tuple[str, ...]], *, gap: int = 3) -> Iterator[str]:
    """Rows of a table, every column but the last as wide as its widest cell."""
    table = list(rows)
    widths = [max(map(cells, column)) for column in zip(*table, strict=True)]
    for row in table:
        padded = (cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True))
        yield (" " * gap).join(padded).rstrip()


def size(count: int) -> str:
    """Bytes for people: 412 kB."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1_000_000:.1f} MB"


def plural(count: int, noun: str) -> str:
    """``1 request``, ``2 requests``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
