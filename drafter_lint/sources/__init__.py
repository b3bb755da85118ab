"""Where the bytes of a checkpoint come from: a folder, the Hub, or memory. The only package that does I/O."""

from __future__ import annotations

from drafter_lint.reference import Reference
from drafter_lint.sources.base import FileEntry, Identity, Source, Tally
from drafter_lint.sources.lfs import LfsPointer, lfs_pointer
from drafter_lint.sources.local import LocalSource
from drafter_lint.sources.memory import MemorySource, VirtualFile

__all__ = [
    "FileEntry",
    "Identity",
    "LfsPointer",
    "LocalSource",
    "MemorySource",
    "Source",
    "Tally",
    "VirtualFile",
    "lfs_pointer",
    "open_source",
]


def open_source(reference: Reference, *, tally: Tally, deadline: float = 30.0, offline: bool = False) -> Source:
    """The source a reference names. Nothing is read yet, and nothing raised.

    Args:
        reference: what the user asked for.
        tally: counts what reading costs.
        deadline: how many seconds all requests to one repository may take together.
        offline: use local caches only.
    """
    if reference.kind == "local":
        return LocalSource(reference.name, tally)
    from drafter_lint.sources.hub import HubSource  # noqa: PLC0415 - a local check never pays for a network stack

    return HubSource(reference, tally=tally, deadline=deadline, offline=offline)
