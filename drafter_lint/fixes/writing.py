"""Writing changes: beside the file first, read back, and only then in its place."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from drafter_lint.fixes.change import FileChange, FixFailed, TensorChange, TextChange

CHUNK = 1024 * 1024


def apply(changes: Iterable[FileChange]) -> None:
    """Carry out the changes. Every new file is complete on disk and read back before the first one takes its place.

    Permissions are kept. A file that is not what it was when the change was planned is left alone, and so are all the
    others then.

    Raises:
        FixFailed: a file has changed, is read-only, was moved behind a link, or cannot be written.
    """
    ready: list[tuple[Path, Path]] = []
    try:
        for change in _merged(changes):
            ready.append((_written(change), change[0].path))  # noqa: PERF401 - what is ready is cleared away on failure
        for temporary, path in ready:
            temporary.replace(path)
            _settle(path.parent)
    except OSError as error:
        raise FixFailed(f"{error.filename or 'a file'} could not be written: {error.strerror or error}") from error
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)


_Group = tuple[TextChange] | tuple[TensorChange, ...]


def _merged(changes: Iterable[FileChange]) -> list[_Group]:
    """The changes by file: several tensors of one file are written in one go."""
    texts: list[_Group] = []
    tensors: dict[Path, list[TensorChange]] = {}
    for change in changes:
        if isinstance(change, TextChange):
            texts.append((change,))
        else:
            tensors.setdefault(change.path, []).append(change)
    return [*texts, *(tuple(group) for group in tensors.values())]


def _written(group: _Group) -> Path:
    """A new file beside the one to be changed, complete and read back."""
    first = group[0]
    path = first.path
    status = _checked(first)
    if isinstance(first, TextChange):
        temporary = path.with_name(f".{path.name}.fixed")
    else:
        temporary = path.with_name(f"{path.stem}.fixed{path.suffix}")
    tensors = [change for change in group if isinstance(change, TensorChange)]
    try:
        with temporary.open("xb") as new:
            temporary.chmod(stat.S_IMODE(status.st_mode))
            if isinstance(first, TextChange):
                new.write(first.after)
            else:
                _copy(path, new.write)
                for change in tensors:
                    new.seek(change.start)
                    new.write(change.after)
            new.flush()
            os.fsync(new.fileno())
        _read_back(first, temporary, tensors)
        _still(first, status)
    except FileExistsError:
        raise FixFailed(f"{first.shown}: {temporary.name} is in the way; an earlier run may have left it") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _checked(change: FileChange) -> os.stat_result:
    """The file's state, if it is still the one that was read."""
    path = change.path
    try:
        status = path.lstat()
        here = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise FixFailed(f"{change.shown} is no longer there") from error
    if here != path or not stat.S_ISREG(status.st_mode):
        raise FixFailed(f"{change.shown} has become a link, or no regular file")
    if not os.access(path, os.W_OK):
        raise FixFailed(f"{change.shown} is read-only")
    size = len(change.before) if isinstance(change, TextChange) else change.size
    if status.st_size != size or (isinstance(change, TextChange) and path.read_bytes() != change.before):
        raise _changed(change)
    return status


def _still(change: FileChange, before: os.stat_result) -> None:
    now = change.path.stat()
    if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise _changed(change)


def _read_back(first: FileChange, temporary: Path, tensors: list[TensorChange]) -> None:
    if isinstance(first, TextChange):
        if temporary.read_bytes() != first.after:
            raise FixFailed(f"{first.shown}: the new file is not what was written")
        return
    same_elsewhere(first.path, temporary, tensors)


def same_elsewhere(old: Path, new: Path, tensors: Iterable[TensorChange]) -> None:
    """Hold two files against each other, megabyte by megabyte.

    Raises:
        FixFailed: they differ outside the tensors' ranges (the header is outside), or inside one of the files does not
            hold the values it should.
    """
    ranges = sorted(tensors, key=lambda change: change.start)
    shown = ranges[0].shown if ranges else str(old)
    with old.open("rb") as was, new.open("rb") as now:
        cursor = 0
        for change in ranges:
            _same(was, now, length=change.start - cursor, shown=shown)
            if was.read(len(change.before)) != change.before:
                raise _changed(change)
            if now.read(len(change.after)) != change.after:
                raise FixFailed(f"{shown}: {change.tensor} is not what was written")
            cursor = change.end
        _same(was, now, length=old.stat().st_size - cursor, shown=shown)
        if now.read(1):
            raise FixFailed(f"{shown}: the new file is longer")


def _same(was: BinaryIO, now: BinaryIO, *, length: int, shown: str) -> None:
    if length < 0:
        raise FixFailed(f"{shown}: the changed ranges overlap")
    while length > 0:
        part = was.read(min(CHUNK, length))
        if not part or part != now.read(len(part)):
            raise FixFailed(f"{shown}: the new file differs outside the tensor")
        length -= len(part)


def _copy(path: Path, write: Callable[[bytes], int]) -> None:
    with path.open("rb") as old:
        while part := old.read(CHUNK):
            write(part)


def _changed(change: FileChange) -> FixFailed:
    return FixFailed(f"{change.shown} has changed since it was read; check again")


def _settle(folder: Path) -> None:
    """Make the renaming last, where the system lets a folder be synced."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
