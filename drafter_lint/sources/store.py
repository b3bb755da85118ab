"""Entries on disk that may vanish at any moment: written whole, checked when read, bounded in size.

Any number of processes may use one store without locks: an entry is finished beside its place and then renamed, what
does not carry its own digest is no entry, and whoever writes much removes what was not used for longest. Nothing here
raises for a store that is missing, read-only or full; an entry is then simply not there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: What all entries may take together. A check of a pair keeps about 100 kB; an index of 208,216 tensors has 23.6 MB.
MAX_BYTES = 512_000_000
#: Larger reads are not kept: one of them would push out thousands of others.
MAX_ENTRY = 32_000_000
#: Bytes between two looks at the size of the whole.
_LOOK_AFTER = MAX_BYTES // 16
#: How full a store is left once it was too full.
_LEAVE = 0.75
#: An unfinished file this old belongs to a process that was killed.
_ABANDONED_SECONDS = 3600
#: A full or read-only folder stays what it is for this run; one that was cleared meanwhile is made anew.
_STAYS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
_BINARY = getattr(os, "O_BINARY", 0)  # Windows alone has it
_LAYOUT = "v1"
_UNFINISHED = ".unfinished-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How much a store holds.

    Attributes:
        entries: how many.
        bytes: what they take on disk.
        most: what they may take.
        labels: how many of each ``label``.
    """

    entries: int
    bytes: int
    most: int
    labels: dict[str, int]


@cache
def store(folder: Path) -> Store:
    """The store in a folder, one for the whole process."""
    return Store(folder)


class Store:
    """A folder of entries, each with a group and a name in it. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._root = folder / _LAYOUT
        self._lock = threading.Lock()
        self._unseen = _LOOK_AFTER  # so that the first write looks
        self._writable = True

    def get(self, group: str, name: str, *, label: str) -> bytes | None:
        """What was put there, None if there is nothing sound."""
        path = self._place(group) / name
        try:
            with path.open("rb") as file:
                head, _, content = file.read(MAX_ENTRY + 4096).partition(b"\n")
        except OSError:
            return None
        if head != _head(group, name, label=label, content=content):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # what is used stays
        return content

    def names(self, group: str) -> tuple[str, ...]:
        """The names of a group."""
        try:
            return tuple(name for name in os.listdir(self._place(group)) if not name.startswith("."))  # noqa: PTH208 - one system call
        except OSError:
            return ()

    def put(self, group: str, name: str, content: bytes, *, label: str) -> None:
        """Keep something, if that is possible.

        Args:
            group: hexadecimal digits.
            name: a file name.
            content: at most :data:`MAX_ENTRY` bytes; more is not kept.
            label: what :meth:`usage` counts it under; one line.
        """
        if not self._writable or len(content) > MAX_ENTRY:
            return
        place = self._place(group)
        # Named before it exists, so that an interruption at any moment finds it.
        unfinished = place / f"{_UNFINISHED}{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb") as file:
                file.write(_head(group, name, label=label, content=content) + b"\n" + content)
            unfinished.replace(place / name)
        except OSError as error:
            self._writable = error.errno not in _STAYS
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink()
        self._count(len(content))

    def usage(self) -> Usage:
        """What the store holds now."""
        labels: dict[str, int] = {}
        entries = total = 0
        for path, status in self._entries():
            try:
                with path.open("rb") as file:
                    label = file.readline(4096).decode("utf-8", "replace").rstrip("\n").partition(" ")[2]
            except OSError:
                continue
            entries, total = entries + 1, total + status.st_size
            labels[label] = labels.get(label, 0) + 1
        return Usage(entries=entries, bytes=total, most=MAX_BYTES, labels=dict(sorted(labels.items())))

    def clear(self) -> int:
        """Remove everything; how many bytes that freed.

        Raises:
            OSError: something could not be removed.
        """
        total = sum(status.st_size for _, status in self._entries())
        if self._root.is_dir():
            shutil.rmtree(self._root)
        return total

    def _place(self, group: str) -> Path:
        return self._root / group[:2] / group

    def _count(self, size: int) -> None:
        with self._lock:
            self._unseen += size
            if self._unseen < _LOOK_AFTER:
                return
            self._unseen = 0
        self._trim()

    def _trim(self) -> None:
        """Remove what was not used for longest, if the whole is over its bound."""
        found = sorted(self._entries(), key=lambda item: item[1].st_mtime_ns)
        total = sum(status.st_size for _, status in found)
        for path, status in found if total > MAX_BYTES else ():
            if total <= MAX_BYTES * _LEAVE:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= status.st_size
                path.parent.rmdir()  # if it was the last of its group

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for folder, _, names in os.walk(self._root):
            for name in names:
                path = Path(folder) / name
                try:
                    status = path.stat()
                    if not name.startswith(_UNFINISHED):
                        yield path, status
                    elif time.time() - status.st_mtime > _ABANDONED_SECONDS:
                        path.unlink()
                except OSError:
                    continue


def _head(group: str, name: str, *, label: str, content: bytes) -> bytes:
    """The first line of an entry: a digest of all it is, and the label."""
    line = label.encode("utf-8", "replace").replace(b"\n", b" ")[:2000]
    digest = hashlib.sha256(b"\0".join((group.encode(), name.encode(), line, content)))
    return digest.hexdigest().encode() + b" " + line
