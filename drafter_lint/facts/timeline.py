"""Timelines: names with the releases that have them, in one table instead of one list per release.

A timeline is ``"first..last"``, ``"value first..last"``, or several of these with ``"; "`` between them. Both ends are
releases that were read, and every release read between them has it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from packaging.version import InvalidVersion, Version


@dataclass(frozen=True, slots=True)
class Span:
    """A run of releases with one value; "" where being there is all there is to say."""

    value: str
    first: Version
    last: Version

    def __str__(self) -> str:
        """In words: "0.5.9 to 0.5.23"."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"

    @property
    def written(self) -> str:
        """As a timeline writes it."""
        return f"{self.value} {self.first}..{self.last}".lstrip()


@lru_cache(maxsize=8192)
def spans(row: str) -> tuple[Span, ...]:
    """The spans of a timeline, as written; none if the text is no timeline."""
    found = []
    for part in row.split("; "):
        value, _, span = part.rpartition(" ")
        first, dots, last = span.partition("..")
        if not dots:
            return ()
        try:
            found.append(Span(value, Version(first), Version(last)))
        except InvalidVersion:
            return ()
    return tuple(found)


def held(row: str, release: Version) -> str | None:
    """The value a timeline holds in a release that was read, None if it is not there."""
    return next((span.value for span in spans(row) if span.first <= release <= span.last), None)


def is_timeline(value: object) -> bool:
    """True for a table in which every name has its releases behind it."""
    return isinstance(value, Mapping) and bool(value) and all(spans(str(row)) for row in value.values())


def parts(value: object, older: Version, newer: Version) -> bool:
    """True if a table of timelines does not hold the same in two neighbouring releases that were read."""
    return isinstance(value, Mapping) and any(
        span.last == older or span.first == newer for row in value.values() for span in spans(str(row))
    )
