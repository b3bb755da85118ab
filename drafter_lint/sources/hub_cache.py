"""The Hub client's own cache of one repository, read without the client and never written.

The layout as huggingface_hub 1.33 and 2.4 write it: ``models--owner--name`` with ``refs/<branch>``,
``snapshots/<commit>/<path>`` linked into ``blobs/<content id>``, ``.no_exist/<commit>/<path>`` for files known to be
absent, and in newer versions ``trees/<commit>.json`` (huggingface_hub/_tree_cache.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from drafter_lint.sources.base import FileEntry
from drafter_lint.sources.ranges import is_inside

_MAX_TREE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Listing:
    """The files known at a commit.

    Attributes:
        complete: True if no others exist there.
        created: the day the repository was made, None if the listing does not say.
        changed: the day of its last commit, None if the listing does not say.
    """

    files: Mapping[str, FileEntry]
    complete: bool
    created: str | None = None
    changed: str | None = None


@dataclass(frozen=True, slots=True)
class CachedFile:
    """Where the content of a file lies, all links resolved, and its size in bytes."""

    path: Path
    size: int


def hub_home() -> Path:
    """The folder of everything the client keeps, from the same variables (huggingface_hub/constants.py)."""
    env = os.environ.get
    home = env("HF_HOME") or f"{env('XDG_CACHE_HOME') or '~/.cache'}/huggingface"
    return Path(os.path.expandvars(home)).expanduser()


def cache_folder() -> Path:
    """The folder of the client's cache, from the same variables."""
    folder = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return Path(os.path.expandvars(folder)).expanduser() if folder else hub_home() / "hub"


class HubCache:
    """What the cache holds of one repository."""

    def __init__(self, repository: str) -> None:
        self._folder = cache_folder() / f"models--{repository.replace('/', '--')}"

    def commit(self, revision: str) -> tuple[str, float] | None:
        """The commit a branch or tag pointed to when it was last fetched, and when that was, as a time stamp.

        A commit is itself if it was fetched.
        """
        if not is_inside(revision):
            return None
        file = self._folder / "refs" / revision
        try:
            named, when = file.read_text("ascii").strip(), file.stat().st_mtime
        except (OSError, ValueError):
            named, when = revision, 0.0
        return (named, when) if is_inside(named) and self.listing(named) else None

    def listing(self, commit: str) -> Listing | None:
        """The client's own listing of the commit if it kept one, else the files it fetched."""
        return self.tree(commit) or self._snapshot(commit)

    def tree(self, commit: str) -> Listing | None:
        """The complete listing a newer client keeps, None if it has none of this commit."""
        file = self._folder / "trees" / f"{commit}.json"
        try:
            if file.stat().st_size > _MAX_TREE:
                return None
            document = json.loads(file.read_bytes())
            entries = document["files"].items() if document["format_version"] == 1 else ()
            files = {
                path: FileEntry(int(entry["size"]), entry.get("lfs_sha256") or entry.get("blob_id"))
                for path, entry in entries
                if is_inside(path)
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return Listing(files, complete=True) if files else None

    def _snapshot(self, commit: str) -> Listing | None:
        root = self._folder / "snapshots" / commit
        files: dict[str, FileEntry] = {}
        for folder, _, names in os.walk(root):
            for name in names:
                path = (Path(folder) / name).relative_to(root).as_posix()
                cached = self.file(commit, path)
                if cached is not None:
                    blob = cached.path.name if cached.path.parent.name == "blobs" else None
                    files[path] = FileEntry(cached.size, blob)
        return Listing(files, complete=False) if files else None

    def file(self, commit: str, path: str) -> CachedFile | None:
        """The cached content of a file; None if it is not cached, or leads out of the repository's folder."""
        if not is_inside(path):
            return None
        try:
            file = (self._folder / "snapshots" / commit / path).resolve()
            inside = file.is_relative_to(self._folder.resolve())
            return CachedFile(file, file.stat().st_size) if inside and file.is_file() else None
        except (OSError, RuntimeError):
            return None

    def known_absent(self, commit: str, path: str) -> bool:
        """True if the client once learned that the commit has no such file."""
        return is_inside(path) and (self._folder / ".no_exist" / commit / path).is_file()
