"""What tables of timelines hold in a world: it speaks for one release that was read, its basis."""

from __future__ import annotations

from packaging.version import Version

from drafter_lint.facts import World
from drafter_lint.facts.timeline import held, spans


def at(world: World, key: str, name: str) -> str | None:
    """What the timeline of ``name`` holds in a world: its value ("" if it has none), None where it is not there."""
    return held(world.table(key).get(name, ""), Version(world.basis))


def names(world: World, key: str) -> tuple[str, ...]:
    """Every name whose timeline covers the world."""
    return tuple(name for name in world.table(key) if at(world, key, name) is not None)


def ever(world: World, key: str, name: str) -> str:
    """The releases that have a name at all, "" if none has."""
    return ", ".join(map(str, spans(world.table(key).get(name, ""))))


def gone(world: World, key: str, name: str) -> bool:
    """True if a name was there and is no more: every release that has it is older than the world."""
    found = spans(world.table(key).get(name, ""))
    return bool(found) and all(span.last < Version(world.basis) for span in found)
