"""Report files: several formats of one report, each written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from drafter_lint.errors import UsageError
from drafter_lint.reference import RECIPE_SUFFIX
from drafter_lint.renderers import RENDERERS, render
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report

#: Files are for programs and other people: no colour, every character, nothing left out for a terminal's sake.
FILE_STYLE = Style()


class Output(NamedTuple):
    """One ``--report FORMAT=FILE``."""

    format_: str
    path: str


def parse_output(text: str) -> Output:
    """``FORMAT=FILE``, as typed.

    Raises:
        UsageError: the format is not known, or there is no file.
    """
    format_, equals, path = text.partition("=")
    if not equals or not path:
        raise UsageError(f"--report {text!r}: expected FORMAT=FILE, such as sarif=drafter-lint.sarif")
    if format_ not in RENDERERS:
        raise UsageError(f"--report {text!r}: no format called {format_!r}; there are {', '.join(RENDERERS)}")
    return Output(format_, path)


def write_reports(report: Report, outputs: Iterable[Output]) -> None:
    """Write a report in several formats.

    Every text is made, then all of them lie on disk beside their places, and only then do they appear, one after
    another: a reader never sees half a report, and a failure while writing leaves the old ones as they were.

    Raises:
        UsageError: two reports go to one file, or a file cannot be written.
    """
    wanted = list(outputs)
    places = [_place(item.path) for item in wanted]
    for file in filter(None, places):
        if places.count(file) > 1:
            raise UsageError(f"--report: two reports would go to {file}")
    texts = [render(report, item.format_, FILE_STYLE).encode("utf-8", "backslashreplace") for item in wanted]
    waiting: dict[Path, Path] = {}
    try:
        for place, text in zip(places, texts, strict=True):
            if place:
                waiting[place] = _beside(place, text)
        for file, temporary in list(waiting.items()):
            temporary.replace(file)
            del waiting[file]
        for item, place, text in zip(wanted, places, texts, strict=True):
            if not place:
                Path(item.path).write_bytes(text)
    except OSError as error:
        where = error.filename2 or error.filename
        raise UsageError(f"--report: {where} could not be written: {error.strerror or error}") from error
    finally:
        for temporary in waiting.values():
            temporary.unlink(missing_ok=True)


def write_lines(path: str, lines: Iterable[bytes]) -> None:
    """Write one report that is made line by line: a file appears whole or not at all, a pipe is written to.

    Raises:
        OSError: it could not be written; the old file is as it was.
    """
    place = _place(path)
    if place:
        write_whole(place, lines)
    else:
        with Path(path).open("wb") as pipe:
            pipe.writelines(lines)


def write_whole(path: Path, text: bytes | Iterable[bytes]) -> None:
    """Put one file in place: a reader sees the old one or the new one, never half of it.

    Raises:
        OSError: it could not be written; the old one is as it was.
    """
    _beside(path, text).replace(path)


def write_recipe(path: str, text: str) -> None:
    """Write a recipe, whole or not at all.

    Raises:
        UsageError: it would not be known for one by its name, or cannot be written.
    """
    if not path.endswith(RECIPE_SUFFIX):
        raise UsageError(f"--output {path!r}: a recipe is known by its name, such as drafter{RECIPE_SUFFIX}")
    try:
        write_whole(Path(path), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"--output: {path} could not be written: {error.strerror or error}") from error


def _place(path: str) -> Path | None:
    """The file a report replaces, behind any link; None for a pipe or a terminal, which is written to instead."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return None
    except OSError:  # not there yet, or something the attempt to write will name
        pass
    return Path(os.path.realpath(path))


def _beside(place: Path, text: bytes | Iterable[bytes]) -> Path:
    """A finished file beside ``place``, with the permissions that ``place`` has or would get."""
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.", dir=place.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.writelines([text] if isinstance(text, bytes) else text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode(place))
    except BaseException as error:
        if temporary:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):  # the name the user typed, not that of the temporary file
            error.filename = str(place)
        raise
    return temporary


def _mode(place: Path) -> int:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        mask = os.umask(0o077)  # the only way to learn it is to set it
        os.umask(mask)
        return 0o666 & ~mask
