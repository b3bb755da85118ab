"""A checkpoint held in memory: what recipes become, with files that are large only in name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.base import FileEntry, Identity, Tally
from drafter_lint.sources.ranges import span_length


@dataclass(frozen=True, slots=True)
class VirtualFile:
    """A file of ``size`` bytes that are zero except for its parts.

    Attributes:
        size: the size in bytes; nothing of that size is ever allocated.
        parts: pairs of offset and content, such as a header at 0 and the values of ``d2t`` further on; a later part
            covers an earlier one.
    """

    size: int
    parts: tuple[tuple[int, bytes], ...] = ()

    def __post_init__(self) -> None:
        for offset, content in self.parts:
            if offset < 0 or offset + len(content) > self.size:
                message = f"a part of {len(content)} bytes at {offset} does not fit a file of {self.size} bytes"
                raise ValueError(message)

    def span(self, start: int, length: int) -> bytes:
        """The bytes of a span, which must lie within the file."""
        data = bytearray(length)
        for offset, content in self.parts:
            first, last = max(start, offset), min(start + length, offset + len(content))
            if first < last:
                data[first - start : last - start] = content[first - offset : last - offset]
        return bytes(data)


class _Entries(Mapping[str, FileEntry]):
    """The listing of some files; a mapping that makes its files when asked is not asked for more than is wanted."""

    def __init__(self, content: Mapping[str, bytes | VirtualFile]) -> None:
        self._content = content

    def __getitem__(self, path: str) -> FileEntry:
        return FileEntry(_size(self._content[path]))

    def __contains__(self, path: object) -> bool:
        return path in self._content

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)


class MemorySource:
    """Files by path, as bytes or as :class:`VirtualFile`."""

    def __init__(
        self,
        name: str,
        files: Mapping[str, bytes | VirtualFile],
        *,
        commit: str | None = None,
        tally: Tally | None = None,
    ) -> None:
        self._identity = Identity(name=name, commit=commit)
        self._content = files
        self._files = _Entries(files)
        self._tally = tally or Tally()

    @property
    def identity(self) -> Identity:
        """The name it was given."""
        return self._identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """The files it was given."""
        return self._files

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Exactly ``length`` bytes from ``start``, or to the end."""
        what = f"{self._identity.name}: {path}"
        content = self._content.get(path)
        if content is None:
            raise Unavailable(Trouble.MISSING, what, "is not among the files")
        wanted = span_length(what, size=_size(content), start=start, length=length)
        data = content.span(start, wanted) if isinstance(content, VirtualFile) else content[start : start + wanted]
        self._tally.add(size=len(data))
        return data


def _size(content: bytes | VirtualFile) -> int:
    return content.size if isinstance(content, VirtualFile) else len(content)
