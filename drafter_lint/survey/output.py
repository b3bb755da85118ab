"""The file a survey is written to: a record a line, what is there already kept, and never half a line left behind."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from drafter_lint.errors import UsageError
from drafter_lint.renderers.survey_record import Record, recorded

#: No record is longer; a file with a longer line is somebody else's.
MAX_LINE = 16 * 1024 * 1024


class Output:
    """Records by key, as a context manager; without a path they are kept until the end of the run only."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.held: set[bytes] = set()
        self._file: BinaryIO | None = None
        self._end = 0

    def __enter__(self) -> Self:
        if self.path is None:
            self._file = cast("BinaryIO", tempfile.TemporaryFile())
            return self
        try:
            place = Path(self.path)
            if place.exists() and not stat.S_ISREG(place.stat().st_mode):
                raise UsageError(f"{self.path}: is no file; records are read again for the table, or by the next run")
            self._file = os.fdopen(os.open(place, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666), "r+b")
        except OSError as error:
            raise self._refused(error) from error
        try:
            self._hold()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def _hold(self) -> None:
        """Learn what is there; a last line that was cut off by whatever ended the run is taken back."""
        for number, (line, end) in enumerate(self._lines(), 1):
            try:
                if not line.endswith(b"\n"):
                    break
                self.held.add(bytes.fromhex(recorded(line).key))
            except ValueError:
                raise UsageError(f"{self.path}:{number}: no record of a survey; name another file") from None
            self._end = end
        self._cut()

    def write(self, line: str) -> None:
        """Add a record; it is in the file when this returns.

        Raises:
            UsageError: the file takes no more.
        """
        try:
            self._opened.seek(self._end)
            self._opened.write(line.encode() + b"\n")
            self._opened.flush()
        except BaseException as error:  # also an interruption in the middle of a line
            self._cut()
            if isinstance(error, OSError):
                raise self._refused(error) from error
            raise
        self._end = self._opened.tell()

    def records(self, keys: Collection[bytes]) -> Iterator[Record]:
        """The records of some keys, in the order of the file."""
        for line, end in self._lines():
            if end > self._end:
                return
            found = recorded(line)
            if bytes.fromhex(found.key) in keys:
                yield found

    def _lines(self) -> Iterator[tuple[bytes, int]]:
        position = 0
        while True:
            self._opened.seek(position)
            line = self._opened.readline(MAX_LINE)
            position += len(line)
            if not line:
                return
            yield line, position

    def _cut(self) -> None:
        try:
            self._opened.seek(self._end)
            self._opened.truncate()
        except OSError:  # a disk that is full lets itself be shortened; one that is gone has no half line to show
            return

    @property
    def _opened(self) -> BinaryIO:
        if self._file is None:
            raise RuntimeError("an output is used inside its with statement")
        return self._file

    def _refused(self, error: OSError) -> UsageError:
        name = self.path or "the folder for temporary files"
        return UsageError(f"{name}: could not be written: {error.strerror or error}")
