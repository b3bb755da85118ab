"""Every fault of a Hub, at every stage, ends in the right kind of trouble, within the deadline, without a secret."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources import Tally, VirtualFile, open_source
from drafter_lint.sources.hub import HubSource
from drafter_lint.sources.wire import origin
from loopback_hub import Kind, LoopbackHub, Stage

COMMIT = "3f9c1ab" + "0" * 33
NAME = "owner/drafter"
FILES: dict[str, bytes | VirtualFile] = {
    "config.json": b'{"model_type": "llama", "architectures": ["LlamaForCausalLMEagle3"]}',
    "model.safetensors": VirtualFile(1 << 28, ((0, b"\x08\0\0\0\0\0\0\0{}      "), (100_000_000, b"far"))),
}
DEADLINE = 1.0
#: Generous: what is asserted is that a deadline holds, not how fast this machine is.
SLACK = 4.0


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))
    with LoopbackHub({NAME: {"commit": COMMIT, "files": FILES}}) as it:
        yield it


def source(name: str = NAME, *, deadline: float = DEADLINE, revision: str | None = None) -> HubSource:
    reference = Reference(spelling=name, kind="hub", name=name, revision=revision)
    opened = open_source(reference, tally=Tally(), deadline=deadline)
    assert isinstance(opened, HubSource)
    return opened


def walk(it: HubSource) -> None:
    """One check's reading: the listing, the config, a header."""
    assert it.files
    it.read("config.json")
    it.read("model.safetensors", 0, 8)


def failure(it: HubSource) -> Unavailable:
    started = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        walk(it)
    assert time.monotonic() - started < DEADLINE + SLACK
    return caught.value


FAULTS: list[tuple[Kind, Trouble]] = [
    ("401", Trouble.DENIED),
    ("bad-token", Trouble.DENIED),
    ("403", Trouble.DENIED),
    ("no-repo", Trouble.NOT_FOUND),
    ("no-revision", Trouble.NOT_FOUND),
    ("gated", Trouble.GATED),
    ("503", Trouble.UNREACHABLE),
    ("429", Trouble.UNREACHABLE),
    ("reset", Trouble.UNREACHABLE),
    ("stall", Trouble.UNREACHABLE),
    ("trickle", Trouble.UNREACHABLE),
    ("trickled-head", Trouble.UNREACHABLE),
    ("truncated", Trouble.UNREACHABLE),
]
READS: dict[Stage, str] = {"info": NAME, "config": f"{NAME}: config.json", "header": f"{NAME}: model.safetensors"}


CASES = [
    pytest.param(stage, kind, trouble, id=f"{stage}-{kind}")
    for stage in READS
    for kind, trouble in FAULTS
    if (stage, kind) != ("header", "trickle")  # eight bytes get through; test_a_header_that_trickles asks for more
]


@pytest.mark.parametrize(("stage", "kind", "trouble"), CASES)
def test_each_fault_at_each_stage(hub: LoopbackHub, stage: Stage, kind: Kind, trouble: Trouble) -> None:
    hub.fault(NAME, stage, kind)
    error = failure(source())
    assert (error.trouble, error.what) == (trouble, READS[stage])
    words = f"{error} {error.detail} {error.hint} {error!r}"
    assert hub.token not in words
    assert "Signature" not in words


@pytest.mark.parametrize(("stage", "trouble"), [("info", Trouble.NOT_FOUND), ("config", Trouble.MISSING)])
def test_404(hub: LoopbackHub, stage: Stage, trouble: Trouble) -> None:
    hub.fault(NAME, stage, "404")
    assert failure(source()).trouble is trouble


def test_a_listing_that_is_no_json(hub: LoopbackHub) -> None:
    hub.fault(NAME, "info", "bad-json")
    error = failure(source())
    assert error.trouble is Trouble.UNREACHABLE
    assert "no JSON" in error.detail


def test_a_header_that_trickles(hub: LoopbackHub) -> None:
    hub.fault(NAME, "header", "trickle")
    started = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        source().read("model.safetensors", 0, 5000)
    assert time.monotonic() - started < DEADLINE + SLACK
    assert caught.value.trouble is Trouble.UNREACHABLE
    assert "within 1 s" in caught.value.detail


@pytest.mark.parametrize("kind", ["503", "429", "reset", "truncated"])
@pytest.mark.parametrize("stage", READS)
def test_trouble_that_passes_is_tried_again(hub: LoopbackHub, stage: Stage, kind: Kind) -> None:
    hub.fault(NAME, stage, kind, times=1)
    walk(source(deadline=20))


def test_three_attempts_and_no_more(hub: LoopbackHub) -> None:
    hub.fault(NAME, "info", "503")
    it = source(deadline=20)
    assert "HTTP 503; 3 attempts" in failure(it).detail
    assert "HTTP 503; 3 attempts" in failure(it).detail  # kept, not asked again
    assert len(hub.requests) == 3


def test_a_truncated_body_is_fetched_twice(hub: LoopbackHub) -> None:
    hub.fault(NAME, "config", "truncated")
    error = failure(source(deadline=20))
    assert "broke off after 34 bytes; 2 attempts" in error.detail
    assert len(hub.requests) == 3


@pytest.mark.parametrize("kind", ["429", "503"])
@pytest.mark.parametrize("header", ["1", "1.0", "date", '"api";r=0;t=1', '"pages";r=3;t=9, "api"; r=0; t=1'])
def test_what_the_server_asks_for_is_waited_for(hub: LoopbackHub, kind: Kind, header: str) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)  # it has whole seconds
    hub.fault(NAME, "info", kind, times=1, retry_after=soon if header == "date" else header)
    started = time.monotonic()
    assert source(deadline=20).files
    assert time.monotonic() - started >= 0.99


