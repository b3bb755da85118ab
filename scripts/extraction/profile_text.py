"""A profile's TOML edited in place: only the lines that change change."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from packaging.version import Version

from drafter_lint.facts.timeline import held

HEAD = re.compile(r'^\[fact\."(?P<key>[^"]+)"\]$', re.MULTILINE)
ENDS = re.compile(r'first = "(?P<first>[^"]+)"(?P<between>,\s*|\n)last = "(?P<last>[^"]+)"')


class ProfileText:
    """The text of schemas/engines/<engine>.toml."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read_with(self, version: str) -> None:
        """Put a release among those that were read."""
        known: list[str] = tomllib.loads(self.text)["read"]
        listed = sorted({*known, version}, key=Version)
        self.text = re.sub(r"^read = \[.*\]$", lambda _: f"read = {json.dumps(listed)}", self.text, flags=re.MULTILINE)

    def set_timeline(self, key: str, name: str, row: str) -> None:
        """Write one name's timeline in a table of them: its line replaced, a new line among its neighbours, or none."""
        start, end = self._section(key)
        lines = self.text[start:end].split("\n")
        written = f"{name if re.fullmatch(r'[A-Za-z0-9_-]+', name) else json.dumps(name)} = {json.dumps(row)}"
        rows = [index for index, line in enumerate(lines) if re.fullmatch(r'("[^"]+"|[\w-]+) = "[^"]*\.\.[^"]*"', line)]
        own = [index for index in rows if _named(lines[index]) == name]
        if own:
            lines[own[0] : own[0] + 1] = [written] if row else []
        elif row:
            before = [index for index in rows if _named(lines[index]) < name]
            lines.insert(before[-1] + 1 if before else rows[0], written)
        self.text = self.text[:start] + "\n".join(lines) + self.text[end:]

    def stretch(self, key: str, ends: tuple[str, str], new: tuple[str, str]) -> None:
        """Let one observation of a key reach from one release to another.

        Raises:
            ValueError: there is no observation with these ends.
        """
        found = self._ends(key, ends)
        written = f'first = "{new[0]}"{found["between"]}last = "{new[1]}"'
        self.text = self.text[: found.start()] + written + self.text[found.end() :]

    def part(self, key: str, ends: tuple[str, str], *, at: str, around: tuple[str, str], value: object) -> None:
        """Put another value at one release: behind an observation that ends before it, or into one that spans it.

        Args:
            key: the fact.
            ends: of the observation whose place in the engine the new one shares.
            at: the release.
            around: the releases read before and after it.
            value: what it has there.

        Raises:
            ValueError: the observation is not written on one line, or not there.
        """
        found = self._ends(key, ends)
        start, end = self.text.rfind("\n", 0, found.start()) + 1, self.text.find("\n", found.end()) + 1
        line = self.text[start:end]
        if not line.lstrip().startswith("{"):
            raise ValueError(f"{key}: the observation of {ends[0]} to {ends[1]} is not on one line: add {at} by hand")
        parts = [line]
        fresh = _valued(_ended(line, (at, at)), value)
        if Version(ends[0]) < Version(at) < Version(ends[1]):
            parts = [_ended(line, (ends[0], around[0])), fresh, _ended(line, (around[1], ends[1]))]
        elif Version(ends[1]) < Version(at):
            parts = [line, fresh]
        else:
            parts = [fresh, line]
        self.text = self.text[:start] + "".join(parts) + self.text[end:]

    def _section(self, key: str) -> tuple[int, int]:
        heads = list(HEAD.finditer(self.text))
        for head, after in zip(heads, [*heads[1:], None], strict=True):
            if head["key"] == key:
                return head.end(), after.start() if after else len(self.text)
        raise ValueError(f"no fact called {key}")

    def _ends(self, key: str, ends: tuple[str, str]) -> re.Match[str]:
        start, end = self._section(key)
        for found in ENDS.finditer(self.text, start, end):
            if (found["first"], found["last"]) == ends:
                return found
        raise ValueError(f"{key}: no observation of {ends[0]} to {ends[1]}")


def _named(line: str) -> str:
    return line.partition(" = ")[0].strip('"')


def _ended(line: str, ends: tuple[str, str]) -> str:
    return ENDS.sub(lambda found: f'first = "{ends[0]}"{found["between"]}last = "{ends[1]}"', line, count=1)


def _valued(line: str, value: object) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(name)} = {json.dumps(item)}" for name, item in value.items())
        written = f"{{ {inner} }}" if inner else "{}"
    else:
        written = json.dumps(value, ensure_ascii=False)
    return re.sub(r"value = (\[[^\]]*\]|\{[^}]*\}|\"[^\"]*\"|\w+)", lambda _: f"value = {written}", line, count=1)


def encoded(values: Mapping[str, str | None], releases: Sequence[str]) -> str:
    """A timeline from the value in every release that was read, None where the name is not there."""
    runs: list[tuple[str | None, str, str]] = []
    for release in releases:
        value = values.get(release)
        if runs and runs[-1][0] == value:
            runs[-1] = (value, runs[-1][1], release)
        else:
            runs.append((value, release, release))
    return "; ".join(f"{value} {first}..{last}".lstrip() for value, first, last in runs if value is not None)


def with_release(row: str, version: str, value: str | None, releases: Sequence[str]) -> str:
    """A timeline with one more release in it; the text it had where that changes nothing."""
    if held(row, Version(version)) == value:
        return row
    listed = sorted({*releases, version}, key=Version)
    return encoded({release: held(row, Version(release)) for release in releases} | {version: value}, listed)
