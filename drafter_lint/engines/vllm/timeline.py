"""Facts kept as timelines: names with the releases that have them, in one table instead of one list per release.

A timeline is ``"first..last"``, ``"value first..last"``, or several of these with ``"; "`` between them. Releases are
those of the profile; a world speaks for one of them, its basis.
"""

from __future__ import annotations

from functools import lru_cache

from packaging.version import Version

from drafter_lint.facts import World


def at(world: World, key: str, name: str) -> str | None:
    """What the timeline of ``name`` holds in a world: its value ("" if it has none), None where it is not there."""
    row = world.table(key).get(name)
    if row is None:
        return None
    basis = Version(world.basis)
    return next((value for value, first, last in _spans(row) if first <= basis <= last), None)


def names(world: World, key: str) -> tuple[str, ...]:
    """Every name whose timeline covers the world."""
    return tuple(name for name in world.table(key) if at(world, key, name) is not None)


def ever(world: World, key: str, name: str) -> str:
    """The releases that have a name at all, "" if none has."""
    spans = _spans(world.table(key).get(name, ""))
    return ", ".join(f"{first} to {last}" if first != last else str(first) for _, first, last in spans)


def gone(world: World, key: str, name: str) -> bool:
    """True if a name was there and is no more: every release that has it is older than the world."""
    spans = _spans(world.table(key).get(name, ""))
    return bool(spans) and all(last < Version(world.basis) for _, _, last in spans)


@lru_cache(maxsize=4096)
def _spans(row: str) -> tuple[tuple[str, Version, Version], ...]:
    found = []
    for part in row.split("; "):
        value, _, span = part.rpartition(" ")
        first, dots, last = span.partition("..")
        if dots:
            found.append((value, Version(first), Version(last)))
    return tuple(found)
