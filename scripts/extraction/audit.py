"""The profile held against every release that was read and is at hand: what syntax shows, and every place cited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from drafter_lint.facts import Profile
from extraction import wheels
from extraction.comparing import shown
from extraction.trees import Release


def run(known: Profile, sources: Path) -> int:
    """Print every disagreement; 1 if there is any."""
    wrong = 0
    for version in known.read:
        release = wheels.present(known.engine, str(version), sources)
        if release is None:
            print(f"{version}: not among the sources")
            continue
        lines = [*disagreements(known, release), *missing(known, release)]
        print(f"{version}: {len(lines)} disagreements", flush=True)
        for line in lines:
            print(f"  {line}", flush=True)
        wrong += len(lines)
    return 1 if wrong else 0


def disagreements(known: Profile, release: Release) -> Iterator[str]:
    """Values that syntax shows otherwise than the profile has them."""
    for name in shown(known, release, (Version(release.version),)):
        if name.kind != "agrees":
            yield f"{name.key} {name.name}: shown {name.here!r}, written {name.sides[0]!r}"


def missing(known: Profile, release: Release) -> Iterator[str]:
    """Observations whose place is not in a release they cover."""
    version = Version(release.version)
    for key, rows in known.observations.items():
        for row in rows:
            covers = row.first <= version <= row.last and not row.file.startswith("../")
            if covers and release.cited(row.file, row.symbol) is None:
                yield f"{key}: no {row.symbol} in {row.file}"
