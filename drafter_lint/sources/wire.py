"""One exchange with a server: a byte range of an address, within a budget of seconds, with few retries.

The words of a failure never hold a header, a query string or the text of a library's exception about a header: any
of them could carry a token or a signature.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from drafter_lint.sources.base import Tally
from drafter_lint.sources.budget import Budget

#: Attempts after the first, and the pauses before them when the server names none.
PAUSES = (0.2, 0.6)
MAX_REDIRECTS = 5
#: A server that ignores a range sends the file from its start; this much of it is read to get at what was asked for.
MAX_SKIP = 4 * 1024 * 1024
CONNECT_SECONDS = 5.0
#: How long a server may say nothing before the attempt is given up.
SILENCE_SECONDS = 10.0

_HOST = re.compile(r"^[A-Za-z0-9._:-]+$")
_TRUNCATED = "RemoteProtocolError"
_WORDS = {
    "ConnectTimeout": "no connection in time",
    "ReadTimeout": "the server fell silent",
    "WriteTimeout": "the server stopped listening",
    "PoolTimeout": "no connection was free",
    "ReadError": "the connection was reset",
    "WriteError": "the connection was reset",
    "RemoteProtocolError": "the server broke off",
    "ProxyError": "the proxy refused",
    "LocalProtocolError": "the request cannot be sent; HF_TOKEN or HF_ENDPOINT holds a character that is not allowed",
    "UnicodeEncodeError": "the request cannot be sent; HF_TOKEN or HF_ENDPOINT holds a character that is not allowed",
    "OfflineModeIsEnabled": "the Hub client is set to offline",
}
_FINAL = {"LocalProtocolError", "UnicodeEncodeError", "OfflineModeIsEnabled", "UnsupportedProtocol", "DecodingError"}


class Response(Protocol):
    """The part of httpx's response that is used; the same in httpx and httpx2."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def num_bytes_downloaded(self) -> int: ...
    def iter_bytes(self) -> Iterator[bytes]: ...


