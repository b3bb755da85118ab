"""Python string literals as traced text: quotes, escapes, implicit joining and f-strings taken apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from drafter_lint.launch.files.traced import Traced, joined

_OPENING = re.compile(r"([A-Za-z]{0,3})(\"\"\"|'''|\"|')")
_BETWEEN = re.compile(r"(?:[\s\\]|#[^\n]*)*")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "0": "\0", "a": "\a", "b": "\b"}
Evaluate = Callable[[str], Traced | None]


def literal(source: Traced, value: str) -> Traced:
    """A string constant's characters, each traced; the constant as a whole if they cannot be told apart."""
    found = _pieces(source, None)
    return found if found is not None and found.text == value else Traced.stand_in(value, source.extent())


def formatted(source: Traced, evaluate: Evaluate) -> Traced:
    """An f-string with what is known put in, and the rest left as ``{expression}``."""
    found = _pieces(source, evaluate)
    return found if found is not None else source


def _pieces(source: Traced, evaluate: Evaluate | None) -> Traced | None:
    """The characters of one or several adjacent literals; None for what is none."""
    parts: list[Traced] = []
    position = 0
    text = source.text
    while position < len(text):
        opening = _OPENING.match(text, position)
        if opening is None:
            return None
        prefix, quote = opening[1].lower(), opening[2]
        start = opening.end()
        end = _end(text, start, quote)
        if end is None:
            return None
        inside = source.cut(start, end)
        if "f" in prefix:
            if evaluate is None:
                return None
            parts += _fields(inside, evaluate, raw="r" in prefix)
        else:
            parts.append(inside if "r" in prefix else _unescaped(inside))
        between = _BETWEEN.match(text, end + len(quote))
        position = between.end() if between else len(text)
    return joined(parts)


def _end(text: str, start: int, quote: str) -> int | None:
    position = start
    while position < len(text):
        if text.startswith(quote, position):
            return position
        position += 2 if text[position] == "\\" else 1
    return None


def _unescaped(inside: Traced) -> Traced:
    characters: list[str] = []
    indexes: list[int] = []
    text, position = inside.text, 0
    while position < len(text):
        following = text[position + 1 : position + 2]
        if text[position] == "\\" and following:
            if following in _SIMPLE:
                characters.append(_SIMPLE[following])
                indexes.append(position + (following in "\\'\""))
            elif following != "\n":
                characters.append("\\")
                indexes.append(position)
                position -= 1
            position += 2
        else:
            characters.append(text[position])
            indexes.append(position)
            position += 1
    return inside.pick("".join(characters), indexes)


def _fields(inside: Traced, evaluate: Evaluate, *, raw: bool) -> list[Traced]:
    parts: list[Traced] = []
    text, position, kept = inside.text, 0, 0

    def keep(stop: int) -> None:
        piece = inside.cut(kept, stop)
        parts.append(piece if raw else _unescaped(piece))

    while position < len(text):
        if text[position] in "{}" and text[position + 1 : position + 2] == text[position]:
            keep(position + 1)
            position += 2
            kept = position
        elif text[position] == "{":
            keep(position)
            end = _closing(text, position)
            whole = inside.cut(position, end)
            value = evaluate(_expression(whole.text[1:-1]))
            parts.append(whole if value is None else value.standing_at(whole.extent()))
            position = kept = end
        else:
            position += 1
    keep(len(text))
    return parts


def _closing(text: str, at: int) -> int:
    depth = 0
    for position in range(at, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position + 1
    return len(text)


def _expression(text: str) -> str:
    """The expression of a replacement field without its conversion and its format."""
    for stop in [len(text), *(match.start() for match in re.finditer(r"![rsa]|:|=", text))][:20]:
        try:
            ast.parse(f"({text[:stop].strip()})", mode="eval")
        except (SyntaxError, ValueError, MemoryError):
            continue
        return text[:stop].strip()
    return text
