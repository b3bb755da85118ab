"""The shipped engine profiles: loading ``schemas/engines/*.toml`` and resolving a version to its worlds."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from packaging.version import InvalidVersion, Version

from drafter_lint.errors import UsageError
from drafter_lint.facts.observation import Fact, Knowledge, Observation, World
from drafter_lint.facts.timeline import parts
from drafter_lint.findings import Confidence, Evidence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """Everything known of one engine; equal to itself alone, so that what follows from it can be kept.

    Attributes:
        engine: its name on the command line.
        read: the releases whose source was read, ascending.
        run: the releases that were run, ascending.
        observations: by key, ascending by version.
    """

    engine: str
    read: tuple[Version, ...]
    run: tuple[Version, ...]
    observations: Mapping[str, tuple[Observation, ...]]

    @property
    def newest(self) -> Version:
        """The newest release read."""
        return self.read[-1]

    @property
    def oldest(self) -> Version:
        """The oldest release read."""
        return self.read[0]


@cache
def schemas() -> Path:
    """The folder of shipped knowledge: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).parents[1]  # importlib.resources costs more than the whole of what is read with it
    packaged = package / "schemas"
    return packaged if packaged.is_dir() else package.parent / "schemas"


@cache
def profile(engine: str) -> Profile:
    """The profile of an engine.

    Raises:
        UsageError: no such engine.
    """
    if engine not in engines():
        raise UsageError(f"no engine called {engine!r}; known: {', '.join(engines())}")
    text = (schemas() / "engines" / f"{engine}.toml").read_text("utf-8")
    return parse_profile(engine, text)


@cache
def engines() -> tuple[str, ...]:
    """The engines with a profile."""
    folder = schemas() / "engines"
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")))


def parse_profile(engine: str, text: str) -> Profile:
    """Read a profile from its TOML text: ``read``, ``run``, and ``[[key.observed]]`` tables."""
    raw = tomllib.loads(text)
    read = tuple(sorted(map(Version, raw["read"])))
    observations: dict[str, tuple[Observation, ...]] = {}
    for key, entry in raw["fact"].items():
        rows = [_observation(key, part, entry) for row in entry["observed"] for part in _placed(row, entry, read)]
        observations[key] = tuple(sorted(rows, key=lambda row: row.first))
        for older, newer in pairwise(observations[key]):
            if older.last >= newer.first:
                raise ValueError(
                    f"{engine}: {key}: {older.first} to {older.last} overlaps {newer.first} to {newer.last}"
                )
    return Profile(
        engine=engine,
        read=read,
        run=tuple(sorted(map(Version, raw["run"]))),
        observations=observations,
    )


def _placed(
    row: Mapping[str, object], entry: Mapping[str, object], read: tuple[Version, ...]
) -> Iterator[Mapping[str, object]]:
    """One value in parts, where its place has moved: ``earlier`` names the places it had, oldest first."""
    first, last = Version(str(row["first"])), Version(str(row["last"]))
    for place in (*entry.get("earlier", ()), {}):  # type: ignore[misc]  # TOML's own types
        until = min(last, Version(str(place.get("last", last))))
        if first > until:
            continue
        yield {**row, **place, "first": str(first), "last": str(until)}
        after = [release for release in read if release > until]
        if until == last or not after:
            return
        first = after[0]


def _observation(key: str, row: Mapping[str, object], entry: Mapping[str, object]) -> Observation:
    def text(name: str, default: str = "") -> str:
        return str(row.get(name, entry.get(name, default)))

    value = row["value"]
    if isinstance(value, list):
        value = tuple(str(item) for item in value)
    return Observation(
        key=key,
        value=value,  # type: ignore[arg-type]  # TOML's own types; the profile test checks every key's type
        first=_version(str(row["first"])),
        last=_version(str(row["last"])),
        file=text("file"),
        symbol=text("symbol"),
        how=text("how", "read"),  # type: ignore[arg-type]
        note=text("note"),
    )


_version = cache(Version)  # hundreds of observations name some thirty releases


def version_of(text: str) -> Version:
    """A version as typed ("v0.5.9", "0.5.10.post1").

    Raises:
        UsageError: it is no version.
    """
    try:
        return Version(text.removeprefix("v"))
    except InvalidVersion as error:
        raise UsageError(f"{text!r} is no version") from error


@lru_cache(maxsize=64)  # hundreds of facts, for every pair of a survey and every fix of a command
def worlds(known: Profile, version: Version) -> tuple[World, ...]:
    """What holds at a version: one world, or two when the read releases around it differ (the older one first).

    Raises:
        UsageError: the version is older than everything read.
    """
    if version < known.oldest:
        raise UsageError(f"{known.engine} {version} is older than everything read ({known.oldest} to {known.newest})")
    older, newer = _neighbours(known, version)
    pairs = {key: _resolve(rows, version) for key, rows in known.observations.items()}
    if any(low is not high or (older != newer and parts(low.value, older, newer)) for low, high in pairs.values()):
        return tuple(
            World(
                engine=known.engine,
                version=version,
                knowledge="ambiguous",
                basis=str(basis),
                facts={key: _fact(known, pair[side], version, "ambiguous") for key, pair in pairs.items()},
            )
            for side, basis in ((0, older), (1, newer))
        )
    knowledge: Knowledge = (
        "observed" if version in known.read else "extrapolated" if version > known.newest else "bracketed"
    )
    facts = {key: _fact(known, low, version, knowledge) for key, (low, _) in pairs.items()}
    return (World(engine=known.engine, version=version, knowledge=knowledge, basis=str(older), facts=facts),)


def _neighbours(known: Profile, version: Version) -> tuple[Version, Version]:
    older = max((read for read in known.read if read <= version), default=known.oldest)
    newer = min((read for read in known.read if read >= version), default=known.newest)
    return older, newer


def _resolve(rows: tuple[Observation, ...], version: Version) -> tuple[Observation, Observation]:
    """The observation before and after a version; twice the same where one covers it, or nothing differs."""
    for row in rows:
        if row.first <= version <= row.last:
            return row, row
    before = [row for row in rows if row.last < version]
    after = [row for row in rows if row.first > version]
    low = before[-1] if before else after[0]
    high = after[0] if after else low
    return (low, low) if low.value == high.value else (low, high)


def _fact(known: Profile, row: Observation, version: Version, knowledge: Knowledge) -> Fact:
    span = str(row.first) if row.first == row.last else f"{row.first} to {row.last}"
    evidence = Evidence(engine=known.engine, version=span, file=row.file, symbol=row.symbol, how=row.how, note=row.note)
    covered = row.first <= version <= row.last
    sure = covered and knowledge == "observed" and row.how != "inferred"
    return Fact(
        key=row.key, value=row.value, evidence=evidence, confidence=Confidence.CERTAIN if sure else Confidence.LIKELY
    )
