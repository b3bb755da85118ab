"""What every source promises, held against all three; then what each of them adds."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources import (
    FileEntry,
    LfsPointer,
    LocalSource,
    MemorySource,
    Source,
    Tally,
    VirtualFile,
    lfs_pointer,
    open_source,
)
from loopback_hub import LoopbackHub, Repo

COMMIT = "3f9c1ab" + "0" * 33
OTHER = "8d2e004" + "0" * 33
NAME = "owner/drafter"
FILES: dict[str, bytes] = {
    "config.json": b'{"model_type": "llama"}\n',
    "empty.txt": b"",
    "model.safetensors": bytes(range(256)) * 40,
    "original/params.json": b"{}",
}
KINDS = ("local", "hub", "memory")


def reference(revision: str | None = None, subfolder: str = "", name: str = NAME) -> Reference:
    return Reference(spelling=name, kind="hub", name=name, revision=revision, subfolder=subfolder)


def hub_source(*, revision: str | None = None, subfolder: str = "", tally: Tally | None = None) -> Source:
    return open_source(reference(revision, subfolder), tally=tally or Tally(), deadline=10.0)


def unavailable(source: Source, path: str, *span: int) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        source.read(path, *span)
    return caught.value


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return folder


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    other: Repo = {"commit": OTHER, "files": {"config.json": b'{"v": 1}'}}
    with LoopbackHub({NAME: {"commit": COMMIT, "files": FILES, "revisions": {"v1": other, "refs/pr/7": other}}}) as it:
        yield it


@pytest.fixture(params=KINDS)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Source]:
    if request.param == "memory":
        yield MemorySource(NAME, FILES, commit=COMMIT)
    elif request.param == "local":
        yield LocalSource(str(write(tmp_path, FILES)))
    else:
        with LoopbackHub({NAME: {"commit": COMMIT, "files": FILES}}):
            yield hub_source()


# The contract.


def test_lists_every_file_with_its_size(source: Source) -> None:
    assert {path: entry.size for path, entry in source.files.items()} == {k: len(v) for k, v in FILES.items()}


@pytest.mark.parametrize(
    ("path", "start", "length"),
    [
        ("config.json", 0, None),
        ("config.json", 5, None),
        ("empty.txt", 0, None),
        ("empty.txt", 0, 0),
        ("model.safetensors", 0, 8),
        ("model.safetensors", 8, 3000),
        ("model.safetensors", 10_000, 240),
        ("model.safetensors", 10_240, None),
        ("model.safetensors", 100, 0),
        ("original/params.json", 1, 1),
    ],
)
def test_reads_exact_spans(source: Source, path: str, start: int, length: int | None) -> None:
    expected = FILES[path][start:] if length is None else FILES[path][start : start + length]
    assert source.read(path, start, length) == expected


@pytest.mark.parametrize(
    "path", ["absent.json", "original", "../config.json", "/etc/passwd", "a\\b", "", "C:/x", "./a"]
)
def test_a_file_that_is_not_there(source: Source, path: str) -> None:
    assert unavailable(source, path).trouble is Trouble.MISSING


@pytest.mark.parametrize(("start", "length"), [(0, 25), (24, 1), (25, 0), (10, 100)])
def test_a_span_beyond_the_end(source: Source, start: int, length: int) -> None:
    error = unavailable(source, "config.json", start, length)
    assert error.trouble is Trouble.MALFORMED
    assert "has 24 bytes" in error.detail


def test_a_negative_span_is_a_bug_of_the_caller(source: Source) -> None:
    with pytest.raises(ValueError, match="span"):
        source.read("config.json", -1)


def test_threads_may_share_a_source(source: Source) -> None:
    with ThreadPoolExecutor(8) as pool:
        pieces = list(pool.map(lambda start: source.read("model.safetensors", start, 64), range(0, 10_240, 64)))
    assert b"".join(pieces) == FILES["model.safetensors"]


@pytest.mark.parametrize("kind", KINDS)
def test_counts_the_bytes_it_reads(kind: str, tmp_path: Path, hub: LoopbackHub) -> None:
    tally = Tally()
    sources: dict[str, Source] = {
        "memory": MemorySource(NAME, FILES, tally=tally),
        "local": LocalSource(str(write(tmp_path, FILES)), tally),
        "hub": hub_source(tally=tally),
    }
    assert sources[kind].files
    before = tally.bytes
    sources[kind].read("config.json")
    assert tally.bytes - before == 24
    assert tally.requests == (len(hub.requests) if kind == "hub" else 0)


def test_a_read_over_the_bound_is_not_tried() -> None:
    source = MemorySource(NAME, {"model.safetensors": VirtualFile(1 << 40)})
    assert unavailable(source, "model.safetensors").trouble is Trouble.TOO_LARGE


# Folders.


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    source = LocalSource(str(tmp_path / "absent"))
    assert unavailable(source, "config.json").trouble is Trouble.NOT_FOUND
    with pytest.raises(Unavailable) as caught:
        _ = source.files
    assert caught.value.trouble is Trouble.NOT_FOUND
    assert "owner/name" in caught.value.hint


def test_a_file_stands_for_its_folder(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert LocalSource(str(tmp_path / "model.safetensors")).read("config.json") == FILES["config.json"]


def test_git_and_deep_folders_are_not_listed(tmp_path: Path) -> None:
    write(tmp_path, {".git/config": b"", "a/b/c": b"", "a/b/c2/d": b"", "x": b""})
    assert set(LocalSource(str(tmp_path)).files) == {"x", "a/b/c"}


def test_the_listing_is_bounded_and_starts_at_the_top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("drafter_lint.sources.local.MAX_FILES", 5)
    write(tmp_path, {**{f"a/{i}": b"" for i in range(9)}, "config.json": b"", "z": b""})
    files = LocalSource(str(tmp_path)).files
    assert len(files) == 5
    assert {"config.json", "z"} <= set(files)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    inside = write(tmp_path / "checkpoint", FILES)
    (inside / "link.json").symlink_to("../secret")
    (inside / "folder").symlink_to(tmp_path)
    (inside / "good.json").symlink_to("original/params.json")
    source = LocalSource(str(inside))
    assert unavailable(source, "link.json").trouble is Trouble.DENIED
    assert unavailable(source, "folder/secret").trouble is Trouble.DENIED
    assert source.read("good.json") == b"{}"


def test_broken_and_circular_links_are_missing(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "config.json").write_bytes(b"{}")
    source = LocalSource(str(tmp_path))
    assert set(source.files) == {"config.json"}
    assert unavailable(source, "broken").trouble is Trouble.MISSING


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.json")
    assert unavailable(LocalSource(str(tmp_path)), "config.json").trouble is Trouble.MISSING


def test_links_of_the_hub_cache_are_followed(tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--owner--drafter"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    write(repository, {"blobs/abc": b"content"})
    (tmp_path / "hub" / "elsewhere").write_bytes(b"other")
    (snapshot / "config.json").symlink_to("../../blobs/abc")
    (snapshot / "escape.json").symlink_to("../../../elsewhere")
    source = LocalSource(str(snapshot))
    assert source.files == {"config.json": FileEntry(7), "escape.json": FileEntry(5)}
    assert source.read("config.json") == b"content"
    assert unavailable(source, "escape.json").trouble is Trouble.DENIED


# Memory.


def test_a_virtual_file_is_large_only_in_name() -> None:
    content = VirtualFile(1 << 30, ((0, b"header"), (1000, b"island"), (1004, b"XY"), ((1 << 30) - 3, b"end")))
    source = MemorySource(NAME, {"model.safetensors": content})
    assert source.files["model.safetensors"].size == 1 << 30
    assert source.read("model.safetensors", 0, 8) == b"header\0\0"
    assert source.read("model.safetensors", 998, 10) == b"\0\0islaXY\0\0"
    assert source.read("model.safetensors", (1 << 30) - 4) == b"\0end"


@pytest.mark.parametrize("part", [(-1, b"a"), (9, b"ab"), (11, b"")])
def test_a_part_must_fit(part: tuple[int, bytes]) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        VirtualFile(10, (part,))


# Git LFS.

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"ab" * 32 + b"\nsize 1234567\n"


@pytest.mark.parametrize("data", [POINTER, POINTER.replace(b"\n", b"\r\n"), POINTER + b"\0" * 5000])
def test_an_lfs_pointer_is_known(data: bytes) -> None:
    assert lfs_pointer(data) == LfsPointer("ab" * 32, 1234567)


@pytest.mark.parametrize(
    "data", [b"", POINTER[:60], b"x" + POINTER, POINTER.replace(b"size", b"s"), b"\x08" + b"\0" * 200]
)
def test_other_content_is_no_lfs_pointer(data: bytes) -> None:
    assert lfs_pointer(data) is None


# The Hub.


def test_the_commit_is_resolved_once(hub: LoopbackHub) -> None:
    source = hub_source()
    assert (source.identity.commit, source.identity.revision) == (COMMIT, "main")
    assert source.identity.shown == "owner/drafter @ 3f9c1ab"
    source.read("config.json")
    source.read("original/params.json")
    assert [seen.path for seen in hub.requests] == [
        f"/api/models/{NAME}?blobs=true",
        f"/{NAME}/resolve/{COMMIT}/config.json",
        f"/{NAME}/resolve/{COMMIT}/original/params.json",
    ]


@pytest.mark.parametrize("revision", ["v1", "refs/pr/7"])
def test_a_revision_leads_to_its_commit(hub: LoopbackHub, revision: str) -> None:
    source = hub_source(revision=revision)
    assert source.read("config.json") == b'{"v": 1}'
    assert (source.identity.commit, source.identity.revision) == (OTHER, revision)
    assert hub.requests[-1].path == f"/{NAME}/resolve/{OTHER}/config.json"


def test_a_commit_has_no_revision(hub: LoopbackHub) -> None:
    assert hub_source(revision=OTHER).identity.revision is None
    assert len(hub.requests) == 1


def test_a_subfolder_is_a_checkpoint_of_its_own(hub: LoopbackHub) -> None:
    source = hub_source(subfolder="original")
    assert set(source.files) == {"params.json"}
    assert source.read("params.json") == b"{}"
    assert hub.requests[-1].path.endswith(f"/resolve/{COMMIT}/original/params.json")
    assert unavailable(source, "config.json").trouble is Trouble.MISSING
    assert unavailable(hub_source(subfolder="absent"), "config.json").trouble is Trouble.NOT_FOUND


def test_content_ids_come_with_the_listing(hub: LoopbackHub) -> None:
    files = hub_source().files
    assert len(files["config.json"].content_id or "") == 40  # the git blob
    assert len(files["model.safetensors"].content_id or "") == 64  # the sha256 of the large file
    assert len(hub.requests) == 1


def test_a_header_costs_its_range_and_one_redirect(hub: LoopbackHub) -> None:
    tally = Tally()
    source = hub_source(tally=tally)
    assert source.files
    before = tally.bytes
    source.read("model.safetensors", 0, 8)
    source.read("model.safetensors", 8, 500)
    source.read("model.safetensors", 9000, 10)
    large = hub.requests[1:]
    assert [(seen.server, seen.range) for seen in large] == [
        ("hub", "bytes=0-7"),
        ("storage", "bytes=0-7"),
        ("storage", "bytes=8-507"),
        ("storage", "bytes=9000-9009"),
    ]
    assert tally.requests == len(hub.requests) == 5
    assert tally.bytes - before <= 518 + len(b"Found. Redirecting")


def test_connections_are_kept(hub: LoopbackHub) -> None:
    source = hub_source()
    source.read("config.json")
    for start in range(0, 500, 100):
        source.read("model.safetensors", start, 50)
    assert len({seen.connection for seen in hub.requests if seen.server == "hub"}) == 1
    assert len({seen.connection for seen in hub.requests if seen.server == "storage"}) == 1


def test_the_token_goes_to_the_hub_alone(hub: LoopbackHub) -> None:
    hub_source().read("model.safetensors", 0, 8)
    sent = {seen.server: seen.headers.get("authorization") for seen in hub.requests}
    assert sent == {"hub": f"Bearer {hub.token}", "storage": None}


def test_a_place_that_expired_is_asked_for_again(hub: LoopbackHub) -> None:
    source = hub_source()
    source.read("model.safetensors", 0, 8)
    places = source._places  # type: ignore[attr-defined]
    places["model.safetensors"] = places["model.safetensors"].replace("secret", "expired")
    hub.requests.clear()
    assert source.read("model.safetensors", 8, 8) == FILES["model.safetensors"][8:16]
    assert [seen.server for seen in hub.requests] == ["storage", "hub", "storage"]


def test_a_mirror_without_sizes_is_asked_for_its_tree(hub: LoopbackHub) -> None:
    hub.sizes, hub.page = False, 3
    files = hub_source().files
    assert {path: entry.size for path, entry in files.items()} == {k: len(v) for k, v in FILES.items()}
    assert len(files["model.safetensors"].content_id or "") == 64
    assert len(hub.requests) == 3


def test_paths_that_leave_the_repository_are_not_listed() -> None:
    with LoopbackHub({NAME: {"commit": COMMIT, "files": {"../evil": b"x", "a\x1b[31m": b"x", "ok": b"x"}}}) as hub:
        hub.page = 1
        assert set(hub_source().files) == {"ok"}


# The Hub's cache, filled by the client itself.


def fill(hub: LoopbackHub, *paths: str, revision: str | None = None) -> None:
    from huggingface_hub import hf_hub_download  # noqa: PLC0415

    for path in paths:
        hf_hub_download(NAME, path, revision=revision, cache_dir=hub.cache, endpoint=hub.endpoint, token=hub.token)
    hub.requests.clear()


def offline(*, revision: str | None = None, subfolder: str = "") -> Source:
    return open_source(reference(revision, subfolder), tally=Tally(), offline=True)


def test_cached_files_cost_no_request(hub: LoopbackHub) -> None:
    fill(hub, "config.json", "model.safetensors")
    source = hub_source()
    assert source.read("config.json") == FILES["config.json"]
    assert source.read("model.safetensors", 8, 100) == FILES["model.safetensors"][8:108]
    assert len(hub.requests) == 1  # the listing
    source.read("original/params.json")
    assert len(hub.requests) == 2


def test_a_cached_file_of_another_size_is_not_believed(hub: LoopbackHub) -> None:
    fill(hub, "config.json")
    [cached] = Path(hub.cache).glob("models--*/snapshots/*/config.json")
    cached.resolve().write_bytes(b"{")
    assert hub_source().read("config.json") == FILES["config.json"]


@pytest.mark.parametrize("revision", [None, "main", COMMIT])
def test_offline_reads_the_cache(hub: LoopbackHub, revision: str | None) -> None:
    fill(hub, "config.json", "original/params.json")
    source = offline(revision=revision)
    assert source.identity.commit == COMMIT
    assert set(source.files) == {"config.json", "original/params.json"}
    assert source.read("config.json") == FILES["config.json"]
    assert offline(subfolder="original").read("params.json") == b"{}"
    assert hub.requests == []


def test_offline_says_how_to_fetch_what_is_missing(hub: LoopbackHub) -> None:
    error = unavailable(offline(revision="v1"), "config.json")
    assert error.trouble is Trouble.OFFLINE
    assert error.hint.endswith("hf download owner/drafter config.json --revision v1")
    fill(hub, "config.json")
    error = unavailable(offline(), "model.safetensors")
    assert error.trouble is Trouble.OFFLINE
    assert error.hint.endswith("hf download owner/drafter model.safetensors")
    assert unavailable(offline(subfolder="original"), "params.json").trouble is Trouble.OFFLINE
    assert unavailable(offline(revision=OTHER), "config.json").trouble is Trouble.OFFLINE
    assert hub.requests == []


def test_offline_by_environment(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert unavailable(hub_source(), "config.json").trouble is Trouble.OFFLINE
    assert hub.requests == []


def test_a_file_the_client_knows_to_be_absent_is_missing(hub: LoopbackHub) -> None:
    from huggingface_hub.errors import EntryNotFoundError  # noqa: PLC0415

    fill(hub, "config.json")
    with pytest.raises(EntryNotFoundError):
        fill(hub, "absent.json")
    assert unavailable(offline(), "absent.json").trouble is Trouble.MISSING
    assert unavailable(offline(), "other.json").trouble is Trouble.OFFLINE


def test_the_listing_the_client_kept_makes_a_pinned_check_free(hub: LoopbackHub) -> None:
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    snapshot_download(NAME, allow_patterns=["*.json"], cache_dir=hub.cache, endpoint=hub.endpoint, token=hub.token)
    hub.requests.clear()
    source = hub_source(revision=COMMIT)
    assert {path: entry.size for path, entry in source.files.items()} == {k: len(v) for k, v in FILES.items()}
    assert source.read("config.json") == FILES["config.json"]
    assert hub.requests == []
    assert set(offline().files) == set(FILES)
    assert unavailable(offline(), "model.safetensors", 0, 8).trouble is Trouble.OFFLINE
    assert unavailable(offline(), "absent.json").trouble is Trouble.MISSING


def test_reading_leaves_the_cache_alone(hub: LoopbackHub) -> None:
    fill(hub, "config.json")
    before = sorted(Path(hub.cache).rglob("*"))
    source = hub_source()
    source.read("config.json")
    source.read("model.safetensors", 0, 8)
    assert sorted(Path(hub.cache).rglob("*")) == before


# What is not loaded.


@pytest.mark.parametrize(
    "code",
    [
        "open_source(Reference(spelling='.', kind='local', name='.'), tally=Tally()).files",
        (
            "s = open_source(Reference(spelling='o/n', kind='hub', name='o/n'), tally=Tally(), offline=True)\n"
            "try: s.files\nexcept Unavailable: pass"
        ),
    ],
)
def test_the_client_is_loaded_only_to_talk(code: str, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom drafter_lint.errors import Unavailable\nfrom drafter_lint.reference import Reference\n"
        f"from drafter_lint.sources import Tally, open_source\n{code}\n"
        "assert not {'huggingface_hub', 'httpx', 'httpx2'} & set(sys.modules)"
    )
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=tmp_path)
