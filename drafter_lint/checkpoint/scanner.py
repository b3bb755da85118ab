"""The reader that turns the bytes of a configuration file into a :class:`Document`, in linear time."""

from __future__ import annotations

import json
import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drafter_lint.checkpoint.bounded_json import shown
from drafter_lint.checkpoint.config import escape
from drafter_lint.checkpoint.document import Document, Problem, Span
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import JsonValue, Role

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 200_000
#: Pointers repeat the keys above them: a long key over many values would need the product of both.
MAX_POINTER_CHARACTERS = 32 * 1024 * 1024
#: The smallest limit the interpreter can be told to put on int(): sys.int_info.str_digits_check_threshold.
MAX_DIGITS = 640
MAX_PROBLEMS = 100

_NEWLINE = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(r'[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+')
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*+))(\.[0-9]++)?+([eE][-+]?[0-9]++)?+")
_CONSTANT = re.compile(r"NaN|-?Infinity")
_WORD = re.compile(r"[\w.+-]+|.", re.DOTALL)
_LITERALS: dict[str, bool | None] = {"t": True, "f": False, "n": None}
_SPELLED = {"t": "true", "f": "false", "n": "null"}


def scan(data: bytes, *, file: str, subject: str, role: Role) -> Document:
    """Read a JSON text, keeping the place of every key and value.

    Whatever a strict reader would refuse is recorded in ``problems``. After a syntax error the root is empty.

    Raises:
        Unavailable: the text is over a bound of ours: 4 MiB, 100 levels, 200,000 values.
    """
    what = f"{subject}: {file}" if subject else file
    if len(data) > MAX_BYTES:
        raise Unavailable(Trouble.TOO_LARGE, what, f"{len(data)} bytes, over the bound of {MAX_BYTES}")
    text, notes = _decode(data)
    scanner = _Scanner(text, what)
    root = scanner.root()
    # What stands in the place of bytes that are no UTF-8 is no syntax of anybody's.
    scanner.notes = [*(() if _encoding(notes) else scanner.notes), *notes]
    lines = _Lines(text)
    places = [place for place in scanner.places if place is not None]
    return Document(
        root=root,
        spans={pointer: lines.span(start, end) for pointer, is_key, start, end in places if not is_key},
        keys={pointer: lines.span(start, end) for pointer, is_key, start, end in places if is_key},
        problems=tuple(
            Problem(kind, detail, None if start is None else lines.span(start, end))
            for kind, detail, start, end in scanner.notes
        ),
        file=file,
        subject=subject,
        role=role,
        lines=lines.lines,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Extents:
    """Where everything in a text stands, to its last character, for whoever changes a part of it.

    Attributes:
        root: the value; empty if the text is no JSON object.
        values: JSON pointer to the first and last-plus-one character of the value.
        keys: the same for the key of an object member, quotes included.
        problems: the kinds of what is wrong with it, as in :class:`~drafter_lint.checkpoint.document.Problem`.
    """

    root: dict[str, JsonValue]
    values: Mapping[str, tuple[int, int]]
    keys: Mapping[str, tuple[int, int]]
    problems: tuple[str, ...]


def extents(text: str, *, what: str) -> Extents:
    """Read a JSON text without a byte-order mark, keeping where every key and value begins and ends.

    Raises:
        Unavailable: the text is over a bound of ours: 100 levels, 200,000 values.
    """
    scanner = _Scanner(text, what)
    root = scanner.root()
    places = [place for place in scanner.places if place is not None]
    return Extents(
        root=root,
        values={pointer: (start, end) for pointer, is_key, start, end in places if not is_key},
        keys={pointer: (start, end) for pointer, is_key, start, end in places if is_key},
        problems=tuple(kind for kind, _, _, _ in scanner.notes),
    )


# Kind, detail, first and last-plus-one character; None for the whole file.
_Note = tuple[str, str, int | None, int]
# Pointer, whether it is the key's place, first and last-plus-one character.
_Place = tuple[str, bool, int, int]


def _decode(data: bytes) -> tuple[str, list[_Note]]:
    notes: list[_Note] = []
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
        notes.append(("bom", "starts with a byte-order mark", None, 0))
    try:
        return data.decode(), notes
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode())
        detail = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        notes.append(("encoding", detail, at, at + 1))
        return data.decode(errors="replace"), notes


