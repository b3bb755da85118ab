"""Edits of a JSON text by spans: the value at a pointer changes, every other character stays as it was written."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from drafter_lint.checkpoint.config import escape
from drafter_lint.checkpoint.scanner import MAX_BYTES, Extents, extents
from drafter_lint.errors import Unavailable
from drafter_lint.findings import JsonValue, RemoveConfig, SetConfig
from drafter_lint.fixes.change import CannotEdit

BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_LINE_END = re.compile(r"\r\n|\r|\n")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_END = "-"  # behind the last element of a list, in a pointer


@dataclass(frozen=True, slots=True)
class Replaced:
    """``text`` in place of the characters from ``start`` up to, not including, ``end``."""

    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """The whole text with it."""
        return text[: self.start] + self.text + text[self.end :]


def decoded(data: bytes) -> tuple[bytes, str]:
    """The byte-order mark, if there is one, and the text behind it.

    Raises:
        CannotEdit: it is not UTF-8.
    """
    mark = BOM if data.startswith(BOM) else b""
    try:
        return mark, data[len(mark) :].decode()
    except UnicodeDecodeError:
        raise CannotEdit("the file is not UTF-8") from None


def edited(data: bytes, edits: Sequence[SetConfig | RemoveConfig]) -> bytes:
    """A configuration file after some edits, one after the other.

    Raises:
        CannotEdit: the file is no JSON object, or one of the edits has no place in it.
    """
    if len(data) > MAX_BYTES:
        raise CannotEdit(f"the file has {len(data)} bytes, over the bound of {MAX_BYTES}")
    mark, text = decoded(data)
    for edit in edits:
        text = replaced(text, edit).of(text)
    return mark + text.encode()


def replaced(text: str, edit: SetConfig | RemoveConfig) -> Replaced:
    """The one span an edit changes; reading the new text gives the document with that edit and nothing else.

    Raises:
        CannotEdit: the text is no JSON object, the edit leads nowhere, or its key is written twice.
    """
    at = _read(text)
    made = _set(text, at, edit) if isinstance(edit, SetConfig) else _remove(text, at, edit.pointer)
    wanted = intended(at.root, edit)
    # Compared as text: the order of keys counts, NaN equals itself, and 1 is not 1.0 or true.
    if json.dumps(_read(made.of(text)).root) != json.dumps(wanted):
        raise CannotEdit(f"{edit.pointer}: the file writes a key of it twice")
    return made


def intended(root: JsonValue, edit: SetConfig | RemoveConfig) -> JsonValue:
    """The document an edit asks for, made anew; parents that are not there become objects.

    Raises:
        CannotEdit: the pointer leads nowhere.
    """
    return _intended(root, edit, edit.pointer.split("/")[1:])


def _intended(node: JsonValue, edit: SetConfig | RemoveConfig, tokens: list[str]) -> JsonValue:
    if not tokens:
        return edit.value if isinstance(edit, SetConfig) else None
    token, *rest = tokens
    last = not rest
    if isinstance(node, dict):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(edit, RemoveConfig) and last:
            return {name: value for name, value in node.items() if name != key}
        return {**node, key: _intended(node.get(key, {}), edit, rest)}
    if isinstance(node, list):
        if last and token == _END and isinstance(edit, SetConfig):
            return [*node, edit.value]
        index = int(token) if _INDEX.fullmatch(token) else len(node)
        if index >= len(node):
            raise CannotEdit(f"{edit.pointer} leads nowhere: the list has {len(node)} elements")
        if isinstance(edit, RemoveConfig) and last:
            return [*node[:index], *node[index + 1 :]]
        return [*node[:index], _intended(node[index], edit, rest), *node[index + 1 :]]
    raise CannotEdit(f"{edit.pointer} leads nowhere: it passes through a value that is no object")


def _read(text: str) -> Extents:
    try:
        at = extents(text, what="the file")
    except Unavailable as error:
        raise CannotEdit(str(error)) from error
    if broken := {"syntax", "trailing", "not-an-object"} & set(at.problems):
        raise CannotEdit(f"the file is no JSON object ({', '.join(sorted(broken))})")
    return at


def _set(text: str, at: Extents, edit: SetConfig) -> Replaced:
    if not edit.pointer.startswith("/"):
        raise CannotEdit(f"{edit.pointer!r} is no place inside a document")
    style = _Style(text, at)
    if extent := at.values.get(edit.pointer):
        start, end = extent
        spread = not isinstance(edit.value, list) or text[start] != "[" or _LINE_END.search(text, start, end)
        return Replaced(start, end, style.dumped(edit.value, base=_indent(text, start), spread=bool(spread)))
    tokens = edit.pointer.split("/")[1:]
    depth = next(n for n in range(len(tokens) - 1, -1, -1) if _joined(tokens[:n]) in at.values)
    parent = _joined(tokens[:depth])
    start, end = at.values[parent]
    if text[start] == "[" and tokens[depth:] == [_END]:
        return _appended(text, start, end, style=style, key="", value=edit.value)
    if text[start] != "{":
        raise CannotEdit(f"{edit.pointer} leads nowhere: {parent} is no object")
    value = edit.value
    for token in reversed(tokens[depth + 1 :]):
        value = {_key(token): value}
    return _appended(text, start, end, style=style, key=style.key(_key(tokens[depth])), value=value)


def _appended(text: str, start: int, end: int, *, style: _Style, key: str, value: JsonValue) -> Replaced:
    """One more member or element, behind the last one and set as it is."""
    last = _before(text, end - 1)
    if last == start + 1:  # nothing in it yet
        base = _indent(text, start)
        if style.unit is None or not key:
            return Replaced(start + 1, end - 1, key + style.dumped(value, base=base))
        inner = base + style.unit
        member = key + style.dumped(value, base=inner)
        return Replaced(start + 1, end - 1, f"{style.newline}{inner}{member}{style.newline}{base}")
    first = _after(text, start + 1)
    lead = text[start + 1 : first]
    if not _LINE_END.search(lead):
        return Replaced(last, last, style.comma + key + style.dumped(value, base=_indent(text, start), spread=False))
    inner = _LINE_END.split(lead)[-1]
    return Replaced(last, last, f",{style.newline}{inner}{key}{style.dumped(value, base=inner)}")


def _remove(text: str, at: Extents, pointer: str) -> Replaced:
    if pointer not in at.values or not pointer:
        raise CannotEdit(f"{pointer} is not in the file")
    start, end = at.values[pointer]
    start = at.keys.get(pointer, (start, end))[0]
    before, after = _before(text, start), _after(text, end)
    if text[after] == ",":
        return Replaced(start, _after(text, after + 1), "")
    if text[before - 1] == ",":
        return Replaced(before - 1, end, "")
    return Replaced(before, after, "")


class _Style:
    """How a text is set: its line ends, its indentation, its separators."""

    def __init__(self, text: str, at: Extents) -> None:
        found = _LINE_END.search(text)
        self.newline = found[0] if found else "\n"
        self.unit: str | None = None
        self.colon, self._ascii = ": ", text.isascii()
        if not at.keys:
            return
        pointer, (start, end) = min(at.keys.items(), key=lambda item: item[1])
        begin = _before(text, start)
        if _LINE_END.search(text, begin, start):
            outer, inner = _indent(text, at.values[""][0]), _indent(text, start)
            self.unit = inner.removeprefix(outer) or "  "
        self.colon = text[end : at.values[pointer][0]]
        if _LINE_END.search(self.colon):
            self.colon = ": "

    @property
    def comma(self) -> str:
        """Between two members on one line."""
        return ", " if self.colon.endswith((" ", "\t")) else ","

    def key(self, name: str) -> str:
        """A key and its colon."""
        return self._text(name) + self.colon

    def dumped(self, value: JsonValue, *, base: str, spread: bool = True) -> str:
        """A value as text; objects and lists one member a line where the file has it so.

        Args:
            value: what to write.
            base: the indentation of the line it begins on.
            spread: False keeps it on one line.
        """
        indent = self.unit if spread else None
        separators = (self.comma if indent is None else ",", self.colon)
        try:
            found = json.dumps(value, indent=indent, separators=separators, ensure_ascii=self._ascii, allow_nan=False)
            found.encode()
        except UnicodeEncodeError:  # half of a surrogate pair stands in UTF-8 only as an escape
            found = json.dumps(value, indent=indent, separators=separators, allow_nan=False)
        except ValueError as error:
            raise CannotEdit(f"the value cannot be written as JSON: {error}") from None
        return found.replace("\n", self.newline + base)

    def _text(self, name: str) -> str:
        return self.dumped(name, base="", spread=False)


def _joined(tokens: Sequence[str]) -> str:
    return "".join(f"/{token}" for token in tokens)


def _key(token: str) -> str:
    key = token.replace("~1", "/").replace("~0", "~")
    if escape(key) != token:
        raise CannotEdit(f"{token!r} is no part of a JSON pointer")
    return key


def _indent(text: str, at: int) -> str:
    """The blanks the line of a character begins with."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[begin:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _before(text: str, at: int) -> int:
    """Behind the last character before ``at`` that is no blank."""
    while text[at - 1] in _SPACE:
        at -= 1
    return at


def _after(text: str, at: int) -> int:
    """The first character from ``at`` on that is no blank."""
    while text[at] in _SPACE:
        at += 1
    return at
