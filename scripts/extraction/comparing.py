"""A release against the profile: what its syntax shows beside the releases read around it, and which places changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from drafter_lint.facts import Observation, Profile
from drafter_lint.facts.timeline import held, is_timeline
from extraction import sglang, vllm
from extraction.trees import Release

Shown = list[str] | dict[str, str] | str | bool | None
READERS: Mapping[str, Mapping[str, Callable[[Release], Shown]]] = {"sglang": sglang.READERS, "vllm": vllm.READERS}


@dataclass(frozen=True, slots=True)
class Side:
    """A release that was read, beside the one at hand.

    Attributes:
        version: its number.
        source: the release itself, None where it is not at hand.
    """

    version: Version
    source: Release | None


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a table, or one whole value (name "").

    Attributes:
        kind: the same on both sides, as on one of them, or on none of them.
        here: what the release shows, None where it has no such name.
        sides: what is known of the releases around it, in their order.
    """

    key: str
    name: str
    kind: Literal["agrees", "as", "new", "gone", "changed"]
    here: object
    sides: tuple[object, ...]
    like: Version | None = None


def neighbours(known: Profile, version: Version) -> tuple[Version, ...]:
    """The releases read nearest to a version, older first; the version alone if it was read itself."""
    if version in known.read:
        return (version,)
    older = [read for read in known.read if read < version][-1:]
    newer = [read for read in known.read if read > version][:1]
    return (*older, *newer)


def observation(known: Profile, key: str, version: Version) -> Observation | None:
    """The observation that covers a release, None if none does."""
    return next((row for row in known.observations.get(key, ()) if row.first <= version <= row.last), None)


def shown(known: Profile, release: Release, around: tuple[Version, ...]) -> list[Name]:
    """Every value the release's syntax shows, against what is known of the releases around it."""
    found: list[Name] = []
    for key, read in READERS[known.engine].items():
        rows = [observation(known, key, version) for version in around]
        if not any(rows):
            continue
        here = read(release)
        tables = [_at(row, version) for row, version in zip(rows, around, strict=True)]
        timeline = any(row and is_timeline(row.value) for row in rows)
        if timeline and isinstance(here, dict):
            names = sorted({*here, *(name for table in tables if isinstance(table, dict) for name in table)})
            for name in names:
                sides = tuple(table.get(name) if isinstance(table, dict) else None for table in tables)
                found.append(_judged(key, name, here.get(name), sides, around))
        elif here is not None:
            found.append(_judged(key, "", here, tuple(tables), around))
    return found


def _at(row: Observation | None, version: Version) -> object:
    """What an observation holds in a release: a table of timelines as the names that are there."""
    if row is None:
        return None
    if isinstance(row.value, Mapping) and is_timeline(row.value):
        values = {name: held(text, version) for name, text in row.value.items()}
        return {name: value for name, value in values.items() if value is not None}
    if isinstance(row.value, Mapping):
        return dict(row.value)
    return list(row.value) if isinstance(row.value, tuple) else row.value


def _judged(key: str, name: str, here: object, sides: tuple[object, ...], around: tuple[Version, ...]) -> Name:
    same = [_same(here, side) for side in sides]
    if all(same):
        return Name(key, name, "agrees", here, sides, around[0])
    if any(same):
        return Name(key, name, "as", here, sides, around[same.index(True)])
    kind: Literal["new", "gone", "changed"] = "gone" if here is None else "changed"
    if here is not None and all(side is None for side in sides):
        kind = "new"
    return Name(key, name, kind, here, sides)


def _same(one: object, other: object) -> bool:
    """Equal; lists whatever their order."""
    if isinstance(one, list) and isinstance(other, list):
        return sorted(map(str, one)) == sorted(map(str, other))
    return one == other


@dataclass(frozen=True, slots=True)
class Place:
    """A fact that syntax does not show, and whether the place it rests on is as it was.

    Attributes:
        like: the release around whose value holds here, as its place is unchanged; None if it must be read again.
        why: in words.
        file: where to read.
        symbol: what to read there.
    """

    key: str
    like: Version | None
    why: str
    file: str
    symbol: str
    values: tuple[object, ...]


def places(known: Profile, release: Release, sides: tuple[Side, ...]) -> list[Place]:
    """Every other fact with its place, compared with the same place in the releases around."""
    return [
        _place(known, key, release, sides)
        for key in known.observations
        if key not in READERS[known.engine] and any(observation(known, key, side.version) for side in sides)
    ]


def _place(known: Profile, key: str, release: Release, sides: tuple[Side, ...]) -> Place:
    rows = [(side, row) for side in sides if (row := observation(known, key, side.version))]
    values = tuple(row.value for _, row in rows)
    like: list[Version] = []
    words: list[str] = []
    for side, row in rows:
        there = side.source.digest(row.file, row.symbol) if side.source else None
        here = release.digest(row.file, row.symbol)
        if row.file.startswith("../"):  # another package's, which no release of the engine brings along
            like.append(side.version)
        elif here is None:
            words.append(f"{row.symbol} of {side.version} is not there")
        elif there == here:
            like.append(side.version)
        else:
            words.append(
                f"changed since {side.version}"
                if side.version < Version(release.version)
                else f"changed before {side.version}"
            )
    row = rows[0][1]
    agreed = len(set(map(repr, values))) == 1
    if like and (agreed or len(like) == 1) and len(rows) == len(sides):
        return Place(key, like[0], f"as in {like[0]}", row.file, row.symbol, values)
    if len(like) == len(rows) > 1:
        words = ["the same in both, whose values differ"]
    if len(rows) < len(sides):
        words.append("no observation on one side")
    return Place(key, None, "; ".join(words), row.file, row.symbol, values)