def _encoding(notes: list[_Note]) -> bool:
    return any(kind == "encoding" for kind, *_ in notes)


class _Lines:
    """Offsets to lines and columns."""

    def __init__(self, text: str) -> None:
        self.lines = tuple(_NEWLINE.split(text))
        self._starts = array("I", [0])
        self._starts.extend(match.end() for match in _NEWLINE.finditer(text))

    def span(self, start: int, end: int) -> Span:
        """The part of ``[start, end)`` that lies on the line of ``start``."""
        line = bisect_right(self._starts, start) - 1
        column = start - self._starts[line]
        on_line = len(self.lines[line]) - column
        return Span(line + 1, column + 1, max(1, min(end - start, on_line)))


class _SyntaxError(Exception):
    def __init__(self, at: int, detail: str) -> None:
        super().__init__(detail)
        self.at = at


class _Scanner:
    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.what = what
        self.notes: list[_Note] = []
        self.places: list[_Place | None] = []
        self._values = 0
        self._pointer_characters = 0

    def root(self) -> dict[str, JsonValue]:
        """The whole text; empty if it is no object."""
        try:
            start = self._skip(0)
            value, end = self._value(start, "", 0)
        except _SyntaxError as error:
            self.places.clear()
            self._note("syntax", str(error), error.at, error.at + len(self._word(error.at)))
            return {}
        after = self._skip(end)
        if after < len(self.text):
            told = f"{len(self.text) - after} characters after the end of the value, from {self._found(after)}"
            self._note("trailing", told, after, len(self.text))
        if isinstance(value, dict):
            return value
        self.places.clear()
        self._note("not-an-object", f"the file holds {_kind(value)}, not an object", start, end)
        return {}

    def _note(self, kind: str, detail: str, start: int, end: int) -> None:
        if len(self.notes) < MAX_PROBLEMS:
            self.notes.append((kind, detail, start, end))

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def _word(self, at: int) -> str:
        match = _WORD.match(self.text, at, min(at + 40, len(self.text)))
        return match[0] if match else ""

    def _found(self, at: int) -> str:
        word = self._word(at)
        return shown(word) if word else "the end of the file"

    def _bound(self, detail: str) -> Unavailable:
        return Unavailable(Trouble.TOO_LARGE, self.what, detail)

    def _value(self, at: int, pointer: str, depth: int) -> tuple[JsonValue, int]:
        self._values += 1
        self._pointer_characters += len(pointer)
        if self._values > MAX_VALUES:
            raise self._bound(f"holds more than {MAX_VALUES} values")
        if self._pointer_characters > MAX_POINTER_CHARACTERS:
            raise self._bound("its keys are too long for the number of values below them")
        if depth > MAX_DEPTH:
            raise self._bound(f"is nested more than {MAX_DEPTH} levels deep")
        value: JsonValue
        start = self.text[at : at + 1]
        if start == '"':
            value, end = self._string(at)
        elif start == "{":
            value, end = self._object(at, pointer, depth)
        elif start == "[":
            value, end = self._list(at, pointer, depth)
        elif start in _LITERALS and start and self.text.startswith(_SPELLED[start], at):
            value, end = _LITERALS[start], at + len(_SPELLED[start])
        else:
            value, end = self._number(at)
        self.places.append((pointer, False, at, end))
        return value, end

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at + 1)
        end = match.end() if match else at + 1
        closing = self.text[end : end + 1]
        if not closing:
            raise _SyntaxError(at, "a string that is not closed")
        if closing != '"':
            raise _SyntaxError(end, f"a string holds {self._found(end)}, which must be escaped")
        body = self.text[at + 1 : end]
        if "\\" not in body:
            return body, end + 1
        try:
            return str(json.loads(self.text[at : end + 1])), end + 1
        except json.JSONDecodeError as error:
            raise _SyntaxError(at + error.pos, "a string holds an escape that JSON does not know") from None

    def _number(self, at: int) -> tuple[JsonValue, int]:
        if constant := _CONSTANT.match(self.text, at):
            self._note("not-finite", f"{constant[0]} is no JSON value", at, constant.end())
            return float(constant[0]), constant.end()
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise _SyntaxError(at, f"expected a value, found {self._found(at)}")
        whole, end = match[1], match.end()
        if match[2] is None and match[3] is None:
            digits = len(whole.lstrip("-"))
            if digits <= MAX_DIGITS:
                return int(whole), end
            self._note("not-finite", f"an integer of {digits} digits", at, end)
            return math.copysign(math.inf, -1 if whole.startswith("-") else 1), end
        number = float(match[0])
        if math.isinf(number):
            self._note("not-finite", f"{shown(match[0])} is more than a double can hold", at, end)
        return number, end

    def _list(self, at: int, pointer: str, depth: int) -> tuple[list[JsonValue], int]:
        items: list[JsonValue] = []
        cursor = self._skip(at + 1)
        if self.text.startswith("]", cursor):
            return items, cursor + 1
        while True:
            if items and self.text.startswith("]", cursor):
                raise _SyntaxError(cursor, "a comma before the end of a list")
            item, cursor = self._value(cursor, f"{pointer}/{len(items)}", depth + 1)
            items.append(item)
            cursor, closed = self._next(cursor, "]")
            if closed:
                return items, cursor

    def _object(self, at: int, pointer: str, depth: int) -> tuple[dict[str, JsonValue], int]:
        members: dict[str, JsonValue] = {}
        marks: dict[str, tuple[int, int]] = {}
        cursor = self._skip(at + 1)
        if self.text.startswith("}", cursor):
            return members, cursor + 1
        while True:
            if members and self.text.startswith("}", cursor):
                raise _SyntaxError(cursor, "a comma before the end of an object")
            if not self.text.startswith('"', cursor):
                raise _SyntaxError(cursor, f"expected a key in double quotes, found {self._found(cursor)}")
            key, end = self._string(cursor)
            place = f"{pointer}/{escape(key)}"
            if key in members:
                self._forget(marks[key])
                self._note("duplicate-key", f"key {shown(key)} appears again; readers keep the last", cursor, end)
            mark = len(self.places)
            self.places.append((place, True, cursor, end))
            colon = self._skip(end)
            if not self.text.startswith(":", colon):
                raise _SyntaxError(colon, f"expected ':' after the key {shown(key)}, found {self._found(colon)}")
            members[key], cursor = self._value(self._skip(colon + 1), place, depth + 1)
            marks[key] = (mark, len(self.places))
            cursor, closed = self._next(cursor, "}")
            if closed:
                return members, cursor

    def _next(self, at: int, closing: str) -> tuple[int, bool]:
        cursor = self._skip(at)
        mark = self.text[cursor : cursor + 1]
        if mark == closing:
            return cursor + 1, True
        if mark != ",":
            raise _SyntaxError(cursor, f"expected ',' or '{closing}', found {self._found(cursor)}")
        return self._skip(cursor + 1), False

    def _forget(self, marks: Sequence[int]) -> None:
        """Drop the places of a value that a later duplicate replaces; each is dropped once, so time stays linear."""
        first, last = marks
        self.places[first:last] = [None] * (last - first)


def _kind(value: JsonValue) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string"
    if value is None:
        return "null"
    return "a boolean" if isinstance(value, bool) else "a number"
