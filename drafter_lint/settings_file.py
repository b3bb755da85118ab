"""The settings file: where it is found, and its table as written. Nothing is understood here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from drafter_lint.errors import UsageError
from drafter_lint.userfile import parse_toml, read_text

NAME, PROJECT, TOOL = "drafter-lint.toml", "pyproject.toml", "drafter-lint"
_HEADER = re.compile(r"\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(?:#.*)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """A settings file.

    Attributes:
        path: as the user would write it: relative to the current folder where it can be.
        text: the whole file.
        table: the settings in it.
    """

    path: Path
    text: str
    table: Mapping[str, object]

    @property
    def folder(self) -> Path:
        """What paths in it are relative to."""
        return self.path.parent

    def line(self, keys: Sequence[str | int]) -> int:
        """The line, from 1, of a key such as ``("pair", 1, "drafter")``; its table's, or 1, if it is not found."""
        table = ".".join(str(key) for key in takewhile(lambda key: isinstance(key, str), keys[:-1]))
        wanted = next((key for key in keys if isinstance(key, int)), 0)
        key = re.compile(rf"\s*[\"']?{re.escape(str(keys[-1]))}[\"']?\s*[.=]") if keys else None
        here, seen, best = "", -1, 1
        for number, line in enumerate(self.text.splitlines(), 1):
            if match := _HEADER.match(line):
                here = match[1].replace('"', "").replace(" ", "").removeprefix(f"tool.{TOOL}").removeprefix(".")
                seen += here == table and line.lstrip().startswith("[[")
                if here == table and seen in (wanted, -1):
                    best = number
            elif key and here == table and seen in (wanted, -1) and key.match(line):
                return number
        return best


def find(folder: Path) -> SettingsFile | None:
    """The settings that hold in a folder: the nearest on the way up to the root of the repository.

    ``drafter-lint.toml`` wins over ``[tool.drafter-lint]`` of a pyproject.toml beside it. Outside a repository only the
    folder itself is looked at: what lies above it is somebody else's.

    Raises:
        UsageError: the file found is no TOML.
    """
    folder = folder.resolve()
    above = [folder, *folder.parents]
    root = next((index for index, parent in enumerate(above) if (parent / ".git").exists()), 0)
    for parent in above[: root + 1]:
        for name in (NAME, PROJECT):
            path = parent / name
            if path.is_file() and (found := _read(_shown(path, folder), whole=name == NAME)):
                return found
    return None


def read(path: Path) -> SettingsFile:
    """A settings file named by the user.

    Raises:
        UsageError: it cannot be read, is no TOML, or is a pyproject.toml without our table.
    """
    found = _read(path, whole=path.name != PROJECT)
    if found is None:
        raise UsageError(f"{path}: has no [tool.{TOOL}]")
    return found


def _read(path: Path, *, whole: bool) -> SettingsFile | None:
    try:
        text = read_text(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from error
    if not whole and TOOL not in text:
        return None
    try:
        table: object = parse_toml(text)
    except ValueError as error:
        where = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f":{where[1]}:{where[2]}" if where else ""
        raise UsageError(f"{path}{place}: no TOML: {str(error).partition(' (at ')[0]}") from error
    for key in () if whole else ("tool", TOOL):
        table = table.get(key) if isinstance(table, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.{TOOL} is no table")
    return SettingsFile(path=path, text=text, table=table)


def _shown(path: Path, folder: Path) -> Path:
    """The path as a person in ``folder`` would write it."""
    if path.is_relative_to(folder):
        return path.relative_to(folder)
    return Path(*[".."] * (len(folder.parts) - len(path.parent.parts)), path.name)
