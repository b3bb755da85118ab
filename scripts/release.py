"""A new release of an engine against what is known of its neighbours: what syntax shows, and what must be read again.

    python scripts/release.py vllm 0.29.0                    # pip download --no-deps, into build/releases
    python scripts/release.py vllm 0.29.0 WHEEL-or-FOLDER
    python scripts/release.py vllm 0.29.0 --diff KEY         # how the places a fact rests on changed
    python scripts/release.py vllm 0.29.0 --holds KEY --write
    python scripts/release.py vllm --audit                   # every release read that is among the sources

Nothing of a release is imported or run. The releases read around it are fetched the same way. --write adds the release
to schemas/engines and schemas/flags once nothing is left to read: what was read by hand and holds is named with
--holds, by the older neighbour's value, or with --holds KEY=VERSION by that of the one named; what is new is written
into the profile first, as an observation that begins or ends with the release.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]

from extraction import audit, wheels  # noqa: E402 - same
from extraction.comparing import Name, Place, Side, neighbours, observation, places, shown  # noqa: E402 - same
from extraction.flag_table import FlagTable  # noqa: E402 - same
from extraction.flags import flags  # noqa: E402 - same
from extraction.surface import surface  # noqa: E402 - same
from extraction.trees import Release  # noqa: E402 - same
from extraction.trees import shown as said  # noqa: E402 - same
from extraction.writing import written  # noqa: E402 - same

from drafter_lint.facts import Profile, parse_profile  # noqa: E402 - found through the line above


def main(arguments: Sequence[str]) -> int:
    """Compare, and write if asked to."""
    asked = _arguments(arguments)
    files = Files(asked.root, asked.engine)
    known = parse_profile(asked.engine, files.profile.read_text("utf-8"))
    if asked.audit:
        return audit.run(known, asked.sources)
    release = wheels.release(asked.engine, asked.version, given=asked.given, sources=asked.sources)
    around = neighbours(known, Version(asked.version))
    sides = tuple(
        Side(version, release if str(version) == asked.version else _fetched(asked.engine, version, asked.sources))
        for version in around
    )
    found = places(known, release, sides)
    if asked.diff:
        print("\n".join(difference(known, release, sides, asked.diff)))
        return 0
    names = shown(known, release, around)
    table = FlagTable.parsed(files.flags.read_text("utf-8"))
    fresh = table.beside(asked.version, flags(asked.engine, release))
    holds = dict(_held(word, around) for word in asked.holds)
    left = [
        place
        for place in found
        if place.like is None and place.key not in holds and not _told(known, place, asked.version)
    ]
    print("\n".join(report(known, release, sides, names, found, left, table, fresh)))
    if asked.write and left:
        print(f"nothing is written: {len(left)} facts are left to read; name those that hold with --holds")
        return 1
    if asked.write:
        files.profile.write_text(
            written(files.profile.read_text("utf-8"), known, asked.version, names, found, holds), "utf-8"
        )
        files.flags.write_text(fresh.text(), "utf-8")
        print(f"{asked.version} is among the releases read; scripts/generate.py refreshes the documents")
    return 1 if left else 0


class Files:
    """The two documents a release is added to."""

    def __init__(self, root: Path, engine: str) -> None:
        self.profile = root / "schemas" / "engines" / f"{engine}.toml"
        self.flags = root / "schemas" / "flags" / f"{engine}.toml"


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("engine", choices=["sglang", "vllm"])
    parser.add_argument("version", nargs="?")
    parser.add_argument("given", nargs="?", type=Path, metavar="WHEEL-or-FOLDER")
    parser.add_argument("--sources", type=Path, default=wheels.SOURCES, help="unpacked releases, ENGINE-VERSION each")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--diff", metavar="KEY", help="show how the places a fact rests on changed")
    parser.add_argument("--holds", metavar="KEY[=VERSION]", nargs="+", default=[], help="read by hand, and it holds")
    parser.add_argument("--write", action="store_true", help="add the release to the profile")
    parser.add_argument("--audit", action="store_true", help="hold every release read against the profile instead")
    asked = parser.parse_args(arguments)
    if not asked.version and not asked.audit:
        parser.error("which version?")
    return asked


def _fetched(engine: str, version: Version, sources: Path) -> Release:
    return wheels.release(engine, str(version), given=None, sources=sources)


def _held(word: str, around: tuple[Version, ...]) -> tuple[str, Version]:
    key, _, version = word.partition("=")
    return key, Version(version) if version else around[0]


def _told(known: Profile, place: Place, version: str) -> bool:
    """True if an observation written by hand begins or ends with the release."""
    return any(Version(version) in (row.first, row.last) for row in known.observations[place.key])


def report(
    known: Profile,
    release: Release,
    sides: tuple[Side, ...],
    names: list[Name],
    found: list[Place],
    left: list[Place],
    table: FlagTable,
    fresh: FlagTable,
) -> Iterator[str]:
    """What there is to say, as lines."""
    around = [str(side.version) for side in sides]
    yield f"{known.engine} {release.version}, beside {' and '.join(around)}"
    yield f"agrees: {sum(name.kind == 'agrees' for name in names)} values that syntax shows"
    for title, kind in (("as on one side", "as"), ("new", "new"), ("gone", "gone"), ("changed", "changed")):
        rows = [name for name in names if name.kind == kind]
        yield f"{title}: {len(rows)}"
        yield from (f"  {line}" for name in rows for line in [_name(name, around)])
    yield from _flags(table, fresh, release.version, around)
    yield from _surface(known.engine, release, sides)
    unchanged = [place for place in found if place.like is not None]
    counts = {version: sum(str(place.like) == version for place in unchanged) for version in around}
    said_of = ", ".join(f"{count} as in {version}" for version, count in counts.items())
    yield f"not shown by syntax, source unchanged: {len(unchanged)} facts ({said_of})"
    yield f"not shown by syntax, read by hand: {len(left)} facts"
    for (file, symbol, why), together in groupby(sorted(left, key=_where), key=_where):
        yield f"  {file}, {symbol}: {why}"
        for place in together:
            values = [_short(value) for value in place.values]
            told = [f"{version}: {value}" for version, value in zip(around, values, strict=False)]
            yield f"    {place.key}: {values[0] if len(set(values)) == 1 else '; '.join(told)}"


def _where(place: Place) -> tuple[str, str, str]:
    return place.file, place.symbol, place.why


def _name(name: Name, around: list[str]) -> str:
    title = f"{name.key}: {name.name}" if name.name else name.key
    sides = ", ".join(f"{version}: {_short(side)}" for version, side in zip(around, name.sides, strict=True))
    return f"{title}: as in {name.like}" if name.kind == "as" else f"{title}: {_short(name.here)} ({sides})"


def _short(value: object) -> str:
    if value is None:
        return "not there"
    if value == "":
        return "there"
    text = said(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 160 else f"{text[:157]}..."


def _flags(table: FlagTable, fresh: FlagTable, version: str, around: list[str]) -> Iterator[str]:
    here = fresh.spellings(version)
    known = [table.spellings(side) for side in around if side in table.releases]
    new, gone = here.difference(*known), set.intersection(*known) - here if known else set()
    yield f"flags: {len(here)}; new: {', '.join(sorted(new)) or 'none'}; gone: {', '.join(sorted(gone)) or 'none'}"


def _surface(engine: str, release: Release, sides: tuple[Side, ...]) -> Iterator[str]:
    """What moved in the speculative surface since the older neighbour, for facts nobody has thought of yet."""
    source = sides[0].source
    if source is None or source is release:
        return
    before, here = surface(engine, source), surface(engine, release)
    moved = [name for name in sorted({*before, *here}) if before.get(name) != here.get(name)]
    yield f"fields, defaults and environment since {source.version}: {len(moved)} moved"
    for name in moved:
        yield f"  {name}: {_short(before.get(name))} -> {_short(here.get(name))}"


def difference(known: Profile, release: Release, sides: tuple[Side, ...], key: str) -> Iterator[str]:
    """How the places a fact rests on changed, as unified differences.

    Raises:
        SystemExit: there is no such fact.
    """
    if key not in known.observations:
        raise SystemExit(f"no fact called {key}; drafter-lint engines {known.engine} lists them")
    for side in sides:
        row = observation(known, key, side.version)
        if row is None or side.source is None:
            continue
        older, newer = (side.source, release) if side.version < Version(release.version) else (release, side.source)
        yield from difflib.unified_diff(
            older.text(row.file, row.symbol),
            newer.text(row.file, row.symbol),
            f"{older.version} {row.file} {row.symbol}",
            f"{newer.version} {row.file} {row.symbol}",
            lineterm="",
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
