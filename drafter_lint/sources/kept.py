"""What was read of one repository of a Hub, kept for the next run: byte ranges, listings, where branches pointed.

The client keeps whole files only (``hub_cache``), and a header is never one. Content of a repository that is private or
gated, or of which that is not known, is found only while the token that read it is set: its digest is part of the name
an entry goes by. The token itself is written nowhere.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from drafter_lint.sources.base import FileEntry
from drafter_lint.sources.hub_cache import Listing, hub_home
from drafter_lint.sources.ranges import is_inside
from drafter_lint.sources.store import Store, store

FOLDER_VARIABLE = "DRAFTER_LINT_CACHE"
_LISTING, _COMMIT = "listing", "commit"


@dataclass(frozen=True, slots=True)
class KeptListing:
    """A complete listing; ``public`` if everybody may read the files."""

    listing: Listing
    public: bool


def kept_folder() -> Path | None:
    """``DRAFTER_LINT_CACHE``, else a folder beside the client's cache; None if the variable is set and empty."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named is None:
        return hub_home() / "drafter-lint"
    return Path(os.path.expandvars(named)).expanduser() if named.strip() else None


def kept_store() -> Store | None:
    """The store in :func:`kept_folder`."""
    folder = kept_folder()
    return store(folder) if folder else None


def parts_of(endpoint: str) -> SplitResult:
    """The parts of an address, all empty if it is none: that is told when it is to be talked to."""
    try:
        return urlsplit(endpoint)
    except ValueError:
        return SplitResult("", "", "", "", "")


class Kept:
    """What is kept of one repository; without a folder for it, nothing."""

    def __init__(self, endpoint: str, repository: str) -> None:
        self._store = kept_store()
        parts = parts_of(endpoint)
        self._label = f"{parts.netloc.rpartition('@')[2]}{parts.path} {repository}"
        self._where = (f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}", repository)

    def listing(self, commit: str) -> KeptListing | None:
        """The listing of a commit."""
        kept = self._find(("commit", commit), _LISTING)
        try:
            document = json.loads(kept) if kept else {}
            files = {path: FileEntry(size, content) for path, size, content in document["files"] if is_inside(path)}
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        created, changed = (day if isinstance(day, str) else None for day in map(document.get, ("created", "changed")))
        listing = Listing(files, complete=True, created=created, changed=changed)
        return KeptListing(listing, bool(document["public"]))

    def keep_listing(self, commit: str, listing: Listing, *, public: bool, token: str | None) -> None:
        """Keep the complete listing of a commit; that of a gated repository is public, and its files are not."""
        files = [(path, entry.size, entry.content_id) for path, entry in listing.files.items()]
        document = {"public": public, "files": files, "created": listing.created, "changed": listing.changed}
        content = json.dumps(document, separators=(",", ":")).encode()
        self._keep(("commit", commit), _LISTING, content, token=None if public else token)

    def commit(self, revision: str) -> tuple[str, float] | None:
        """The commit a branch or tag pointed to when it was last asked for, and when that was, as a time stamp."""
        kept = self._find(("revision", revision), _COMMIT)
        try:
            commit, when = json.loads(kept) if kept else (None, 0)
        except (ValueError, TypeError):
            return None
        return (str(commit), float(when)) if commit else None

    def keep_commit(self, revision: str, commit: str, *, when: float, public: bool, token: str | None) -> None:
        """Keep where a branch or tag points to now."""
        content = json.dumps([commit, when]).encode()
        self._keep(("revision", revision), _COMMIT, content, token=None if public else token)

    def span(self, content_id: str, start: int, length: int) -> bytes | None:
        """Bytes of a file, whatever larger range they were read with."""
        if self._store is None:
            return None
        for group in self._groups(("content", content_id)):
            whole = self._store.get(group, _name(start, length), label=self._label)
            if whole is not None:
                return whole
            for name in self._store.names(group):
                first, _, size = name.partition("-")
                if not (first.isdecimal() and size.isdecimal()):
                    continue
                skip = start - int(first)
                if skip >= 0 and skip + length <= int(size):
                    whole = self._store.get(group, name, label=self._label)
                    if whole is not None and len(whole) == int(size):
                        return whole[skip : skip + length]
        return None

    def keep_span(self, content_id: str, start: int, data: bytes, *, public: bool, token: str | None) -> None:
        """Keep bytes of a file."""
        self._keep(("content", content_id), _name(start, len(data)), data, token=None if public else token)

    def _find(self, what: tuple[str, str], name: str) -> bytes | None:
        if self._store is None:
            return None
        found = (self._store.get(group, name, label=self._label) for group in self._groups(what))
        return next((content for content in found if content is not None), None)

    def _keep(self, what: tuple[str, str], name: str, content: bytes, *, token: str | None) -> None:
        if self._store is not None:
            self._store.put(self._group(what, token), name, content, label=self._label)

    def _groups(self, what: tuple[str, str]) -> tuple[str, ...]:
        """Where it may be: what everybody may read, then what the token of now may."""
        token = _token()
        return (self._group(what, None), *((self._group(what, token),) if token else ()))

    def _group(self, what: tuple[str, str], token: str | None) -> str:
        reader = hashlib.sha256(b"drafter-lint " + token.encode("utf-8", "replace")).hexdigest() if token else ""
        return hashlib.sha256(json.dumps([*self._where, *what, reader]).encode()).hexdigest()[:40]


def _name(start: int, length: int) -> str:
    return f"{start}-{length}"


def _token() -> str | None:
    """The user's token, looked up as huggingface_hub/utils/_auth.py does, without loading the client."""
    env = os.environ.get
    if (env("HF_HUB_DISABLE_IMPLICIT_TOKEN") or "").upper() in {"1", "ON", "YES", "TRUE"}:
        return None
    named = env("HF_TOKEN") or env("HUGGING_FACE_HUB_TOKEN")
    if not named:
        try:
            named = Path(env("HF_TOKEN_PATH") or hub_home() / "token").expanduser().read_text("utf-8")
        except (OSError, ValueError):
            return None
    return named.replace("\r", "").replace("\n", "").strip() or None
