"""What tables of timelines hold in a world: it speaks for one release that was read, its basis."""

from __future__ import annotations

from packaging.version import Version

from drafter_lint.facts import World
from drafter_lint.facts.timeline import held, spans
from drafter_lint.findings import Confidence, Evidence


def entry(world: World, key: str, name: str | None) -> str | None:
    """What a table says of a name in the release a world speaks for: a value, "" for mere presence, None if absent."""
    return held(world.table(key).get(name or "", ""), Version(world.basis))


def has(world: World, key: str, name: str | None) -> bool:
    """True if the release has the name."""
    return entry(world, key, name) is not None


def since(world: World, key: str, name: str) -> str:
    """The releases a table names for a name, in words: "0.5.12.post1 to 0.5.23", "" if it was never there."""
    return ", ".join(map(str, spans(world.table(key).get(name, ""))))


def sure(*, certain: bool) -> Confidence:
    """Certain, or likely."""
    return Confidence.CERTAIN if certain else Confidence.LIKELY


def cite(world: World, *keys: str) -> tuple[Evidence, ...]:
    """The evidence of some keys."""
    return world.evidence(*keys)