@pytest.mark.parametrize(
    "header", ["soon", "-1", "Wed, 99 Nov 2026", "Fri, 01 Jan 1999 00:00:00 GMT", '"api";r=5;t=60']
)
def test_what_makes_no_sense_is_not(hub: LoopbackHub, header: str) -> None:
    hub.fault(NAME, "info", "429", times=1, retry_after=header)
    assert source(deadline=3).files


def test_what_was_reached_before_the_deadline_is_told(hub: LoopbackHub) -> None:
    hub.fault(NAME, "header", "stall")
    assert "2 before it were answered" in failure(source()).detail


def test_retry_after_beyond_the_deadline_is_not(hub: LoopbackHub) -> None:
    hub.fault(NAME, "info", "429", retry_after="120")
    assert "within 1 s; HTTP 429" in failure(source()).detail
    assert len(hub.requests) == 1


def test_a_deadline_that_is_used_up_asks_nothing_more(hub: LoopbackHub) -> None:
    hub.fault(NAME, "config", "stall")
    it = source()
    assert failure(it).trouble is Trouble.UNREACHABLE
    asked = len(hub.requests)
    assert failure(it).trouble is Trouble.UNREACHABLE
    assert len(hub.requests) == asked


def test_time_between_requests_is_not_counted(hub: LoopbackHub) -> None:
    it = source(deadline=0.9)
    assert it.files
    time.sleep(1)
    walk(it)
    assert len(hub.requests) == 4


def test_a_deadline_holds_for_all_threads_together(hub: LoopbackHub) -> None:
    hub.fault(NAME, "config", "stall")
    it = source()
    started = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        errors = list(pool.map(lambda _: failure(it), range(4)))
    assert {error.trouble for error in errors} == {Trouble.UNREACHABLE}
    assert time.monotonic() - started < DEADLINE + SLACK


def test_an_ignored_range_is_cut_out_and_the_rest_left(hub: LoopbackHub) -> None:
    hub.fault(NAME, "values", "ignored-range")
    tally = Tally()
    reference = Reference(spelling=NAME, kind="hub", name=NAME)
    it = open_source(reference, tally=tally, deadline=20)
    assert it.read("model.safetensors", 8, 4) == b"{}  "
    assert it.read("model.safetensors", 1_000_000, 4) == b"\0\0\0\0"
    assert tally.bytes < 2_000_000  # of 256 MiB, twice


def test_an_ignored_range_far_into_a_file_is_given_up(hub: LoopbackHub) -> None:
    hub.fault(NAME, "values", "ignored-range")
    with pytest.raises(Unavailable) as caught:
        source().read("model.safetensors", 100_000_000, 3)
    assert caught.value.trouble is Trouble.UNREACHABLE
    assert "ignored the byte range" in caught.value.detail


def test_a_range_far_into_a_file(hub: LoopbackHub) -> None:
    assert source().read("model.safetensors", 100_000_000, 3) == b"far"
    assert hub.requests[-1].range == "bytes=100000000-100000002"


# What the words say.


def test_a_gated_repository_names_the_page_with_its_terms(hub: LoopbackHub) -> None:
    hub.fault(NAME, "config", "gated")
    it = source()
    assert set(it.files) == set(FILES)  # the listing is open, the files are not
    assert f"{hub.endpoint}/{NAME}" in failure(it).hint


def test_an_unknown_repository_with_and_without_a_token(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub) -> None:
    assert failure(source("owner/absent")).trouble is Trouble.NOT_FOUND
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", "absent")
    monkeypatch.setattr("huggingface_hub.constants.HF_STORED_TOKENS_PATH", "absent")
    error = failure(source("owner/absent"))
    assert error.trouble is Trouble.DENIED
    assert "private, or does not exist" in error.detail
    assert "HF_TOKEN" in error.hint
    assert "authorization" not in hub.requests[-1].headers


def test_an_unknown_revision_is_named(hub: LoopbackHub) -> None:
    error = failure(source(revision="v9"))
    assert error.trouble is Trouble.NOT_FOUND
    assert "'v9'" in error.detail
    assert len(hub.requests) == 1


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub) -> None:
    assert hub.endpoint
    with socket.socket() as taken:  # bound and not listening: nobody answers, and nobody else can
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://user:password@127.0.0.1:{taken.getsockname()[1]}")
        error = failure(source(deadline=20))
    assert error.trouble is Trouble.UNREACHABLE
    assert "no connection" in error.detail
    assert "password" not in f"{error} {error.hint}"


@pytest.mark.parametrize(
    "endpoint", ["ftp://127.0.0.1", "huggingface.co", "http://", "http://[", "http://127.0.0.1:99999"]
)
def test_an_endpoint_that_is_no_address(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub, endpoint: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    error = failure(source())
    assert error.trouble is Trouble.UNREACHABLE
    assert "HF_ENDPOINT" in error.detail
    assert hub.requests == []


def test_a_token_that_cannot_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch, hub: LoopbackHub) -> None:
    token = "hf_t\u00f6ken"
    monkeypatch.setenv("HF_TOKEN", token)
    error = failure(source())
    assert error.trouble is Trouble.UNREACHABLE
    assert "HF_TOKEN" in error.detail
    assert token not in f"{error!r} {error.hint} {error.__cause__!r}"
    assert hub.requests == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://[", "http://a b/", "//x", "http://h\u00f6st/", "http://a\n/"]
)
def test_redirects_lead_to_addresses_only(url: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - urlsplit and we both refuse, each in its words
        origin(url)
