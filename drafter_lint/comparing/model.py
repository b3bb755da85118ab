"""What a comparison is made of: differences, each in a group and with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from drafter_lint.findings import Evidence, JsonValue, Location

Kind = Literal["meaning", "field", "tensor"]
Of = Literal["drafter", "target"]


class Group(StrEnum):
    """What a difference means for speculation; in the order in which they are told."""

    DECIDES = "decides"  # whether it runs at all, in some engine or release
    CHANGES = "changes"  # what is drafted, and how much of it is accepted
    UNKNOWN = "unknown"  # nobody has said what it means
    NOTHING = "nothing"  # does not matter

    @property
    def heading(self) -> str:
        """As a heading."""
        return _TITLES[self]


_TITLES: Mapping[Group, str] = {
    Group.DECIDES: "decides whether it runs",
    Group.CHANGES: "changes what it drafts",
    Group.UNKNOWN: "not known to matter",
    Group.NOTHING: "does not matter",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One side of a difference.

    Attributes:
        text: as shown; "" if this side has nothing of the kind.
        raw: as written, where it is a value of config.json.
        at: where it stands, None where nothing is written.
    """

    text: str
    raw: JsonValue = None
    at: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not the same on both sides.

    Attributes:
        kind: worked out from several places, a field of config.json, or a tensor.
        name: the field or tensor; a pattern with ranges where one line stands for many tensors.
        count: how many tensors it stands for.
        a: the one side.
        b: the other.
        group: what it means.
        why: the reason for that, in one or two sentences.
        says: what engines make of it, release by release.
        evidence: where that is to be seen.
        rank: its place in the list of what is known to matter, the lowest first.
    """

    kind: Kind
    name: str
    a: Value
    b: Value
    group: Group
    why: str
    says: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    rank: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two checkpoints, and everything in which they differ.

    Attributes:
        of: what they were compared as.
        conclusion: what follows for a pair with either, one sentence.
        differences: by group, in the order of importance.
        same_fields: how many fields are the same on both sides.
        same_tensors: how many tensors are.
        not_compared: what could not be, or was left out, and why.
    """

    of: Of
    conclusion: str
    differences: tuple[Difference, ...]
    same_fields: int
    same_tensors: int
    not_compared: tuple[str, ...] = ()

    def group(self, group: Group) -> tuple[Difference, ...]:
        """The differences of one group."""
        return tuple(item for item in self.differences if item.group is group)

    @property
    def matters(self) -> bool:
        """True if anything differs that is not known to be of no matter."""
        return any(item.group is not Group.NOTHING for item in self.differences)
