"""A checkpoint in a local folder, read without ever leaving that folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.base import FileEntry, Identity, Tally
from drafter_lint.sources.ranges import is_inside, read_span, span_length

#: Listing stops here; the folder's own files are listed before those of its subfolders.
MAX_FILES = 10_000
#: Subfolders are listed this deep: enough for ``original/`` and ``checkpoint-500/model/``.
MAX_DEPTH = 2


class LocalSource:
    """A folder; of a single file, the folder that holds it.

    A link may lead to another place of the same folder. Inside the Hub's cache it may lead anywhere in the cached
    repository, because there every file of ``models--owner--name/snapshots/<commit>`` is a link into ``blobs``.
    """

    def __init__(self, path: str, tally: Tally | None = None) -> None:
        self._spelling = path
        self._tally = tally or Tally()

    @property
    def identity(self) -> Identity:
        """The path as typed."""
        return Identity(name=self._spelling)

    @cached_property
    def _root(self) -> Path:
        try:
            path = Path(self._spelling).expanduser().resolve()
            mode = path.stat().st_mode
        except (FileNotFoundError, NotADirectoryError, RuntimeError, ValueError):
            hint = "check the path; a repository of the Hub is written owner/name"
            raise Unavailable(Trouble.NOT_FOUND, self._spelling, "there is no such folder", hint=hint) from None
        except OSError as error:
            raise self._denied(self._spelling, error) from None
        return path if stat.S_ISDIR(mode) else path.parent

    @cached_property
    def _bounds(self) -> Path:
        """The folder no link may lead out of."""
        for parent in self._root.parents:
            if parent.name.startswith("models--") and self._root.is_relative_to(parent / "snapshots"):
                return parent
        return self._root

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """Every regular file, the folder's own first, ``.git`` left out."""
        found: dict[str, FileEntry] = {}
        level = [""]
        for _ in range(MAX_DEPTH + 1):
            deeper: list[str] = []
            for prefix in level:
                self._list(prefix, found, deeper)
            level = deeper
        return MappingProxyType(found)

    def _list(self, prefix: str, found: dict[str, FileEntry], deeper: list[str]) -> None:
        try:
            entries = sorted(os.scandir(self._root / prefix), key=lambda entry: entry.name)
        except OSError as error:
            if prefix:  # a subfolder we may not see does not make the checkpoint unreadable
                return
            raise self._denied(self._spelling, error) from None
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if len(found) >= MAX_FILES or not is_inside(path):
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        deeper.append(f"{path}/")
                elif entry.is_file():
                    found[path] = FileEntry(entry.stat().st_size)
            except OSError:
                continue

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Exactly ``length`` bytes from ``start``, or to the end."""
        what = f"{self._spelling}: {path}"
        if not is_inside(path):
            raise Unavailable(Trouble.MISSING, what, "is no path inside the checkpoint")
        try:
            file = (self._root / path).resolve()
            if not file.is_relative_to(self._bounds):
                hint = "put the file itself into the folder, or name the folder that holds it"
                raise Unavailable(Trouble.DENIED, what, "is a link that leads out of the folder", hint=hint)
            status = file.stat()
        except (FileNotFoundError, NotADirectoryError, RuntimeError):
            raise Unavailable(Trouble.MISSING, what, "is not in the folder") from None
        except OSError as error:
            raise self._denied(what, error) from None
        if not stat.S_ISREG(status.st_mode):  # a pipe would block, a device would never end
            raise Unavailable(Trouble.MISSING, what, "is not a regular file")
        wanted = span_length(what, size=status.st_size, start=start, length=length)
        data = read_span(file, what=what, start=start, length=wanted)
        self._tally.add(size=len(data))
        return data

    @staticmethod
    def _denied(what: str, error: OSError) -> Unavailable:
        detail = f"could not be read: {error.strerror or type(error).__name__}"
        return Unavailable(Trouble.DENIED, what, detail, hint="check the permissions of the folder")
