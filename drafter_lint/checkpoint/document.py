"""A JSON document with the place of every value, seeing what a plain parser hides.

Duplicate keys, NaN and Infinity, a byte-order mark and bad UTF-8 are recorded as problems; the value is still
built wherever one can be (the last duplicate wins, as in every reader), so that the rest can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.findings import JsonValue, Location, Role


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands: 1-based line and column, and its width in characters on that line."""

    line: int
    column: int
    width: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something the document says that a strict JSON reader would not accept, or that readers disagree on.

    ``kind`` is one of "duplicate-key", "not-finite", "bom", "encoding", "syntax", "trailing", "not-an-object".
    """

    kind: str
    detail: str
    span: Span | None = None

    @property
    def accepted(self) -> bool:
        """True if Python's JSON reader, which engines use, takes it all the same."""
        return self.kind in {"duplicate-key", "not-finite"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed file.

    Attributes:
        root: the value; an empty dict if the file could not be parsed at all.
        spans: JSON pointer to the place of the value; ``spans["/a"]`` is where the value of key ``a`` begins.
        keys: JSON pointer to the place of the *key* of an object member.
        problems: what is wrong with it.
        file: path inside the checkpoint.
        subject: the checkpoint as shown.
        role: whose it is.
        lines: the text, split, for snippets.
    """

    root: dict[str, JsonValue]
    spans: Mapping[str, Span] = field(default_factory=dict)
    keys: Mapping[str, Span] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    file: str = "config.json"
    subject: str = ""
    role: Role = "drafter"
    lines: tuple[str, ...] = ()

    def at(self, pointer: str, label: str = "") -> Location:
        """The place of the value at ``pointer``; of the nearest existing parent if there is none."""
        place = pointer
        while place not in self.spans and place:
            place = place.rpartition("/")[0]
        span = self.spans.get(place)
        inside = span and place and span.line <= len(self.lines)
        return Location(
            role=self.role,
            subject=self.subject,
            file=self.file,
            line=span.line if span and place else None,
            column=span.column if span and place else None,
            width=span.width if span and place else None,
            pointer=pointer,
            text=self.lines[span.line - 1] if span and inside else None,
            label=label,
        )
