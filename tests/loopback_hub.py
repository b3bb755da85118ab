"""A Hub on this machine: enough of its addresses for the real client, with latency and faults on demand.

    with LoopbackHub({"owner/name": {"commit": "c" * 40, "files": {"config.json": b"{}"}}}) as hub:
        hub.fault("owner/name", "config", "503", times=1)
        ...
        assert len(hub.requests) == 3

While it is open, the environment points to it and to an empty cache. Large files are answered with a redirect to a
second server, as the Hub redirects to its storage.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal, NotRequired, Self, TypedDict, cast
from urllib.parse import parse_qs, quote, unquote, urlsplit

from drafter_lint.sources import VirtualFile

Content = bytes | VirtualFile
Stage = Literal["info", "config", "header", "values", "tokenizer.json", "README.md", "model.safetensors.index.json"]
Kind = Literal[
    "401",
    "bad-token",
    "403",
    "404",
    "no-repo",
    "no-revision",
    "gated",
    "500",
    "503",
    "429",
    "no-connection",
    "no-tls",
    "redirect-loop",
    "reset",
    "stall",
    "stalled-body",
    "trickle",
    "trickled-head",
    "ignored-range",
    "truncated",
    "another-size",
    "bad-json",
]

TOKEN = "hf_aTokenOfTheLoopbackHub"
_LARGE = (".safetensors", ".bin", ".pt", ".pth", ".gguf")
_LOGIN = b"<!DOCTYPE html><html><body>log in to go on</body></html>"
_SECONDS_PER_BYTE = 0.05
_CHUNK = 1 << 16
_ASTRAY = frozenset({"no-connection", "no-tls", "redirect-loop"})
_INSTEAD = _ASTRAY | {"bad-json", "reset", "stall", "trickled-head"}
_PARTLY = frozenset({"stalled-body", "trickle", "truncated"})
# Status, X-Error-Code and X-Error-Message as the Hub sends them.
_STATUS: Mapping[str, tuple[int, str, str]] = {
    "401": (401, "", "Invalid username or password."),
    "bad-token": (401, "", "Invalid credentials in Authorization header"),
    "403": (403, "", "Forbidden"),
    "404": (404, "EntryNotFound", "Entry not found"),
    "no-repo": (404, "RepoNotFound", "Repository not found"),
    "no-revision": (404, "RevisionNotFound", "Invalid rev id"),
    "gated": (403, "GatedRepo", "Access to this model is restricted"),
    "500": (500, "", ""),
    "503": (503, "", ""),
    "429": (429, "", ""),
}


class Repo(TypedDict):
    """A repository: its main branch, other branches or tags by name, and time stamps as the listing has them."""

    commit: str
    files: Mapping[str, Content]
    revisions: NotRequired[Mapping[str, Repo]]
    dates: NotRequired[Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A request that arrived; ``server`` is "hub" or "storage", header names are in lower case."""

    server: str
    method: str
    path: str
    range: str | None
    headers: Mapping[str, str]
    connection: int


@dataclass(slots=True)
class _Fault:
    kind: Kind
    times: int | None
    retry_after: str | None


