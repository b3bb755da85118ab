"""The parts of a large JSON object by where they stand, so that only those of interest are built.

A tokenizer.json is mostly merges, which say nothing about ids. Passing over them takes no memory, and no time where
they come last, as every writer puts them: reading stops when everything wanted is found.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from drafter_lint.errors import Trouble, Unavailable

MAX_DEPTH = 100
MAX_MEMBERS = 1_000
#: A bracket that is stopped at costs a step of ours; the merges of a tokenizer.json are passed over without one.
MAX_BRACKETS = 200_000

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_OTHER = rb'[^"\[\]{}]'
_FLAT = rb"(?:" + _OTHER + rb"++|" + _STRING + rb")*+"
# Everything up to the next bracket that opens or closes something with containers of its own inside.
_TO_BRACKET = re.compile(
    rb"(?:" + _OTHER + rb"++|" + _STRING + rb"|\[" + _FLAT + rb"\]|\{" + _FLAT + rb"\})*+([\[\]{}])", re.DOTALL
)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)
_SCALAR = re.compile(rb"[-+.0-9A-Za-z]++|" + _STRING, re.DOTALL)


def members(data: bytes, wanted: Collection[str], *, what: str) -> dict[str, bytes]:
    """The text of some values of the object a file holds.

    Values are not checked to be JSON, and nothing is looked at behind the last one wanted.

    Args:
        data: the file.
        wanted: keys; "model/vocab" is a member of the object under "model".
        what: what is being read, for the error.

    Raises:
        Unavailable: there is no object, it does not end, or it is over our bounds.
    """
    walk = _Walk(data, frozenset(wanted), what)
    walk.members(walk.skip(0), "")
    return walk.found


class _Walk:
    def __init__(self, data: bytes, wanted: frozenset[str], what: str) -> None:
        self.data = data
        self.wanted = wanted
        self.parents = frozenset(key.partition("/")[0] for key in wanted if "/" in key)
        self.what = what
        self.found: dict[str, bytes] = {}
        self.brackets = 0

    def members(self, at: int, prefix: str) -> int:
        """Walk the object at ``at``; where it ends, or where the last value wanted was found."""
        data = self.data
        if data[at : at + 1] != b"{":
            raise self._broken(f"no object at byte {at}")
        at = self.skip(at + 1)
        for _ in range(MAX_MEMBERS):
            if data[at : at + 1] == b"}":
                return at + 1
            key = _KEY.match(data, at)
            if key is None:
                raise self._broken(f"no key at byte {at}")
            path = prefix + key[1].decode(errors="replace")
            if path in self.parents and data[key.end() : key.end() + 1] == b"{":
                end = self.members(key.end(), f"{path}/")
            else:
                end = self._end(key.end())
                if path in self.wanted:
                    self.found[path] = data[key.end() : end]
            if len(self.found) == len(self.wanted):
                return end
            at = self.skip(end)
            mark = data[at : at + 1]
            if mark == b",":
                at = self.skip(at + 1)
            elif mark != b"}":
                raise self._broken(f"no comma at byte {at}")
        raise Unavailable(Trouble.TOO_LARGE, self.what, f"an object of more than {MAX_MEMBERS} members")

    def _end(self, start: int) -> int:
        if self.data[start : start + 1] not in {b"[", b"{"}:
            scalar = _SCALAR.match(self.data, start)
            if scalar is None:
                raise self._broken(f"no value at byte {start}")
            return scalar.end()
        depth, at = 1, start + 1
        while depth:
            self.brackets += 1
            if self.brackets > MAX_BRACKETS:
                raise Unavailable(Trouble.TOO_LARGE, self.what, f"more than {MAX_BRACKETS} values inside of others")
            bracket = _TO_BRACKET.match(self.data, at)
            if bracket is None:
                raise self._broken(f"the value at byte {start} does not end")
            depth += 1 if bracket[1] in b"[{" else -1
            if depth > MAX_DEPTH:
                raise self._broken("nested far deeper than it may be")
            at = bracket.end()
        return at

    def skip(self, at: int) -> int:
        """The first byte from ``at`` that is no white space."""
        match = _SPACE.match(self.data, at)
        return match.end() if match else at

    def _broken(self, detail: str) -> Unavailable:
        return Unavailable(Trouble.MALFORMED, self.what, f"not JSON: {detail}")
