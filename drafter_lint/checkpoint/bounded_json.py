"""JSON written by machines (headers, indexes): bounded before it is parsed, read without positions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import NoReturn

from pydantic_core import from_json

from drafter_lint.errors import Trouble, Unavailable


class RefusedError(ValueError):
    """A text that is JSON and may not be what it is."""


_SPACE = rb"[ \t\r\n]*+"
#: An object of names and numbers no longer than an id, give or take its commas.
_FLAT = re.compile(
    _SPACE.join((rb"\{(?:", rb'"(?:[^"\\]++|\\.)*+"', rb":", rb"[0-9]{1,18}+", rb",?+)*+", rb"\}")), re.DOTALL
)
#: What stands between a name and its number; names may hold it too, so there are at least as many as members.
_BETWEEN = re.compile(_SPACE.join((rb'"', rb":", rb"[0-9]")))

Pairs = Callable[[list[tuple[str, object]]], object]


def shown(name: str) -> str:
    """A name from a file, quoted for a message: control characters escaped, at most 120 characters."""
    return repr(name if len(name) <= 120 else name[:117] + "...")


def parse(data: bytes, *, what: str, values: int, pairs: Pairs) -> object:
    """Parse a JSON text.

    Args:
        data: the text in UTF-8.
        what: what is being read, for the error.
        values: the most values it may hold. A value costs up to 64 bytes of memory for three bytes of text, so they
            are counted by their separators before any is built.
        pairs: builds an object from its members; may raise :class:`RefusedError`.

    Raises:
        Unavailable: it is no JSON, or holds more values.
    """
    return parse_text(text(data, what=what, values=values), what=what, pairs=pairs)


def text(data: bytes, *, what: str, values: int) -> str:
    """The text of a JSON file, if it is one and within bounds.

    Raises:
        Unavailable: it is no UTF-8, or holds more values.
    """
    if _separators(data) > values:
        raise Unavailable(Trouble.TOO_LARGE, what, f"holds more than {values} values")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        detail = f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise Unavailable(Trouble.MALFORMED, what, detail) from None


def parse_text(written: str, *, what: str, pairs: Pairs | None = None) -> object:
    """Parse what :func:`text` let through; without ``pairs`` the last of several members of one name counts.

    Raises:
        Unavailable: it is no JSON.
    """
    try:
        parsed: object = json.loads(written, object_pairs_hook=pairs, parse_constant=_no_constant)
    except RecursionError:
        raise Unavailable(Trouble.MALFORMED, what, "nested far deeper than it may be") from None
    except RefusedError as error:
        raise Unavailable(Trouble.MALFORMED, what, str(error)) from None
    except json.JSONDecodeError as error:
        raise Unavailable(Trouble.MALFORMED, what, f"not JSON: {error}") from None
    except ValueError:  # int() refuses more digits than sys.get_int_max_str_digits()
        raise Unavailable(Trouble.MALFORMED, what, "holds an integer of thousands of digits") from None
    return parsed


def table(data: bytes, *, what: str, values: int) -> object:
    """Parse a JSON text whose keys may not repeat; an object of names and numbers in half the time and memory.

    pydantic's parser builds no pairs and no copy of the text, and lets the last of two members with one key win: where
    it keeps as many as there can be at most, none is lost. Whatever else is read as in :func:`parse`.

    Args:
        data: the text in UTF-8.
        what: what is being read, for the error.
        values: the most values it may hold.

    Raises:
        Unavailable: it is no JSON, declares a key twice, or holds more values.
    """
    if _separators(data) <= values and _FLAT.fullmatch(data):
        most = len(_BETWEEN.findall(data))
        try:
            members: object = from_json(data, cache_strings="none")
        except ValueError:
            members = None  # the other reader says what is wrong, or takes it: a lone surrogate is no text to pydantic
        if isinstance(members, dict) and len(members) == most:
            return members
    return parse(data, what=what, values=values, pairs=unique)


def _separators(data: bytes) -> int:
    return sum(data.count(mark) for mark in (b",", b"{", b"["))


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys may not repeat."""
    members = dict(pairs)
    if len(members) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise RefusedError(f"{shown(twice)} is declared more than once")
    return members


def _no_constant(name: str) -> NoReturn:
    raise RefusedError(f"not JSON: {name} is no JSON value")
