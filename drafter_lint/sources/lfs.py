"""A Git LFS pointer: the few lines Git keeps in place of a large file that was never fetched."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A pointer file is smaller than this, https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
MAX_POINTER = 1024

_VERSION = re.compile(rb"^version https://(git-lfs\.github\.com|hawser\.github\.com)/spec/v1\r?\n")
_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})\r?$", re.MULTILINE)
_SIZE = re.compile(rb"^size (\d{1,19})\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LfsPointer:
    """What a pointer says: the sha256 of the content it stands for, and its size in bytes."""

    oid: str
    size: int


def lfs_pointer(data: bytes) -> LfsPointer | None:
    """The pointer ``data`` is, or None. ``data`` is a whole file, or at least its first :data:`MAX_POINTER` bytes."""
    head = data[:MAX_POINTER]
    oid, size = _OID.search(head), _SIZE.search(head)
    if not _VERSION.match(head) or oid is None or size is None:
        return None
    return LfsPointer(oid=oid.group(1).decode("ascii"), size=int(size.group(1)))
