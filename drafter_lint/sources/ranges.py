"""The span of bytes a read asks for: which paths may be named at all, and which spans a file can give."""

from __future__ import annotations

import re
from pathlib import Path

from drafter_lint.errors import Trouble, Unavailable

#: No read of ours is larger: a safetensors header may have 100 MB, everything else we want is smaller.
MAX_READ = 128 * 1024 * 1024

_DRIVE = re.compile(r"^[A-Za-z]:")


def is_inside(path: str) -> bool:
    """True for a printable relative path with ``/`` separators that stays below its folder, on every system."""
    parts = path.split("/")
    strange = "\\" in path or not path.isprintable() or _DRIVE.match(path)
    return not strange and not any(part in {"", ".", ".."} for part in parts)


def span_length(what: str, *, size: int, start: int, length: int | None) -> int:
    """How many bytes to read from ``start`` of a file of ``size`` bytes.

    Raises:
        Unavailable: the file is shorter than asked for, or the span is over :data:`MAX_READ`.
    """
    if start < 0 or (length is not None and length < 0):
        message = f"a span starts at or after 0 and has no negative length: {start}, {length}"
        raise ValueError(message)
    wanted = size - start if length is None else length
    if start > size or wanted > size - start:
        end = "the end" if length is None else f"{start + length}"
        detail = f"has {size} bytes; bytes {start} to {end} were asked for"
        raise Unavailable(Trouble.MALFORMED, what, detail)
    if wanted > MAX_READ:
        raise Unavailable(Trouble.TOO_LARGE, what, f"{wanted} bytes at once, over the bound of {MAX_READ}")
    return wanted


def read_span(file: Path, *, what: str, start: int, length: int) -> bytes:
    """Exactly ``length`` bytes of a file on disk."""
    try:
        with file.open("rb") as stream:
            stream.seek(start)
            data = stream.read(length)
    except FileNotFoundError:
        raise Unavailable(Trouble.MISSING, what, "is not there any more") from None
    except OSError as error:
        detail = f"could not be opened: {error.strerror or type(error).__name__}"
        raise Unavailable(Trouble.DENIED, what, detail, hint="check the permissions of the file") from None
    if len(data) != length:
        raise Unavailable(Trouble.MALFORMED, what, f"ended {length - len(data)} bytes early while it was read")
    return data
