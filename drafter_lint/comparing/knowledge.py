"""What is known of fields and tensors: schemas/differences.toml, read once, and asked by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from drafter_lint.comparing.model import Group, Kind, Of
from drafter_lint.facts import profile, schemas
from drafter_lint.findings import Evidence, JsonValue

FILE = "differences.toml"
_UNSAID = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """An engine fact that a claim rests on, with words for each of its values."""

    engine: str
    key: str
    says: Mapping[str, str]

    def spoken(self) -> str:
        """``vllm 0.8.5 to 0.10.2: …; 0.11.2 to 0.33.0: …``, neighbours that say the same as one."""
        told: list[tuple[str, str, str]] = []
        for row in profile(self.engine).observations[self.key]:
            words = self.says[word(row.value)]
            if told and told[-1][2] == words:
                told[-1] = (told[-1][0], str(row.last), words)
            else:
                told.append((str(row.first), str(row.last), words))
        spans = (f"{first if first == last else f'{first} to {last}'}: {words}" for first, last, words in told)
        return f"{self.engine} {'; '.join(spans)}"

    def evidence(self) -> tuple[Evidence, ...]:
        """Where each value of it was seen."""
        return tuple(
            Evidence(
                engine=self.engine,
                version=str(row.first) if row.first == row.last else f"{row.first} to {row.last}",
                file=row.file,
                symbol=row.symbol,
                how=row.how,
                note=self.says[word(row.value)],
            )
            for row in profile(self.engine).observations[self.key]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One entry.

    Attributes:
        of: whose field or tensor; None for drafters and targets alike.
        kind: field, tensor, or a meaning worked out from several.
        names: patterns of names.
        one: True if the names are spellings of one thing.
        group: what a difference means.
        why: the reason.
        whole: True if the object and everything in it is one difference.
        facts: the engine facts the reason rests on.
        rank: its place in the file.
    """

    of: Of | None
    kind: Kind
    names: tuple[str, ...]
    one: bool
    group: Group
    why: str
    whole: bool
    facts: tuple[Resting, ...]
    rank: int
    _absent: object = _UNSAID

    def matches(self, name: str) -> bool:
        """True if this entry speaks of the name."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)

    def as_if_absent(self, value: JsonValue) -> bool:
        """True if the value is what the field means where it is not written."""
        return self._absent is not _UNSAID and _equal(value, self._absent)


@cache
def everything() -> tuple[Known, ...]:
    """Every entry, in the order of importance."""
    raw = tomllib.loads((schemas() / FILE).read_text("utf-8"))
    return tuple(_known(entry, rank) for rank, entry in enumerate(raw["difference"]))


@cache
def of(side: Of, kind: Kind) -> tuple[Known, ...]:
    """The entries that may speak of one kind of thing of one kind of checkpoint."""
    return tuple(item for item in everything() if item.kind == kind and item.of in {None, side})


def find(side: Of, kind: Kind, name: str) -> Known | None:
    """The first entry that speaks of a name; what stands under a ``whole`` object is spoken of by its entry."""
    return next((item for item in of(side, kind) if item.matches(name)), None)


def _known(entry: Mapping[str, object], rank: int) -> Known:
    names, facts = entry["names"], entry.get("facts", [])
    if not isinstance(names, list) or not isinstance(facts, list):
        raise TypeError(f"{FILE}: names and facts are lists")
    return Known(
        of=entry.get("of"),  # type: ignore[arg-type]  # a test reads every entry
        kind=entry["kind"],  # type: ignore[arg-type]  # the same
        names=tuple(names),
        one=bool(entry.get("one")),
        group=Group(str(entry["group"])),
        why=str(entry["why"]),
        whole=bool(entry.get("whole")),
        facts=tuple(Resting(engine=item["engine"], key=item["key"], says=item["says"]) for item in facts),
        rank=rank,
        _absent=entry.get("absent", _UNSAID),
    )


def word(value: object) -> str:
    """A fact's value as the table spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _equal(left: object, right: object) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)
