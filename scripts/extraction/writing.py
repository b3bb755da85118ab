"""A release added to a profile: timelines and observations reach to it, and nothing else of the text changes."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

from drafter_lint.facts import Observation, Profile
from drafter_lint.facts.timeline import held, is_timeline
from extraction.comparing import Name, Place, neighbours, observation
from extraction.profile_text import ProfileText, with_release


def written(
    text: str, known: Profile, version: str, names: list[Name], found: list[Place], holds: Mapping[str, Version]
) -> str:
    """The profile's text with one more release read.

    Args:
        text: the profile as it is.
        known: the same, read.
        version: the release.
        names: what its syntax shows.
        found: what rests on places in its source.
        holds: facts read by hand, with the release whose value holds.

    Raises:
        ValueError: an observation that has to be parted is not written on one line.
    """
    profile = ProfileText(text)
    releases = [str(read) for read in known.read]
    for name in names:
        if name.name:
            row = _row(known, name, version)
            before = row.value.get(name.name, "") if isinstance(row.value, Mapping) else ""
            value = name.here if isinstance(name.here, str) else None
            after = with_release(before, version, value, releases)
            if after != before:
                profile.set_timeline(name.key, name.name, after)
        elif name.like:
            _reach(profile, known, name.key, version, name.like)
        else:
            row = _row(known, name, version)
            around = neighbours(known, Version(version))
            profile.part(
                name.key,
                (str(row.first), str(row.last)),
                at=version,
                around=(str(around[0]), str(around[-1])),
                value=name.here,
            )
    for key in sorted({name.key for name in names if name.name}):
        _reach(profile, known, key, version, neighbours(known, Version(version))[0])
    for place in found:
        like = holds.get(place.key, place.like)
        if like is not None:
            _names_like(profile, known, place.key, version, like)
            _reach(profile, known, place.key, version, like)
    profile.read_with(version)
    return profile.text


def _names_like(profile: ProfileText, known: Profile, key: str, version: str, like: Version) -> None:
    """Let every name of a table be in the release what it is in ``like``."""
    row = observation(known, key, like)
    if row is None or not isinstance(row.value, Mapping) or not is_timeline(row.value):
        return
    releases = [str(read) for read in known.read]
    for name, before in row.value.items():
        after = with_release(before, version, held(before, like), releases)
        if after != before:
            profile.set_timeline(key, name, after)


def _row(known: Profile, name: Name, version: str) -> Observation:
    around = neighbours(known, Version(version))
    return next(row for side in around if (row := observation(known, name.key, side)) is not None)


def _reach(profile: ProfileText, known: Profile, key: str, version: str, like: Version) -> None:
    """Let the observation of the release ``like`` reach to the release too."""
    row = observation(known, key, like)
    release = Version(version)
    if row is None or row.first <= release <= row.last:
        return
    first, last = (str(row.first), version) if release > row.last else (version, str(row.last))
    profile.stretch(key, (str(row.first), str(row.last)), (first, last))
