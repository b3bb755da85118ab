"""What is kept between runs: what it saves, who may see it, and that nothing done to it can break a check."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources import Source, Tally, open_source, store
from drafter_lint.sources.store import Store
from hub_pairs import COMMITS, DRAFTER, EVERY_ENGINE, TARGET, Answer, run, small_pair, spawn
from loopback_hub import LoopbackHub

JSON = ("--format", "json")
PAIR = ("check", DRAFTER, "--target", TARGET, *EVERY_ENGINE)
PINNED = (
    "check",
    f"{DRAFTER}@{COMMITS['drafter']}",
    "--target",
    f"{TARGET}@{COMMITS['target']}",
    *EVERY_ENGINE,
)
GROUP = "ab" * 20


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub(small_pair()) as it:
        yield it


def said(answer: Answer) -> list[object]:
    kept = ("verdict", "findings", "not_checked", "checked", "plan", "launch")
    return [{key: check[key] for key in kept} for check in answer.checks]


def source(hub: LoopbackHub, *, offline: bool = False, revision: str | None = None) -> Source:
    assert hub.endpoint
    reference = Reference(spelling=DRAFTER, kind="hub", name=DRAFTER, revision=revision)
    return open_source(reference, tally=Tally(), deadline=10, offline=offline)


def entries(folder: str | Path) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


# What it saves.


def test_a_second_check_of_a_branch_asks_where_it_points_and_no_more(hub: LoopbackHub) -> None:
    cold = run(*PAIR, *JSON)
    first = len(hub.requests)
    warm = run(*PAIR, *JSON)
    assert len(hub.requests) - first == warm.report["io"]["requests"] == 2
    assert all("/api/models/" in seen.path for seen in hub.requests[first:])
    assert said(warm) == said(cold)
    assert cold.report["io"]["cached"] < 5000  # d2t, read with the header before it
    assert 0 < warm.report["io"]["cached"] < warm.report["io"]["bytes"]


def test_a_second_check_of_commits_asks_nothing(hub: LoopbackHub, tmp_path: Path) -> None:
    cold = spawn(tmp_path, (*PINNED, *JSON))
    first = len(hub.requests)
    warm = spawn(tmp_path, (*PINNED, *JSON))
    assert len(hub.requests) == first
    assert said(warm) == said(cold)
    cost = warm.report["io"]
    assert (cost["requests"], cost["cached"]) == (0, cost["bytes"])
    text = spawn(tmp_path, PINNED).out
    assert "0 requests, " in text
    assert " from cache, " in text


def test_offline_answers_from_what_an_earlier_check_read(hub: LoopbackHub) -> None:
    cold = run(*PAIR, *JSON)
    first = len(hub.requests)
    for args in (PAIR, PINNED):
        warm = run(*args, *JSON, "--offline")
        assert said(warm) == said(cold)
        assert warm.code == cold.code
    assert len(hub.requests) == first


def test_offline_names_what_an_earlier_check_did_not_read(hub: LoopbackHub) -> None:
    it = source(hub)
    it.read("config.json")
    it = source(hub, offline=True)
    assert it.identity.commit == COMMITS["drafter"]
    assert it.read("config.json")
    with pytest.raises(Unavailable) as caught:
        it.read("model.safetensors", 0, 8)
    assert caught.value.trouble is Trouble.OFFLINE
    assert "hf download example/drafter model.safetensors" in caught.value.hint
    with pytest.raises(Unavailable) as caught:
        it.read("absent.json")
    assert caught.value.trouble is Trouble.MISSING


def test_a_part_of_what_was_read_is_found(hub: LoopbackHub) -> None:
    whole = source(hub).read("model.safetensors", 0, 4000)
    first = len(hub.requests)
    it = source(hub, revision=COMMITS["drafter"])
    assert it.read("model.safetensors", 100, 50) == whole[100:150]
    assert it.read("model.safetensors", 0, 4000) == whole
    assert len(hub.requests) == first
    it.read("model.safetensors", 3999, 2)
    assert len(hub.requests) > first


def test_a_new_commit_of_the_same_content_costs_its_listing(hub: LoopbackHub) -> None:
    run(*PAIR, *JSON)
    first = len(hub.requests)
    moved = "0c0ffee" + "0" * 33
    files = dict(hub.repos[DRAFTER]["files"]) | {"README.md": b"# new words\n"}
    hub.repos = {**hub.repos, DRAFTER: {"commit": moved, "files": files}}
    warm = run(*PAIR, *JSON)
    assert warm.checks[0]["drafter"]["commit"] == moved
    assert [seen.path for seen in hub.requests[first:] if "/resolve/" in seen.path] == [
        f"/{DRAFTER}/resolve/{moved}/README.md"
    ]


def test_content_that_changed_is_read_anew(hub: LoopbackHub) -> None:
    before = source(hub).read("config.json")
    after = before.replace(b'"hidden_size"', b'"hidden_SIZE"')
    files = {**hub.repos[DRAFTER]["files"], "config.json": after}
    hub.repos = {**hub.repos, DRAFTER: {"commit": "0c0ffee" + "0" * 33, "files": files}}
    assert source(hub).read("config.json") == after != before
    assert source(hub, revision=COMMITS["drafter"]).read("config.json") == before


def test_the_newer_of_two_caches_says_where_a_branch_points_offline(hub: LoopbackHub) -> None:
    from huggingface_hub import hf_hub_download  # noqa: PLC0415

    source(hub).read("config.json")
    moved = "0c0ffee" + "0" * 33
    hub.repos = {**hub.repos, DRAFTER: {"commit": moved, "files": hub.repos[DRAFTER]["files"]}}
    assert source(hub, offline=True).identity.commit == COMMITS["drafter"]
    time.sleep(0.02)
    hf_hub_download(DRAFTER, "config.json", cache_dir=hub.cache, endpoint=hub.endpoint, token=hub.token)
    assert source(hub, offline=True).identity.commit == moved


# Who may see it.


def test_the_token_is_written_nowhere(hub: LoopbackHub) -> None:
    hub.private = frozenset({DRAFTER, TARGET})
    run(*PAIR)
    kept = entries(hub.kept)
    assert len(kept) >= 6
    for path in kept:
        assert hub.token.encode() not in path.read_bytes()
        assert hub.token not in str(path)
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kind", ["private", "gated"])
def test_what_a_token_read_is_found_with_that_token_alone(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    setattr(hub, kind, frozenset({DRAFTER}))
    config = source(hub).read("config.json")
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "token"))
    for token in ("hf_another", ""):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(Unavailable) as caught:
            source(hub, offline=True, revision=COMMITS["drafter"]).read("config.json")
        assert caught.value.trouble is Trouble.OFFLINE
    (tmp_path / "token").write_text(f"{hub.token}\n")
    assert source(hub, offline=True).read("config.json") == config


def test_what_everybody_may_read_is_found_without_a_token(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    config = source(hub).read("config.json")
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setenv("HF_TOKEN_PATH", "absent")
    assert source(hub, offline=True).read("config.json") == config


def test_another_hub_has_other_repositories_of_that_name(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    source(hub).read("config.json")
    monkeypatch.setenv("HF_ENDPOINT", "http://user:secret@127.0.0.1:9")
    with pytest.raises(Unavailable):
        source(hub, offline=True).read("config.json")
    assert not any(b"secret" in path.read_bytes() for path in entries(hub.kept))


# What may be done to it.


@pytest.mark.parametrize("change", ["cut", "flipped", "emptied", "swapped", "folder"])
def test_a_spoiled_entry_is_read_anew(hub: LoopbackHub, change: str) -> None:
    cold = run(*PAIR, *JSON)
    kept = entries(hub.kept)
    contents = [path.read_bytes() for path in kept]
    for path, content, other in zip(kept, contents, contents[1:] + contents[:1], strict=True):
        if change == "cut":
            path.write_bytes(content[:-3])
        elif change == "flipped":
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        elif change == "emptied":
            path.write_bytes(b"")
        elif change == "swapped":
            path.write_bytes(other)
        else:
            path.unlink()
            path.mkdir()
    again = run(*PAIR, *JSON)
    assert said(again) == said(cold)
    if change != "folder":
        assert again.report["io"]["cached"] == cold.report["io"]["cached"]
        assert run(*PINNED, *JSON).report["io"]["requests"] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_cache_serves_and_is_left_alone(hub: LoopbackHub) -> None:
    cold = run(*PAIR, *JSON)
    before = entries(hub.kept)
    for folder, _, _ in os.walk(hub.kept):
        Path(folder).chmod(0o500)
    try:
        warm = run(*PAIR, *JSON)
    finally:
        for folder, _, _ in os.walk(hub.kept):
            Path(folder).chmod(0o700)
    assert said(warm) == said(cold)
    assert entries(hub.kept) == before


@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("call", ["mkdir", "open", "fdopen", "replace"])
def test_a_folder_that_takes_nothing_changes_nothing(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch, call: str, trouble: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(trouble, os.strerror(trouble))

    owner = Path if call in {"mkdir", "replace"} else os
    monkeypatch.setattr(owner, call, refuse)
    answer = run(*PAIR, *JSON)
    assert (answer.code, answer.err) == (0, "")
    assert entries(hub.kept) == []


def test_a_file_in_the_place_of_the_folder_changes_nothing(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(hub.kept)
    place.write_text("not a folder")
    assert run(*PAIR).code == 0
    assert place.read_text() == "not a folder"
    monkeypatch.setenv("DRAFTER_LINT_CACHE", "")
    assert run(*PAIR).code == 0


def test_two_processes_and_twenty_threads_share_a_cache(hub: LoopbackHub, tmp_path: Path) -> None:
    cold = run(*PAIR, *JSON)
    program = (
        "import sys\nfrom concurrent.futures import ThreadPoolExecutor\nfrom pathlib import Path\n"
        "from drafter_lint.sources.store import Store\n"
        f"it = Store(Path({str(tmp_path)!r}))\n"
        "def work(n):\n"
        f"    group = '{GROUP[:-1]}' + str(n % 5)\n"
        "    for turn in range(20):\n"
        "        it.put(group, str(turn % 3), bytes([turn % 3]) * 5000, label='hub owner/name')\n"
        "        got = it.get(group, str(turn % 3), label='hub owner/name')\n"
        "        assert got in (None, bytes([turn % 3]) * 5000), got\n"
        "    return got\n"
        "with ThreadPoolExecutor(20) as pool:\n"
        "    assert all(got is not None for got in pool.map(work, range(20)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(2)]
    with ThreadPoolExecutor(20) as pool:
        read = list(pool.map(lambda _: source(hub).read("model.safetensors", 0, 3000), range(20)))
    assert len(set(read)) == 1
    assert said(run(*PAIR, *JSON)) == said(cold)
    assert [process.wait(60) for process in processes] == [0, 0]
    assert Store(tmp_path).usage().entries == 15
    assert not [path for path in entries(tmp_path) if path.name.startswith(".")]


def test_interrupting_a_writer_leaves_no_half_entry(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path\nfrom drafter_lint.sources.store import Store\n"
        f"it, n = Store(Path({str(tmp_path)!r})), 0\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    while True:\n"
        f"        it.put({GROUP!r}, str(n % 7), bytes([n % 7]) * 200_000, label='x')\n        n += 1\n"
        "except KeyboardInterrupt:\n    pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for pause in (0.0, 0.003, 0.011):
        with subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
            process.wait(30)
        it = Store(tmp_path)
        for name in it.names(GROUP):
            assert it.get(GROUP, name, label="x") == bytes([int(name)]) * 200_000
        assert not [path for path in entries(tmp_path) if path.name.startswith(".")]


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 10_000)
    monkeypatch.setattr(store, "_LOOK_AFTER", 1)
    it = Store(tmp_path)
    for n in range(9):
        it.put(f"{n:040x}", "0-1000", bytes(1000), label="x")
        os.utime(it._place(f"{n:040x}") / "0-1000", (n, n))
    assert it.get(f"{0:040x}", "0-1000", label="x")  # used again
    it.put("f" * 40, "0-1000", bytes(1000), label="x")
    left = [n for n in range(9) if it.names(f"{n:040x}")]
    assert 0 in left
    assert 1 not in left
    assert 8 in left
    assert it.usage().bytes <= 10_000
    assert not it._place(f"{1:040x}").exists()


def test_what_a_killed_process_left_goes_too(tmp_path: Path) -> None:
    it = Store(tmp_path)
    it.put(GROUP, "a", b"a", label="x")
    old, young = (it._place(GROUP) / f".unfinished-{name}" for name in ("old", "young"))
    old.write_bytes(b"half")
    young.write_bytes(b"half")
    os.utime(old, (1, 1))
    assert it.usage().entries == 1
    assert (old.exists(), young.exists()) == (False, True)


def test_an_entry_over_the_bound_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_ENTRY", 100)
    it = Store(tmp_path)
    it.put(GROUP, "a", bytes(101), label="x")
    it.put(GROUP, "b", bytes(100), label="x")
    assert it.names(GROUP) == ("b",)


# What is said of it.


def test_info_and_clear(hub: LoopbackHub) -> None:
    assert "0 entries of 0 repositories, 0 B of at most 512.0 MB" in run("cache", "info").out
    run(*PAIR)
    host = hub.endpoint.removeprefix("http://")
    told = json.loads(run("cache", "info", *JSON).out)
    assert (told["folder"], told["entries"]) == (hub.kept, len(entries(hub.kept)))
    assert told["bytes"] == sum(path.stat().st_size for path in entries(hub.kept))
    assert {(item["endpoint"], item["name"]) for item in told["repositories"]} == {(host, DRAFTER), (host, TARGET)}
    text = run("cache", "info").out
    assert hub.kept in text
    assert DRAFTER in text
    assert run("cache", "clear").code == 0
    assert entries(hub.kept) == []
    assert run(*PAIR, *JSON).report["io"]["requests"] > 2


def test_no_cache_at_all(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAFTER_LINT_CACHE", "")
    run(*PAIR)
    assert entries(hub.kept) == []
    assert "nothing is kept" in run("cache", "info").out
    assert json.loads(run("cache", "info", *JSON).out)["folder"] is None
    assert (run("cache", "clear").code, run("cache").code) == (0, 2)


def test_it_lies_beside_the_clients(hub: LoopbackHub, tmp_path: Path) -> None:
    assert hub.endpoint
    told = spawn(tmp_path, ("cache", "info", *JSON))
    assert told.report["folder"] == str(tmp_path / ".cache/huggingface/drafter-lint")
    told = spawn(tmp_path, ("cache", "info", *JSON), {"HF_HOME": "~/hf"})
    assert told.report["folder"] == str(tmp_path / "hf/drafter-lint")
    told = spawn(tmp_path, ("cache", "info", *JSON), {"DRAFTER_LINT_CACHE": str(tmp_path / "own")})
    assert told.report["folder"] == str(tmp_path / "own")