class Client(Protocol):
    """The part of httpx's client that is used."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        follow_redirects: bool,
        timeout: tuple[float, float, float, float],
    ) -> AbstractContextManager[Response]: ...


class WireError(Exception):
    """An exchange that gave no bytes.

    Attributes:
        status: the status the server settled on, None if it never did.
        code: the Hub's ``X-Error-Code``, or "".
        note: the Hub's ``X-Error-Message``, or ""; compared with known texts, never shown.
        host: who answered, or was asked.
        detail: what was seen, in words.
    """

    def __init__(self, detail: str, *, host: str, status: int | None = None, code: str = "", note: str = "") -> None:
        self.status, self.code, self.note, self.host, self.detail = status, code, note, host, detail
        super().__init__(detail)


class _Passing(Exception):
    """Trouble that may pass: worth another attempt, ``once`` or as often as allowed, ``after`` so many seconds."""

    def __init__(self, detail: str, *, after: float | None = None, once: bool = False) -> None:
        self.after, self.once = after, once
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class Got:
    """The bytes asked for, the address that gave them after all redirects, and its ``Link`` header."""

    body: bytes
    url: str
    link: str = ""


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an http(s) address.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    clean = url.isascii() and url.isprintable() and " " not in url and len(url) < 8192
    if not port or not parts.hostname or not _HOST.match(parts.hostname) or not clean:
        raise ValueError("no http(s) address")
    return parts.scheme, parts.hostname.lower(), port


class Wire:
    """Exchanges with one repository. Threads may share it."""

    def __init__(
        self,
        client: Client,
        *,
        error: type[Exception],
        home: str,
        headers: Mapping[str, str],
        token: str | None,
        budget: Budget,
        tally: Tally,
    ) -> None:
        """Prepare to talk.

        Args:
            client: the Hub client's own session.
            error: the base of everything the session raises.
            home: the Hub's address; the token goes there and nowhere else.
            headers: sent with every request.
            token: the user's token, if there is one.
            budget: seconds for everything.
            tally: where requests and bytes are counted.
        """
        self._client, self._error, self._home = client, error, origin(home)
        self._headers, self._token = dict(headers), token
        self._budget, self._tally = budget, tally
        self._answered = 0

    @property
    def token(self) -> str | None:
        """What the Hub is shown, None if it is shown nothing."""
        return self._token

    def get(
        self,
        url: str,
        *,
        start: int = 0,
        length: int | None = None,
        whole: bool = False,
        size: int | None = None,
        limit: int = 0,
    ) -> Got:
        """Get bytes.

        Args:
            url: where.
            start: the first byte.
            length: how many; None for a body of unknown length, of at most ``limit`` bytes.
            whole: ask without a byte range.
            size: bytes of the whole file, where a listing says so.
            limit: the bound when ``length`` is None.

        Raises:
            WireError: refused, or no complete answer within the budget.
        """
        job = _Job(url=url, start=start, length=length, ranged=not whole, size=size, limit=limit)
        host = urlsplit(url).hostname or ""
        box: queue.SimpleQueue[Got | Exception] = queue.SimpleQueue()

        def work() -> None:
            try:
                box.put(self._attempts(job, host))
            except Exception as error:  # noqa: BLE001 - raised again in the thread that asked
                box.put(error)

        # In a thread of its own, because a timeout of the session bounds one wait for the network and not the
        # exchange: it starts anew with every byte of a trickled header, and name resolution has none at all.
        with self._budget:
            threading.Thread(target=work, name=f"get {host}", daemon=True).start()
            try:
                outcome = box.get(timeout=self._budget.left + 0.05)
            except queue.Empty:
                raise self._late(host, "the answer was not complete") from None
        if isinstance(outcome, Exception):
            raise outcome
        self._answered += 1  # a count for a message; threads that overtake each other may lose one
        return outcome

    def _late(self, host: str, seen: str) -> WireError:
        before = f"; {self._answered} before it were answered" if self._answered else ""
        return WireError(f"no complete answer from {host} within {self._budget.seconds:g} s; {seen}{before}", host=host)

    def _attempts(self, job: _Job, host: str) -> Got:
        started = time.monotonic()
        for attempt in range(1, len(PAUSES) + 2):
            if not self._budget.left:
                raise self._late(host, "the time was used up before")
            once = False
            try:
                return self._follow(job)
            except _Passing as passing:
                pause, seen, once = passing.after, str(passing), passing.once
            except (self._error, OSError, UnicodeEncodeError) as error:
                name = type(error).__name__
                pause, seen = None, _WORDS.get(name, f"the exchange failed ({name})")
                if name == "ConnectError":
                    seen = f"no connection ({str(error)[:120]})"
                if name in _FINAL:
                    raise WireError(seen, host=host) from None
            if attempt > len(PAUSES) or (once and attempt > 1):
                tried = f"{_times(attempt)} in {time.monotonic() - started:.1f} s"
                raise WireError(f"no usable answer from {host}: {seen}; {tried}", host=host)
            pause = PAUSES[attempt - 1] if pause is None else pause
            if pause >= self._budget.left:
                raise self._late(host, f"{seen}; {_times(attempt)}")
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _follow(self, job: _Job) -> Got:
        url = job.url
        for _ in range(MAX_REDIRECTS + 1):
            headers = {**self._headers, "accept-encoding": "identity"}
            if job.ranged and job.length is not None:
                headers["range"] = f"bytes={job.start}-{job.start + job.length - 1}"
            if self._token and origin(url) == self._home:
                headers["authorization"] = f"Bearer {self._token}"
            self._tally.add(requests=1)
            left = self._budget.left
            silence = min(left, SILENCE_SECONDS)
            timeout = (min(left, CONNECT_SECONDS), silence, silence, left)
            with self._client.stream("GET", url, headers=headers, follow_redirects=False, timeout=timeout) as response:
                target = response.headers.get("location") if response.status_code in {301, 302, 303, 307, 308} else None
                if target is None:
                    body = self._body(response, job, urlsplit(url).hostname or "")
                    return Got(body, url, response.headers.get("link", ""))
                self._drain(response)
            try:
                origin(url := urljoin(url, target))
            except ValueError:
                raise WireError("redirected to something that is no address", host=self._home[1]) from None
        raise WireError(f"more than {MAX_REDIRECTS} redirects", host=self._home[1])

    def _body(self, response: Response, job: _Job, host: str) -> bytes:
        status, headers = response.status_code, response.headers
        if status not in {200, 206}:
            self._drain(response)
        if status == 429 or status >= 500:
            raise _Passing(f"HTTP {status}", after=_pause(headers))
        if status not in {200, 206}:
            code, note = headers.get("x-error-code", ""), headers.get("x-error-message", "")
            raise WireError(f"{host} answered HTTP {status}", host=host, status=status, code=code, note=note)
        has = _size(headers, status=status)
        if job.size is not None and has not in {None, job.size}:
            # A login page, or a file that changed behind the listing's back: its bytes say nothing about the commit.
            raise _Passing(f"it sent a file of {has} bytes where the listing has {job.size}", once=True)
        skip = 0
        if status == 206:
            if not headers.get("content-range", "").startswith(f"bytes {job.start}-") or not job.ranged:
                raise WireError(f"{host} sent another byte range than asked for", host=host)
        elif job.ranged and job.start:
            skip = job.start
            if skip > MAX_SKIP:
                raise WireError(f"{host}: the server ignored the byte range", host=host)
        return self._collect(response, job, skip)

    def _drain(self, response: Response) -> None:
        """Read a short body nobody wants: a connection left in the middle of one cannot be used again."""
        declared = response.headers.get("content-length", "")
        if re.fullmatch(r"[0-9]{1,5}", declared) and int(declared) <= 16_384:
            for _ in response.iter_bytes():
                if not self._budget.left:
                    break
            self._tally.add(size=response.num_bytes_downloaded)

    def _collect(self, response: Response, job: _Job, skip: int) -> bytes:
        stop = skip + job.length if job.length is not None else job.limit + 1
        data = bytearray()
        # A body of just the right length is read to its end mark, which keeps the connection; a longer one is left
        # unread, which closes the connection, so that the rest is never fetched.
        longer = response.headers.get("content-length") != str(stop)
        try:
            for chunk in response.iter_bytes():
                data += chunk[: stop - len(data)]
                if len(data) >= stop and longer:
                    break
                if not self._budget.left:
                    raise _Passing(f"only {len(data)} of {stop} bytes came")
        except self._error as error:
            if type(error).__name__ != _TRUNCATED:
                raise
            raise _Passing(f"the body broke off after {len(data)} bytes", once=True) from None
        finally:
            self._tally.add(size=response.num_bytes_downloaded)
        if job.length is None and len(data) >= stop:
            raise WireError(f"the answer is larger than {job.limit} bytes", host="")
        if job.length is not None and len(data) < stop:
            raise _Passing(f"the body ended after {len(data)} of {stop} bytes", once=True)
        return bytes(data[skip:])


def _pause(headers: Mapping[str, str]) -> float | None:
    """Seconds the server wants to be left alone: Retry-After in seconds or as a date, or its rate limit's reset.

    The Hub answers 429 with ``RateLimit: "api";r=0;t=55``, after draft-ietf-httpapi-ratelimit-headers.
    """
    after = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,6}(\.\d+)?", after):
        return float(after)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    limited = re.search(r";\s*r=0\s*;\s*t=(\d{1,6})\b", headers.get("ratelimit", ""))
    return float(limited[1]) if limited else None


def _size(headers: Mapping[str, str], *, status: int) -> int | None:
    """How many bytes the file has that an answer is, or is a part of; None if the answer does not say."""
    if headers.get("content-encoding", "identity") != "identity":
        return None
    text = headers.get("content-range", "").rpartition("/")[2] if status == 206 else headers.get("content-length", "")
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _times(attempts: int) -> str:
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    url: str
    start: int
    length: int | None
    ranged: bool
    size: int | None
    limit: int