@dataclass(slots=True)
class LoopbackHub:
    """The two servers, as a context manager.

    Attributes:
        repos: what is served.
        latency: seconds every request waits before it is answered.
        sizes: whether ``?blobs=true`` is understood, as it is on the Hub and not on every mirror.
        storage: whether large files are redirected to the second server.
        page: how many entries the tree gives at once.
        token: what ``HF_TOKEN`` is set to.
        private: repositories that are said to be private.
        gated: repositories that are said to have terms to accept.
        cache: the client's cache.
        kept: this tool's.
        keeping: whether this tool keeps what it reads.
    """

    repos: Mapping[str, Repo]
    latency: float = 0.0
    sizes: bool = True
    storage: bool = True
    page: int = 1000
    token: str = TOKEN
    private: frozenset[str] = frozenset()
    gated: frozenset[str] = frozenset()
    keeping: bool = True
    requests: list[Seen] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    errors: list[BaseException] = field(default_factory=list)
    cache: str = ""
    kept: str = ""
    _faults: dict[tuple[str, str], _Fault] = field(default_factory=dict)
    _servers: list[_Server] = field(default_factory=list)
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _environment: dict[str, str | None] = field(default_factory=dict)
    _deaf: socket.socket = field(default_factory=socket.socket)

    def __enter__(self) -> Self:
        for name in ("hub", "storage"):
            server = _Server(name, self)
            self._servers.append(server)
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self._deaf.bind(("127.0.0.1", 0))  # and not listening: nobody answers, and nobody else can
        self._folder = tempfile.TemporaryDirectory(prefix="hub-cache-")
        self.cache, self.kept = f"{self._folder.name}/hub", f"{self._folder.name}/drafter-lint"
        _close_client()
        self._set("HF_ENDPOINT", self.endpoint)
        self._set("HF_HUB_CACHE", self.cache)
        self._set("DRAFTER_LINT_CACHE", self.kept if self.keeping else "")
        self._set("HF_TOKEN", self.token)
        for name in ("NO_PROXY", "no_proxy"):
            self._set(name, "127.0.0.1,localhost")
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
            self._set(name, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        for name, value in self._environment.items():
            _put(name, value)
        _close_client()
        for server in self._servers:
            server.shutdown()
            server.server_close()
        self._deaf.close()
        if self._folder is not None:
            self._folder.cleanup()
        if error is None and self.errors:
            raise self.errors[0]

    def _set(self, name: str, value: str | None) -> None:
        self._environment[name] = os.environ.get(name)
        _put(name, value)

    @property
    def endpoint(self) -> str:
        """What ``HF_ENDPOINT`` is set to."""
        return f"http://127.0.0.1:{self._servers[0].server_port}"

    @property
    def storage_endpoint(self) -> str:
        """The second server, another host by name: the client tells its storage from the Hub by that."""
        return f"http://localhost:{self._servers[1].server_port}"

    def fault(
        self, repo: str, stage: Stage, kind: Kind, *, times: int | None = None, retry_after: str | None = None
    ) -> None:
        """Break a stage, the first ``times`` times.

        "info" is the listing, "config" every small file, "header" the start of a large file and "values" what lies
        further into one; a name is that file alone.

        ``retry_after`` is sent as the header of that name; one that begins with a quotation mark as ``RateLimit``.
        """
        self._faults[repo, stage] = _Fault(kind, times, retry_after)

    def take_fault(self, repo: str, stage: str) -> _Fault | None:
        """The fault to show now."""
        fault = self._faults.get((repo, stage))
        if fault is None or fault.times == 0:
            return None
        if fault.times is not None:
            fault.times -= 1
        return fault

    def astray(self, kind: Kind, path: str) -> str:
        """Where a redirect leads that leads nowhere."""
        if kind == "redirect-loop":
            return path
        if kind == "no-tls":  # a server is there, and does not speak it
            return self.endpoint.replace("http:", "https:") + path
        return f"http://127.0.0.1:{self._deaf.getsockname()[1]}{path}"

    def find(self, repo: str, revision: str) -> Repo | None:
        """What a branch, tag or commit holds."""
        found = self.repos.get(repo)
        if found is None or revision in {"main", found["commit"]}:
            return found
        others = found.get("revisions", {})
        return others.get(revision) or next((it for it in others.values() if it["commit"] == revision), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, name: str, hub: LoopbackHub) -> None:
        self.name, self.hub = name, hub
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is expected; everything else fails the test at the end."""
        del request, client_address
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.hub.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        hub = self.server.hub
        headers = {name.lower(): value for name, value in self.headers.items()}
        hub.requests.append(
            Seen(
                server=self.server.name,
                method=self.command,
                path=self.path,
                range=headers.get("range"),
                headers=headers,
                connection=self.client_address[1],
            )
        )
        if hub.latency:
            time.sleep(hub.latency)
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        words = [unquote(word) for word in parts.path.split("/")[1:]]
        if self.server.name == "storage":
            self._stored(words)
        elif words[:2] == ["api", "models"] and len(words) >= 4:
            self._listed("/".join(words[2:4]), words[4:], query)
        elif len(words) >= 5 and words[2] == "resolve":
            self._resolved("/".join(words[:2]), words[3], "/".join(words[4:]))
        else:
            self._refuse("404")

    do_HEAD = do_GET  # noqa: N815 - the base class looks for this name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args

    def _listed(self, repo: str, rest: list[str], query: Mapping[str, list[str]]) -> None:
        fault = self.server.hub.take_fault(repo, "info")
        if fault is not None and fault.kind in _STATUS:
            return self._refuse(fault.kind, fault.retry_after)
        if repo not in self.server.hub.repos:
            return self._refuse("401" if "authorization" not in self.headers else "no-repo")
        if rest[:1] == ["safetensors-metadata"]:
            return self._send(_all_headers(self.server.hub.repos[repo], "/".join(rest[1:])), fault=fault)
        found = self.server.hub.find(repo, rest[1] if len(rest) > 1 else "main")
        if found is None:
            return self._refuse("no-revision")
        if rest[:1] == ["tree"]:
            return self._tree(found, "/".join(rest[2:]), query)
        names: dict[str, dict[str, object]] = {path: {"rfilename": path} for path in found["files"]}
        if "blobs" in query and self.server.hub.sizes:
            for path, content in found["files"].items():
                names[path] |= _metadata(path, content, git="blobId", lfs="sha256")
        open_to_all = {
            "private": repo in self.server.hub.private,
            "gated": "auto" if repo in self.server.hub.gated else False,
        }
        listing = {"id": repo, **open_to_all, "sha": found["commit"], "siblings": list(names.values())}
        body = json.dumps(listing | dict(found.get("dates", {}))).encode()
        return self._send(body, fault=fault)

    def _tree(self, found: Repo, folder: str, query: Mapping[str, list[str]]) -> None:
        files = sorted(found["files"].items())
        entries = [
            {"type": "file", "path": path, **_metadata(path, content, git="oid", lfs="oid")}
            for path, content in files
            if path.startswith(folder)
        ]
        page = self.server.hub.page
        first = int(query.get("cursor", ["0"])[0])
        extra = {}
        if first + page < len(entries):
            bare = self.path.partition("?")[0]
            extra["Link"] = f'<{self.server.hub.endpoint}{bare}?recursive=true&cursor={first + page}>; rel="next"'
        self._send(json.dumps(entries[first : first + page]).encode(), extra=extra)

    def _resolved(self, repo: str, revision: str, path: str) -> None:
        hub = self.server.hub
        large = path.endswith(_LARGE)
        fault = hub.take_fault(repo, path) or hub.take_fault(repo, self._part() if large else "config")
        if fault is not None and fault.kind in _STATUS:
            return self._refuse(fault.kind, fault.retry_after)
        found = hub.find(repo, revision)
        if found is None:
            return self._refuse("no-repo" if repo not in hub.repos else "no-revision")
        content = found["files"].get(path)
        if content is None:
            return self._refuse("404", commit=found["commit"])
        extra = {"X-Repo-Commit": found["commit"], "ETag": f'"{_content_id(path, content)}"'}
        if not (large and hub.storage):
            return self._send(content, fault=fault, extra=extra)
        extra |= {"X-Linked-Size": str(_size(content)), "X-Linked-Etag": extra["ETag"]}
        signed = "&".join(["Signature=secret", *([f"Fault={fault.kind}"] if fault else [])])
        extra["Location"] = f"{hub.storage_endpoint}/{repo}/{found['commit']}/{quote(path)}?{signed}"
        return self._answer(302, b"Found. Redirecting", extra)

    def _stored(self, words: list[str]) -> None:
        repo, commit, path = "/".join(words[:2]), words[2], "/".join(words[3:])
        found = self.server.hub.find(repo, commit)
        query = parse_qs(urlsplit(self.path).query)
        if found is None or path not in found["files"] or query.get("Signature") != ["secret"]:
            return self._answer(403, b"AccessDenied", {})
        kinds = query.get("Fault")
        fault = _Fault(cast("Kind", kinds[0]), None, None) if kinds else self.server.hub.take_fault(repo, self._part())
        if fault is not None and fault.kind in _STATUS:
            return self._refuse(fault.kind, fault.retry_after)
        return self._send(found["files"][path], fault=fault)

    def _part(self) -> Stage:
        """Which part of a large file is asked for."""
        asked = self.headers.get("Range") or "bytes=0-"
        return "header" if asked.startswith("bytes=0-") else "values"

    def _refuse(self, kind: str, retry_after: str | None = None, *, commit: str = "") -> None:
        status, code, message = _STATUS[kind]
        extra = {"X-Error-Code": code, "X-Error-Message": message, "Retry-After": retry_after or ""}
        if retry_after and retry_after.startswith('"'):
            extra |= {"RateLimit": retry_after, "Retry-After": ""}
        extra["X-Repo-Commit"] = commit
        self._answer(status, b'{"error": "refused"}', {name: value for name, value in extra.items() if value})

    def _answer(self, status: int, body: bytes, extra: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**extra, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send(self, content: Content, *, fault: _Fault | None = None, extra: Mapping[str, str] | None = None) -> None:
        """A body, or the range of it that was asked for, as far as the fault lets it through."""
        if fault is not None and fault.kind in _INSTEAD:
            return self._instead(fault.kind)
        if _is(fault, "another-size"):
            content = VirtualFile(_size(content) - 1, ((0, _span(content, 0, min(_size(content) - 1, 4096))),))
        size = _size(content)
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        ranged = asked is not None and not _is(fault, "ignored-range")
        first = int(asked[1]) if asked and ranged else 0
        last = min(int(asked[2] or size - 1), size - 1) if asked and ranged else size - 1
        if ranged and first > last:
            return self._answer(416, b"", {"Content-Range": f"bytes */{size}"})
        self.send_response(206 if ranged else 200)
        headers = {**(extra or {}), "Content-Length": str(last + 1 - first), "Accept-Ranges": "bytes"}
        if ranged:
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return None
        if fault is not None and fault.kind in _PARTLY:
            return self._partly(fault.kind, _span(content, first, last + 1 - first))
        for piece in _pieces(content, first, last + 1):
            self.wfile.write(piece)
        return None

    def _partly(self, kind: Kind, body: bytes) -> None:
        """Faults that come after the headers."""
        if kind == "trickle":
            return self._trickle(body)
        self.wfile.write(body[: len(body) // 2])
        if kind == "stalled-body":
            self.wfile.flush()
            self.server.hub.closing.wait(60)
        self.close_connection = True
        return None

    def _trickle(self, data: bytes) -> None:
        for index in range(len(data)):
            self.wfile.write(data[index : index + 1])
            self.wfile.flush()
            if self.server.hub.closing.wait(_SECONDS_PER_BYTE):
                break
        self.close_connection = True

    def _instead(self, kind: Kind) -> None:
        """Faults that come in the place of the answer."""
        if kind in _ASTRAY:
            return self._answer(302, b"", {"Location": self.server.hub.astray(kind, self.path)})
        if kind == "bad-json":
            return self._answer(200, _LOGIN, {"Content-Type": "text/html"})
        if kind == "reset":
            # Lingering for zero seconds makes closing send a reset, not an end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            raise ConnectionResetError
        if kind == "stall":
            self.server.hub.closing.wait(60)
            self.close_connection = True
            return None
        return self._trickle(b"HTTP/1.1 200 OK\r\nX-Padding: " + b"a" * 10_000)


def _is(fault: _Fault | None, kind: Kind) -> bool:
    return fault is not None and fault.kind == kind


def _all_headers(repo: Repo, index: str) -> bytes:
    """What the Hub answers in one piece: the index without its map, and the header of every shard."""
    files = repo["files"]
    read = json.loads(_span(files[index], 0, _size(files[index])))
    headers = {}
    for shard in sorted(set(read["weight_map"].values())):
        length = int.from_bytes(_span(files[shard], 0, 8), "little")
        headers[shard] = json.loads(_span(files[shard], 8, length))
    return json.dumps({"index": {"metadata": read["metadata"]}, "headers": headers}).encode()


def _size(content: Content) -> int:
    return content.size if isinstance(content, VirtualFile) else len(content)


def _span(content: Content, start: int, length: int) -> bytes:
    return content.span(start, length) if isinstance(content, VirtualFile) else content[start : start + length]


def _pieces(content: Content, start: int, stop: int) -> Iterator[bytes]:
    for first in range(start, stop, _CHUNK):
        yield _span(content, first, min(_CHUNK, stop - first))


def _content_id(path: str, content: Content) -> str:
    if isinstance(content, VirtualFile):  # no one hashes a gigabyte of zeros; any stable id will do
        return hashlib.sha256(repr(content).encode()).hexdigest()
    if path.endswith(_LARGE):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _metadata(path: str, content: Content, *, git: str, lfs: str) -> dict[str, object]:
    size, content_id = _size(content), _content_id(path, content)
    if not path.endswith(_LARGE):
        return {"size": size, git: content_id}
    pointer = hashlib.sha1(content_id.encode()).hexdigest()
    return {"size": size, git: pointer, "lfs": {lfs: content_id, "size": size, "pointerSize": 134}}


def _put(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _close_client() -> None:
    """The client keeps one session for the process; a new one sees the environment of now."""
    if "huggingface_hub.utils._http" in sys.modules:
        from huggingface_hub import close_session  # noqa: PLC0415 - a benchmark may never load the client

        close_session()
