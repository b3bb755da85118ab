"""What a source of bytes is: a list of files, exact byte ranges, and a tally of what reading cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

# One lock for all tallies: adding is rare next to reading, and a tally stays a plain value that can be pickled.
_ADDING = threading.Lock()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a checkpoint: its size in bytes, and an id of its content where the source knows one for free."""

    size: int
    content_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which checkpoint this is, resolved.

    Attributes:
        name: a path or ``owner/name``.
        commit: the commit every read goes to; None for a local folder or memory.
        revision: the branch or tag that led to the commit; None if a commit was asked for.
        created: the day the repository was made, as ``2026-01-27``; None where the listing does not say.
        changed: the day of its last commit; None where the listing does not say.
    """

    name: str
    commit: str | None = None
    revision: str | None = None
    created: str | None = None
    changed: str | None = None

    @property
    def shown(self) -> str:
        """``owner/name @ 3f9c1ab``, or the path."""
        return f"{self.name} @ {self.commit[:7]}" if self.commit else self.name


@dataclass(slots=True)
class Tally:
    """What reading cost so far; one per check, shared by its sources.

    Attributes:
        requests: to any server.
        bytes: read, from wherever.
        cached: how many of them came from a cache of what a Hub once sent.
        started: when, on the monotonic clock.
    """

    requests: int = 0
    bytes: int = 0
    cached: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the tally was made."""
        return time.monotonic() - self.started

    def add(self, *, requests: int = 0, size: int = 0, cached: bool = False) -> None:
        """Count requests and bytes; sources may do so from several threads."""
        with _ADDING:
            self.requests += requests
            self.bytes += size
            self.cached += size if cached else 0


class Source(Protocol):
    """Where the bytes of one checkpoint come from.

    Every method may raise :class:`~drafter_lint.errors.Unavailable`.
    """

    @property
    def identity(self) -> Identity:
        """Which checkpoint this is; resolving it may cost a request."""
        ...

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """Every file by its path with ``/`` separators, relative to the checkpoint's folder."""
        ...

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Exactly ``length`` bytes from ``start``, or to the end.

        Raises:
            Unavailable: the file is not there, or shorter than asked for.
        """
        ...
