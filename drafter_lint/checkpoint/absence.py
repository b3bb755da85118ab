"""Telling "not there" from "not cached": offline, a listing holds only what some earlier run has read."""

from __future__ import annotations

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.base import Source


def prove_absent(source: Source, path: str) -> None:
    """Return if the checkpoint really has no such file.

    Raises:
        Unavailable: the listing lacks the file for another reason (offline, and not in the cache).
    """
    try:
        source.read(path, 0, 0)
    except Unavailable as trouble:
        if trouble.trouble is not Trouble.MISSING:
            raise
