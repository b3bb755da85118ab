"""The list of pairs: TOML, JSON lines, CSV, or every drafter below a folder; read row by row, never as a whole."""

from __future__ import annotations

import csv
import difflib
import io
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from drafter_lint.errors import UsageError
from drafter_lint.reference import RECIPE_SUFFIX
from drafter_lint.settings import PairTable
from drafter_lint.userfile import parse_toml, read_text

#: A folder is searched this deep: ``owner/name/checkpoint-500/model`` below a mirror of a Hub.
MAX_DEPTH = 5
#: A line longer than this holds no pair.
MAX_LINE = 1024 * 1024
#: How a cell of a table becomes a list.
_LISTS: Mapping[str, Callable[[str], list[str]]] = {
    "engines": lambda text: text.split(),
    "flags": lambda text: shlex.split(text),  # noqa: PLW0108 - its own signature has more parameters
    "trained-on": lambda text: text.replace(",", " ").split(),
}
_SHARD = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A pair of a list.

    Attributes:
        pair: what is asked for.
        folder: what paths in it are relative to.
        where: its place, for people: ``pairs.csv:12``.
        found: True if nobody named it: it came up in a folder, and is passed over if it is no drafter.
    """

    pair: PairTable
    folder: Path
    where: str
    found: bool = False


@dataclass(frozen=True, slots=True)
class Shard:
    """Every ``of``-th row, from the ``number``-th, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """``2/5``.

        Raises:
            UsageError: it is written otherwise, or there is no such part.
        """
        written = _SHARD.fullmatch(text)
        if not written or not 1 <= int(written[1]) <= int(written[2]):
            raise UsageError(f"--shard {text!r}: expected K/N, such as 2/5")
        return cls(int(written[1]), int(written[2]))


WHOLE = Shard(1, 1)


def read_rows(path: str, shard: Shard = WHOLE, *, piped: Callable[[], str] = str) -> Iterator[Row]:
    """The rows of a list, or of a folder.

    Args:
        path: a file ``*.toml``, ``*.jsonl`` or ``*.csv``, ``-`` for JSON lines from standard input, or a folder.
        shard: which of them.
        piped: reads standard input.

    Raises:
        UsageError: it cannot be read, or a row is not what it should be; names the line.
    """
    yield from islice(_all_rows(path, piped), shard.number - 1, None, shard.of)


def count(path: str, shard: Shard = WHOLE, *, piped: Callable[[], str] = str) -> int:
    """How many rows there are; a mistake in the last is told before the first is judged.

    Raises:
        UsageError: as :func:`read_rows`.
    """
    return sum(1 for _ in read_rows(path, shard, piped=piped))


def _all_rows(path: str, piped: Callable[[], str]) -> Iterator[Row]:
    if path == "-":
        return _json_lines(io.StringIO(piped()), "-", Path())
    place = Path(path)
    if place.is_dir():
        return _below(place)
    readers = {".toml": _toml, ".jsonl": _json_file, ".ndjson": _json_file, ".csv": _csv}
    reader = readers.get(place.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: a list of pairs is a .toml, .jsonl or .csv file, or a folder of drafters")
    return _readable(reader, place)


def _readable(reader: Callable[[Path], Iterator[Row]], place: Path) -> Iterator[Row]:
    try:
        yield from reader(place)
    except OSError as error:
        raise UsageError(f"{place}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{place}: is no text in UTF-8") from error


def _toml(place: Path) -> Iterator[Row]:
    try:
        document = parse_toml(read_text(place))
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from error
    pairs = document.get("pair")
    strange = sorted(set(document) - {"pair"})
    if strange or not isinstance(pairs, list):
        why = f"{strange[0]!r} is a setting: name that file with --config" if strange else "no [[pair]] there"
        raise UsageError(f"{place}: a list holds [[pair]] tables and nothing else; {why}")
    for number, pair in enumerate(pairs, 1):
        yield _row(pair, place.parent, f"{place}: pair {number}")


def _json_file(place: Path) -> Iterator[Row]:
    with place.open(encoding="utf-8") as file:
        yield from _json_lines(file, str(place), place.parent)


def _json_lines(file: io.TextIOBase | io.TextIOWrapper, name: str, folder: Path) -> Iterator[Row]:
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        where = f"{name}:{number}"
        if len(line) == MAX_LINE:
            raise UsageError(f"{where}: a line of more than {MAX_LINE} characters")
        if not line.strip():
            continue
        try:
            pair = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where}: no JSON: {error}") from error
        yield _row(pair, folder, where)


def _csv(place: Path) -> Iterator[Row]:
    with place.open(encoding="utf-8-sig", newline="") as file:
        table = csv.DictReader(file, restkey="a cell too many", restval="", strict=True)
        try:
            for cells in table:
                where = f"{place}:{table.line_num}"
                pair: dict[str, object] = {}
                for name, text in cells.items():
                    key, split = name.strip(), _LISTS.get(name.strip().replace("_", "-"))
                    if text:
                        pair[key] = _split(split, text, where) if split else text
                yield _row(pair, place.parent, where)
        except csv.Error as error:
            raise UsageError(f"{place}:{table.line_num}: {error}") from error


def _split(split: Callable[[str], list[str]], text: str, where: str) -> Sequence[str | int]:
    try:
        words = split(text)
    except ValueError as error:
        raise UsageError(f"{where}: {text!r}: {error}") from error
    if split is not _LISTS["trained-on"]:
        return words
    return [int(word) if word.isdecimal() else word for word in words]


def _below(place: Path) -> Iterator[Row]:
    """Every checkpoint at or below a folder, in the order of their paths; recipes stand for checkpoints."""
    top = os.fspath(place)
    for folder, below, names in os.walk(top):
        below[:] = sorted(name for name in below if not name.startswith("."))
        if Path(folder).relative_to(top).parts[MAX_DEPTH - 1 :]:
            below.clear()
        recipes = sorted(name for name in names if name.endswith(RECIPE_SUFFIX))
        found = [os.path.join(folder, name) for name in recipes]  # noqa: PTH118 - the path as it was typed, "./" and all
        if "config.json" in names:
            found.insert(0, folder)
        for path in found:
            reference = path if path.startswith((".", "/", "~")) else f"./{path}"
            yield Row(pair=PairTable.model_validate({"drafter": reference}), folder=Path(), where=path, found=True)


def _row(pair: object, folder: Path, where: str) -> Row:
    if not isinstance(pair, Mapping):
        raise UsageError(f"{where}: a pair is an object such as {{'drafter': …, 'target': …}}")
    keys = cast("Mapping[str, object]", pair)
    try:
        table = PairTable.model_validate({str(key).replace("_", "-"): value for key, value in keys.items()})
    except ValidationError as error:
        raise UsageError(f"{where}: {_said(error)}") from error
    if table.drafter is None and table.launch is None:
        raise UsageError(f"{where}: a pair names a drafter, or a launch command")
    if table.launch is not None and table.flags:
        raise UsageError(f"{where}: flags and launch both say what is started")
    return Row(pair=table, folder=folder, where=where)


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        known = [str(field.alias) for field in PairTable.model_fields.values()]
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        return f"unknown key {key!r}; " + (f"nearest: {near[0]}" if near else f"there are {', '.join(known)}")
    said = first["msg"].removeprefix("Input ")
    return f"{key}: {said[:1].lower()}{said[1:]}"
