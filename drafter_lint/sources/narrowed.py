"""A source of which some files are out of sight, so that a large checkpoint can be looked at in part."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from drafter_lint.sources.base import FileEntry, Identity, Source


class Narrowed:
    """Another source without some of its files; what is still in sight is read from it."""

    def __init__(self, source: Source, hidden: Collection[str]) -> None:
        self._source = source
        self._files = {path: entry for path, entry in source.files.items() if path not in hidden}

    @property
    def identity(self) -> Identity:
        """The other source's."""
        return self._source.identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """Those of its files that are in sight."""
        return self._files

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """What the other source reads."""
        return self._source.read(path, start, length)
