"""Tables of names with the releases that have them: ``first..last`` or ``value@first..last`` behind each name."""

from __future__ import annotations

from packaging.version import Version

from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Evidence


def entry(world: World, key: str, name: str | None) -> str | None:
    """What a table says of a name in the release a world speaks for: a value, "" for mere presence, None if absent."""
    text = world.table(key).get(name or "")
    release = Version(world.basis)
    for run in (text or "").split():
        value, _, span = run.rpartition("@")
        first, _, last = span.partition("..")
        if Version(first) <= release <= Version(last):
            return value
    return None


def has(world: World, key: str, name: str | None) -> bool:
    """True if the release has the name."""
    return entry(world, key, name) is not None


def since(world: World, key: str, name: str) -> str:
    """The releases a table names for a name, in words: "0.5.12.post1 to 0.5.23", "" if it was never there."""
    runs = [run.rpartition("@")[2].replace("..", " to ") for run in world.table(key).get(name, "").split()]
    return ", ".join(runs)


def sure(*, certain: bool) -> Confidence:
    """Certain, or likely."""
    return Confidence.CERTAIN if certain else Confidence.LIKELY


def cite(world: World, *keys: str) -> tuple[Evidence, ...]:
    """The evidence of some keys."""
    return world.evidence(*keys)
