"""A checkpoint on the Hugging Face Hub: one listing, then exact byte ranges of one commit.

The client's own session does the talking, so that its proxies, certificates and user's settings hold; its cache is
read first, then what this tool kept itself. ``build_hf_headers`` is not used: inside some terminals it asks the Hub a
question of its own (huggingface_hub 2.4, utils/_detect_agent.py), which would be a request nobody counted.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast
from urllib.parse import quote, urljoin

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources.base import FileEntry, Identity, Tally
from drafter_lint.sources.budget import Budget
from drafter_lint.sources.hub_cache import HubCache, Listing
from drafter_lint.sources.kept import Kept, parts_of
from drafter_lint.sources.ranges import is_inside, read_span, span_length
from drafter_lint.sources.wire import Client, Wire, WireError, origin

_COMMIT = re.compile(r"^[0-9a-f]{40}$")
#: The listing of a repository of 10,000 files has about 3 MB.
_MAX_LISTING = 16 * 1024 * 1024
_MAX_PAGES = 20
_CHANGED = "lastModified"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=T)")
_NEXT = re.compile(r'<([^<>]+)>; *rel="next"')
_BAD_TOKEN = "Invalid credentials in Authorization header"  # noqa: S105 - what the Hub says of one


@dataclass(frozen=True, slots=True)
class _Resolved:
    identity: Identity
    files: Mapping[str, FileEntry]
    complete: bool
    public: bool


class HubSource:
    """A repository of the Hub at one commit, or a folder of it.

    Nothing is asked before it is needed. ``read`` may be called from several threads.
    """

    def __init__(self, reference: Reference, *, tally: Tally, deadline: float = 30.0, offline: bool = False) -> None:
        self._reference = reference
        self._tally = tally
        self._offline = offline or _offline_by_environment()
        self._endpoint = (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")
        self._cache = HubCache(reference.name)
        self._kept = Kept(self._endpoint, reference.name)
        self._budget = Budget(deadline)
        self._prefix = f"{reference.subfolder.strip('/')}/" if reference.subfolder.strip("/") else ""
        self._lock, self._connecting = threading.Lock(), threading.Lock()
        self._outcome: _Resolved | Unavailable | None = None
        self._wire: Wire | None = None
        self._places: dict[str, str] = {}

    @property
    def identity(self) -> Identity:
        """The repository and the commit its revision means now; the first look costs a request."""
        return self._resolved.identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """Every file of the commit. Offline, and without the client's own listing, only those that are cached."""
        return self._resolved.files

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Exactly ``length`` bytes from ``start``, or to the end."""
        resolved = self._resolved
        what = f"{self._reference.name}: {path}"
        commit, full = resolved.identity.commit or "", self._prefix + path
        entry = resolved.files.get(path)
        if entry is None:
            if not resolved.complete and is_inside(path) and not self._cache.known_absent(commit, full):
                raise self._not_cached(what, full)
            raise Unavailable(Trouble.MISSING, what, f"is not in the repository at {commit[:7]}")
        wanted = span_length(what, size=entry.size, start=start, length=length)
        cached = self._cache.file(commit, full)
        if cached is not None and cached.size == entry.size:
            data = read_span(cached.path, what=what, start=start, length=wanted)
            self._tally.add(size=len(data), cached=True)
            return data
        # What a commit names by its content is the same at every other commit of the repository.
        content = f"{entry.content_id or f'{commit}/{full}'} {entry.size}"
        kept = self._kept.span(content, start, wanted) if wanted else None
        if kept is not None:
            self._tally.add(size=wanted, cached=True)
            return kept
        if self._offline:
            raise self._not_cached(what, full)
        if not wanted:
            return b""
        try:
            data = self._fetch(full, start=start, length=wanted, size=entry.size)
        except WireError as error:
            raise self._unavailable(error, what, file=True) from None
        self._kept.keep_span(content, start, data, public=resolved.public, token=self._talk().token)
        return data

    def _fetch(self, path: str, *, start: int, length: int, size: int) -> bytes:
        whole = start == 0 and length == size
        place = self._places.get(path)
        if place is not None:  # where the Hub redirected to last time: spares one request per range
            try:
                return self._talk().get(place, start=start, length=length, whole=whole, size=size).body
            except WireError as error:
                if error.status is None:
                    raise
                self._places.pop(path, None)  # a signed address expires
        commit = self._resolved.identity.commit or ""
        url = f"{self._endpoint}/{self._reference.name}/resolve/{commit}/{quote(path)}"
        got = self._talk().get(url, start=start, length=length, whole=whole, size=size)
        if got.url != url:
            self._places[path] = got.url
        return got.body

    @property
    def _resolved(self) -> _Resolved:
        with self._lock:
            if self._outcome is None:
                try:
                    self._outcome = self._resolve()
                except Unavailable as failure:
                    self._outcome = failure
            if isinstance(self._outcome, Unavailable):
                kept = self._outcome
                raise Unavailable(kept.trouble, kept.what, kept.detail, hint=kept.hint)
            return self._outcome

    def _resolve(self) -> _Resolved:
        reference = self._reference
        asked = reference.revision or "main"
        if self._offline:
            known = [found for found in (self._cache.commit(asked), self._kept.commit(asked)) if found]
            commit = max(known, key=lambda found: found[1])[0] if known else asked
            remembered = self._remembered(commit)
            if remembered is None:
                raise self._not_cached(reference.name, "")
            return remembered
        if _COMMIT.match(asked) and (remembered := self._remembered(asked)) and remembered.complete:
            return remembered
        try:
            commit, listing, public = self._ask()
        except WireError as error:
            raise self._unavailable(error, reference.name, file=False) from None
        token = self._talk().token
        self._kept.keep_listing(commit, listing, public=public, token=token)
        if commit != asked:
            self._kept.keep_commit(asked, commit, when=time.time(), public=public, token=token)
        return self._at(commit, listing, public=public)

    def _remembered(self, commit: str) -> _Resolved | None:
        """A commit as far as caches know it: a complete listing rather than the files that happen to be there."""
        if not is_inside(commit):
            return None
        kept = self._kept.listing(commit)
        listing = self._cache.tree(commit) or (kept.listing if kept else self._cache.listing(commit))
        return self._at(commit, listing, public=kept.public if kept else False) if listing else None

    def _at(self, commit: str, listing: Listing, *, public: bool) -> _Resolved:
        asked = self._reference.revision or "main"
        identity = Identity(
            name=self._reference.name,
            commit=commit,
            revision=None if asked == commit else asked,
            created=listing.created,
            changed=listing.changed,
        )
        cut = len(self._prefix)
        files = {path[cut:]: entry for path, entry in listing.files.items() if path.startswith(self._prefix)}
        if not files and self._prefix:
            if not listing.complete:
                raise self._not_cached(self._reference.name, self._prefix)
            detail = f"has no folder {self._prefix.rstrip('/')!r} at {commit[:7]}"
            raise Unavailable(Trouble.NOT_FOUND, self._reference.name, detail)
        return _Resolved(identity, MappingProxyType(files), listing.complete, public)

    def _ask(self) -> tuple[str, Listing, bool]:
        """Commit, listing with days, and whether everybody may read it, in the request ``HfApi.model_info`` makes."""
        base = f"{self._endpoint}/api/models/{self._reference.name}"
        revision = self._reference.revision
        url = f"{base}/revision/{quote(revision, safe='')}" if revision else base
        info, _ = self._page(f"{url}?blobs=true")
        commit = info.get("sha") if isinstance(info, dict) else None
        siblings = info.get("siblings") if isinstance(info, dict) else None
        if not isinstance(commit, str) or not _COMMIT.match(commit) or not isinstance(siblings, list):
            raise WireError("the answer names no commit and no files; is this a Hub?", host="")
        files = dict(_entries(siblings, name="rfilename", git="blobId", lfs="sha256"))
        if len(files) < len(siblings):
            # Mirrors that predate blobs=true leave the sizes out; the tree has them, page by page.
            files |= self._tree(f"{base}/tree/{commit}?recursive=true&limit=1000")
        created, changed = (_day(info.get(key)) if isinstance(info, dict) else None for key in ("createdAt", _CHANGED))
        public = isinstance(info, dict) and info.get("private") is False and info.get("gated") is False
        return commit, Listing(files, complete=True, created=created, changed=changed), public

    def _tree(self, url: str) -> dict[str, FileEntry]:
        files: dict[str, FileEntry] = {}
        for _ in range(_MAX_PAGES):
            page, link = self._page(url)
            files |= dict(_entries(page if isinstance(page, list) else [], name="path", git="oid", lfs="oid"))
            following = _NEXT.search(link)
            if following is None:
                break
            try:
                origin(url := urljoin(url, following.group(1)))
            except ValueError:
                raise WireError("the listing goes on at something that is no address", host="") from None
        return files

    def _page(self, url: str) -> tuple[object, str]:
        got = self._talk().get(url, whole=True, limit=_MAX_LISTING)
        try:
            return json.loads(got.body), got.link
        except (ValueError, RecursionError):
            raise WireError("the answer is no JSON; a proxy or a login page may have answered", host="") from None

    def _talk(self) -> Wire:
        with self._connecting:
            if self._wire is None:
                self._wire = self._connect()
            return self._wire

    def _connect(self) -> Wire:
        # Imported here: a check that the cache can answer costs no network stack (0.15 s).
        from huggingface_hub import __version__, constants, get_session, get_token  # noqa: PLC0415
        from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

        try:
            origin(self._endpoint)
        except ValueError:
            raise WireError("HF_ENDPOINT is no http(s) address", host="") from None
        # The one name that leads to the session's own errors both in httpx (client 1.x) and httpx2 (client 2.x).
        base = HfHubHTTPError.__bases__[0]
        return Wire(
            cast("Client", get_session()),
            error=cast("type[Exception]", base),
            home=self._endpoint,
            headers={"user-agent": f"drafter-lint; hf_hub/{__version__}"},
            token=None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token(),
            budget=self._budget,
            tally=self._tally,
        )

    def _not_cached(self, what: str, path: str) -> Unavailable:
        words = ["hf", "download", self._reference.name]
        words += ["--include", f"{path}*"] if path.endswith("/") else [path or "config.json"]
        words += ["--revision", self._reference.revision] if self._reference.revision else []
        detail = "is in no local cache, and offline was asked for"
        return Unavailable(Trouble.OFFLINE, what, detail, hint=f"run it once online, or fetch it: {shlex.join(words)}")

    def _unavailable(self, error: WireError, what: str, *, file: bool) -> Unavailable:
        name, status, code = self._reference.name, error.status, error.code
        parts = parts_of(self._endpoint)
        page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{name}"
        elsewhere = error.host not in {"", parts.hostname}
        if code == "GatedRepo":
            hint = f"accept the terms at {page} and set HF_TOKEN to a token of that account"
            return Unavailable(Trouble.GATED, what, "exists, but its terms have not been accepted", hint=hint)
        if code == "RevisionNotFound":
            detail = f"has no revision {self._reference.revision or 'main'!r}"
            hint = f"see the branches and commits at {page}/tree/main"
            return Unavailable(Trouble.NOT_FOUND, what, detail, hint=hint)
        if status == 404 and code != "RepoNotFound" and file:
            return Unavailable(Trouble.MISSING, what, "is listed, but the Hub does not have it")
        if status == 404:
            detail = "the Hub has no such repository, or not for this token"
            return Unavailable(Trouble.NOT_FOUND, what, detail, hint="check the spelling of owner/name")
        if status == 401 and error.note == _BAD_TOKEN:
            hint = "renew the token in HF_TOKEN, or log in again with: hf auth login"
            return Unavailable(Trouble.DENIED, what, "the Hub answered 401: the token is not valid", hint=hint)
        if status == 401 and not elsewhere:
            detail = "the Hub answered 401: the repository is private, or does not exist"
            hint = "check the spelling of owner/name, or set HF_TOKEN to a token that may read it"
            return Unavailable(Trouble.DENIED, what, detail, hint=hint)
        if status == 403 and not elsewhere:
            hint = f"look at {page} in a browser; the token in HF_TOKEN may not read it"
            return Unavailable(Trouble.DENIED, what, "the Hub answered 403: access is refused", hint=hint)
        if status == 416:
            return Unavailable(Trouble.MALFORMED, what, "is shorter than the Hub's listing says")
        hint = "try again, raise --timeout, or work from the local cache with --offline"
        return Unavailable(Trouble.UNREACHABLE, what, error.detail, hint=hint)


def _day(stamp: object) -> str | None:
    """The day of a time stamp such as ``2026-01-27T05:11:30.000Z``."""
    found = _DAY.match(stamp) if isinstance(stamp, str) else None
    return found[0] if found else None


def _entries(items: list[object], *, name: str, git: str, lfs: str) -> Iterator[tuple[str, FileEntry]]:
    """The files of a listing that have a size and a path inside the repository."""
    for item in items:
        if not isinstance(item, dict) or item.get("type", "file") != "file":
            continue
        path, size, blob, large = item.get(name), item.get("size"), item.get(git), item.get("lfs")
        content = large.get(lfs, blob) if isinstance(large, dict) else blob
        if isinstance(path, str) and is_inside(path) and isinstance(size, int) and size >= 0:
            yield path, FileEntry(size, content if isinstance(content, str) else None)


def _offline_by_environment() -> bool:
    """As huggingface_hub/constants.py reads it, but now and not when the client was imported."""
    value = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return value.upper() in {"1", "ON", "YES", "TRUE"}
