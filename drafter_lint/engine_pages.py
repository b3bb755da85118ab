"""What is known of one engine, fact by fact: over all releases read, or at one version."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from drafter_lint.facts import Observation, Profile, World, profile, version_of, worlds
from drafter_lint.facts.timeline import held, is_timeline
from drafter_lint.renderers.ink import paint, plain, wrapped
from drafter_lint.renderers.style import Style

_LONG = 6


def engine_page(text: str, format_: str, style: Style) -> str:
    """Every fact of an engine, with evidence: ``sglang`` for all releases, ``sglang==0.5.12`` for what holds there.

    Raises:
        UsageError: no such engine, no such version, or one older than everything read.
    """
    name, _, version = text.partition("==")
    known = profile(name)
    rows = list(_at(known, version) if version else _everywhere(known))
    if format_ == "json":
        return json.dumps({"engine": name, "version": version or None, "facts": rows}, indent=2) + "\n"
    lines: list[str] = []
    for key in dict.fromkeys(str(row["fact"]) for row in rows):
        lines += ["", paint(key, style, "bold")]
        for row in rows:
            if row["fact"] == key:
                lines += wrapped(_said(row), style, first="  ", rest="    ")
    return plain(lines[1:], style)


def _everywhere(known: Profile) -> Iterator[dict[str, object]]:
    for key, rows in sorted(known.observations.items()):
        for row in rows:
            yield {"fact": key, "versions": _span(row), "value": _plain(row.value), **_evidence(row)}


def _at(known: Profile, version: str) -> Iterator[dict[str, object]]:
    """What holds at a version; where the releases around it differ both are named, and neither is taken for it."""
    sides = worlds(known, version_of(version))
    for key in sorted(known.observations):
        values = [_value(world, key) for world in sides]
        fact = sides[-1].fact(key)
        row: dict[str, object] = {"fact": key, "versions": fact.evidence.version}
        if len(values) > 1 and values[0] != values[1]:
            older, newer = _differing(values[0], values[1])
            said = f"not checked: {sides[0].basis} read as {_short(older)}, {sides[1].basis} as {_short(newer)}"
            row |= {"knowledge": "ambiguous", "says": said}
            row |= {"read_as": {world.basis: value for world, value in zip(sides, values, strict=True)}}
        else:
            knowledge = "bracketed" if len(sides) > 1 else sides[0].knowledge
            row |= {"knowledge": knowledge, "value": values[0], "confidence": fact.confidence.value}
        evidence = fact.evidence
        yield row | {"file": evidence.file, "symbol": evidence.symbol, "how": evidence.how}


def _value(world: World, key: str) -> object:
    """A fact's value in a world: of a table of timelines, the names its release has."""
    value = world.fact(key).value
    if not is_timeline(value) or not isinstance(value, Mapping):
        return _plain(value)
    release = version_of(world.basis)
    return {name: there for name, row in value.items() if (there := held(row, release)) is not None}


def _differing(older: object, newer: object) -> tuple[object, object]:
    """Two values; of two tables only what they do not share."""
    if not isinstance(older, dict) or not isinstance(newer, dict):
        return older, newer
    names = [name for name in sorted({*older, *newer}) if older.get(name) != newer.get(name)]
    one, other = ({name: table[name] for name in names if name in table} for table in (older, newer))
    return one, other


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _evidence(row: Observation) -> dict[str, object]:
    said: dict[str, object] = {"file": row.file, "symbol": row.symbol, "how": row.how}
    return said | ({"note": row.note} if row.note else {})


def _span(row: Observation) -> str:
    return str(row.first) if row.first == row.last else f"{row.first} to {row.last}"


def _said(row: Mapping[str, object]) -> str:
    value = row.get("says") or _short(row.get("value"))
    span = row["versions"] if "knowledge" not in row else f"{row['knowledge']}, {row['versions']}"
    return f"{value} ({span}; {row['file']}, {row['symbol']}; {row['how']})"


def _short(value: object) -> str:
    """A value in words; of many names the first few."""
    if isinstance(value, dict):
        names = [f"{name} = {there}" if there else name for name, there in value.items()]
    elif isinstance(value, list):
        names = [str(name) for name in value]
    else:
        return json.dumps(value) if not isinstance(value, str) else value or '""'
    if not names:
        return "none"
    more = len(names) - _LONG
    return ", ".join(names[:_LONG]) + (f" and {more} more" if more > 0 else "")
