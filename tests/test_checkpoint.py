"""Checkpoints: which files count, what is read, what is kept, and what is said when it cannot be."""

from __future__ import annotations

import json
import re
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from drafter_lint.checkpoint import Checkpoint, IndexDisagreement
from drafter_lint.checkpoint import table as tables
from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources.base import FileEntry, Identity
from drafter_lint.sources.memory import MemorySource, VirtualFile

INDEX = "model.safetensors.index.json"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 77\n"
Content = bytes | VirtualFile


class Recording:
    """A source that remembers what was read."""

    def __init__(self, inner: MemorySource) -> None:
        self.inner = inner
        self.reads: list[tuple[str, int, int]] = []
        self.pause = 0.0

    @property
    def identity(self) -> Identity:
        return self.inner.identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        return self.inner.files

    @property
    def opened(self) -> list[str]:
        return sorted({path for path, _, _ in self.reads})

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        time.sleep(self.pause)
        data = self.inner.read(path, start, length)
        self.reads.append((path, start, len(data)))
        return data


def checkpoint(files: Mapping[str, Content], *, kind: Literal["hub", "local"] = "hub") -> tuple[Checkpoint, Recording]:
    source = Recording(MemorySource("a/b", files, commit="0123456789abcdef"))
    reference = Reference(spelling="a/b", kind=kind, name="a/b")
    return Checkpoint(reference, source, role="drafter"), source


def shard(*names: str, metadata: Mapping[str, str] | None = None) -> VirtualFile:
    return tensors(dict.fromkeys(names, ("BF16", (2, 4))), metadata=metadata)


def tensors(
    declared: Mapping[str, tuple[str, Sequence[int]]],
    values: Mapping[str, bytes] | None = None,
    *,
    metadata: Mapping[str, str] | None = None,
) -> VirtualFile:
    start, offsets = safetensors_header(declared, metadata)
    parts = [(len(start) + offsets[name][0], data) for name, data in (values or {}).items()]
    size = len(start) + max((end for _, end in offsets.values()), default=0)
    return VirtualFile(size, ((0, start), *parts))


def index(**weight_map: str) -> bytes:
    return json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}).encode()


def trouble(files: Mapping[str, Content]) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        _ = checkpoint(files)[0].tensors
    return caught.value


# Which files count.


def test_one_file() -> None:
    it, _ = checkpoint({"model.safetensors": shard("b", "a", metadata={"format": "pt"})})
    assert list(it.tensors) == ["a", "b"]
    assert it.tensors.files == ("model.safetensors",)
    assert it.tensors.metadata == {"format": "pt"}
    assert it.tensors.index is None
    assert it.tensors.at("a").shape == (2, 4)
    assert it.tensors.subject == "a/b @ 0123456"


def test_an_index_and_its_shards() -> None:
    it, _ = checkpoint(
        {
            INDEX: index(a="1.safetensors", b="2.safetensors"),
            "1.safetensors": shard("a"),
            "2.safetensors": shard("b"),
        }
    )
    table = it.tensors
    assert {name: table[name].file for name in table} == {"a": "1.safetensors", "b": "2.safetensors"}
    assert table.files == ("1.safetensors", "2.safetensors")
    assert table.index == INDEX
    assert (table.disagreements, table.duplicates, table.missing_files) == ((), {}, ())


def test_without_an_index_every_file_of_the_folder_is_read() -> None:
    it, _ = checkpoint(
        {
            "model-1.safetensors": shard("a", "x"),
            "model-2.safetensors": shard("b", "x"),
            "original/model.safetensors": b"not looked at",
        }
    )
    assert it.tensors.files == ("model-1.safetensors", "model-2.safetensors")
    assert it.tensors.duplicates == {"x": ("model-1.safetensors", "model-2.safetensors")}
    assert it.tensors["x"].file == "model-2.safetensors"


def test_an_index_leaves_other_files_out() -> None:
    it, source = checkpoint(
        {INDEX: index(a="1.safetensors"), "1.safetensors": shard("a"), "mtp.safetensors": shard("mtp.fc.weight")}
    )
    assert list(it.tensors) == ["a"]
    assert it.tensors.set_aside == ("mtp.safetensors",)
    assert "mtp.safetensors" not in source.opened


@pytest.mark.parametrize("extra", ["consolidated.safetensors", "adapter_model.safetensors"])
def test_copies_and_adapters_are_set_aside(extra: str) -> None:
    it, source = checkpoint({"model.safetensors": shard("a"), extra: shard("z")})
    assert list(it.tensors) == ["a"]
    assert it.tensors.set_aside == (extra,)
    assert extra not in source.opened


@pytest.mark.parametrize("only", ["consolidated.safetensors", "adapter_model.safetensors"])
def test_a_lone_copy_or_adapter_is_read(only: str) -> None:
    it, _ = checkpoint({only: shard("z")})
    assert it.tensors.files == (only,)
    assert it.tensors.set_aside == ()


def test_a_consolidated_model_has_its_own_index() -> None:
    files: dict[str, Content] = {"consolidated.safetensors.index.json": index(a="consolidated-1.safetensors")}
    it, _ = checkpoint(files | {"consolidated-1.safetensors": shard("a")})
    assert it.tensors.index == "consolidated.safetensors.index.json"


def test_other_weights_are_named_and_never_opened() -> None:
    other = ["a.bin", "b.pt", "c.pth", "d.ckpt", "e.gguf", "f.npz"]
    leftovers = ["training_args.bin", "optimizer.pt", "scheduler.pt", "rng_state_0.pth"]
    it, source = checkpoint({"model.safetensors": shard("a")} | dict.fromkeys([*other, *leftovers], b"\x80\x04."))
    assert it.tensors.unopened == tuple(other)
    assert source.opened == ["model.safetensors"]


def test_only_other_weights() -> None:
    found = trouble({"pytorch_model.bin": b"\x80\x04.", "training_args.bin": b""})
    assert found.trouble is Trouble.NOT_SAFETENSORS
    assert found.detail == "its only weights are pytorch_model.bin"


@pytest.mark.parametrize("files", [{}, {"config.json": b"{}"}, {"training_args.bin": b""}])
def test_no_weights(files: dict[str, Content]) -> None:
    assert trouble(files).trouble is Trouble.MISSING


# Where the index and the files part.


def test_a_missing_shard_is_told_once() -> None:
    it, _ = checkpoint(
        {INDEX: index(a="1.safetensors", b="2.safetensors", c="2.safetensors"), "1.safetensors": shard("a")}
    )
    assert it.tensors.missing_files == ("2.safetensors",)
    assert list(it.tensors) == ["a"]
    assert it.tensors.disagreements == ()


def test_all_shards_missing_is_no_missing_index() -> None:
    it, _ = checkpoint({INDEX: index(a="1.safetensors")})
    assert it.tensors.missing_files == ("1.safetensors",)
    assert len(it.tensors) == 0


def test_disagreements() -> None:
    it, _ = checkpoint(
        {
            INDEX: index(a="1.safetensors", moved="1.safetensors", gone="2.safetensors", found="3.safetensors"),
            "1.safetensors": shard("a", "found"),
            "2.safetensors": shard("moved", "unknown"),
        }
    )
    assert set(it.tensors.disagreements) == {
        IndexDisagreement("moved", "1.safetensors", "2.safetensors"),
        IndexDisagreement("gone", "2.safetensors", None),
        IndexDisagreement("found", "3.safetensors", "1.safetensors"),
        IndexDisagreement("unknown", None, "2.safetensors"),
    }


@pytest.mark.parametrize(
    "path",
    ["../x.safetensors", "/etc/x.safetensors", "a/../../x.safetensors", "..\\x.safetensors", "C:x.safetensors"],
)
def test_an_index_cannot_leave_the_folder(path: str) -> None:
    found = trouble({INDEX: index(a=path), "model.safetensors": shard("a")})
    assert found.trouble is Trouble.MALFORMED
    assert "leaves the folder" in found.detail


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "not JSON"),
        (b"[]", "no weight_map"),
        (b"{}", "no weight_map"),
        (b'{"weight_map": []}', "no weight_map"),
        (b'{"weight_map": {}}', "weight_map is empty"),
        (b'{"weight_map": {"a": 1}}', "weight_map['a'] is no file name"),
        (b'{"weight_map": {"a": "pytorch_model.bin"}}', "no safetensors file"),
        (b'{"weight_map": {"a": "\xff"}}', "not UTF-8"),
    ],
)
def test_a_broken_index(content: bytes, told: str) -> None:
    found = trouble({INDEX: content, "model.safetensors": shard("a")})
    assert found.trouble is Trouble.MALFORMED
    assert found.what == f"a/b @ 0123456: {INDEX}"
    assert told in found.detail


def test_an_index_over_the_bound_is_not_fetched() -> None:
    it, source = checkpoint({INDEX: VirtualFile(64 * 2**20 + 1), "model.safetensors": shard("a")})
    with pytest.raises(Unavailable) as caught:
        _ = it.tensors
    assert caught.value.trouble is Trouble.TOO_LARGE
    assert source.reads == []


@pytest.mark.parametrize("path", [INDEX, "model.safetensors"])
def test_a_git_lfs_pointer(path: str) -> None:
    files: dict[str, Content] = {INDEX: index(a="model.safetensors"), "model.safetensors": shard("a"), path: POINTER}
    assert trouble(files).trouble is Trouble.LFS_POINTER


def test_the_first_broken_shard_is_blamed_whoever_is_read_first() -> None:
    files: dict[str, Content] = {f"{n:02}.safetensors": shard(f"t{n}") for n in range(20)}
    files["07.safetensors"] = files["13.safetensors"] = b"{}"
    assert trouble(files).what == "a/b @ 0123456: 07.safetensors"


def test_too_many_tensors_over_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_TENSORS", 2)
    assert trouble({"1.safetensors": shard("a", "b"), "2.safetensors": shard("c")}).trouble is Trouble.TOO_LARGE


def test_too_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_FILES", 1)
    assert trouble({"1.safetensors": shard("a"), "2.safetensors": shard("c")}).trouble is Trouble.TOO_LARGE


# What is read, and how often.


def test_facts_are_read_once() -> None:
    it, source = checkpoint({"config.json": b'{"a": 1}', "README.md": b"x", "model.safetensors": shard("a")})
    for _ in range(3):
        assert it.config.integer("a") is not None
        assert it.card == "x"
        assert it.find_tensor("a") == it.tensors["a"]
        assert it.vocab_map.d2t is None
    assert [path for path, _, _ in source.reads] == ["config.json", "README.md", "model.safetensors"]


def test_failures_are_kept() -> None:
    it, source = checkpoint({"config.json": POINTER, "model.safetensors": b"{}"})
    seen: list[tuple[Unavailable, Unavailable, Unavailable]] = []
    for _ in range(2):
        with pytest.raises(Unavailable) as config:
            _ = it.config
        with pytest.raises(Unavailable) as weights:
            _ = it.tensors
        with pytest.raises(Unavailable) as vocab_map:
            _ = it.vocab_map
        seen.append((config.value, weights.value, vocab_map.value))
    assert all(first is second for first, second in zip(*seen, strict=True))
    assert [path for path, _, _ in source.reads] == ["config.json", "model.safetensors"]


def test_many_threads_read_once() -> None:
    it, source = checkpoint({f"{n}.safetensors": shard(f"t{n}") for n in range(4)} | {"config.json": b"{}"})
    source.pause = 0.02
    barrier = threading.Barrier(8)

    def ask(_: int) -> int:
        barrier.wait(timeout=30)
        return len(it.tensors) + len(it.config.value)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [4] * 8
    assert len(source.reads) == 5


def test_the_first_header_sizes_the_reads_of_the_others() -> None:
    names = {f"experts.{n}.weight": ("U8", (1,)) for n in range(4000)}
    it, source = checkpoint(
        {f"{n}.safetensors": tensors({f"{n}.{name}": at for name, at in names.items()}) for n in "abc"}
    )
    assert len(it.tensors) == 12_000
    assert sorted(path[0] for path, _, _ in source.reads) == ["a", "a", "b", "c"]


def test_find_reads_the_index_and_one_shard() -> None:
    files: dict[str, Content] = {f"{n}.safetensors": shard(f"t{n}") for n in range(4)}
    it, source = checkpoint(files | {INDEX: index(**{f"t{n}": f"{n}.safetensors" for n in range(4)})})
    found = it.find_tensor("t2")
    assert found is not None
    assert found.file == "2.safetensors"
    assert it.find_tensor("absent") is None
    assert source.opened == ["2.safetensors", INDEX]
    assert it.tensors["t2"] == found


def test_find_without_an_index_stops_at_the_tensor() -> None:
    it, source = checkpoint({f"{n}.safetensors": shard(f"t{n}") for n in range(4)})
    assert it.find_tensor("t1") is not None
    assert source.opened == ["0.safetensors", "1.safetensors"]
    assert it.find_tensor("absent") is None


def large(*, where: str) -> dict[str, Content]:
    """Four shards with long headers and an index over 1 MiB; ``where`` tells which shard holds the embedding."""
    files: dict[str, Content] = {}
    weight_map: dict[str, str] = {}
    for n in range(1, 5):
        path = f"model-{n:05}-of-00004.safetensors"
        names: dict[str, tuple[str, Sequence[int]]]
        names = {f"model.layers.{n}.experts.{i}.weight": ("U8", (1,)) for i in range(4000)}
        if path == where:
            names["model.embed_tokens.weight"] = ("BF16", (8, 4))
        files[path] = tensors(names)
        weight_map |= dict.fromkeys(names, path)
    files[INDEX] = index(**weight_map)
    files["mtp.safetensors"] = shard("mtp.fc.weight")
    return files


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        (["m-1-of-3", "m-2-of-3", "m-3-of-3", "z"], "model.embed_tokens.weight", ["m-1-of-3", "m-3-of-3"]),
        (["m-1-of-3", "m-2-of-3", "m-3-of-3", "z"], "lm_head.weight", ["m-3-of-3", "m-1-of-3"]),
        (["a", "b", "c"], "model.layers.0.fc.weight", ["a", "c"]),
        (["m-1-of-1"], "lm_head.weight", ["m-1-of-1"]),
        ([], "lm_head.weight", []),
    ],
)
def test_the_likely_shards(files: list[str], name: str, expected: list[str]) -> None:
    found = tables.likely(tuple(f"{file}.safetensors" for file in files), name)
    assert [path.removesuffix(".safetensors") for path in found] == expected


def test_find_guesses_around_a_large_index() -> None:
    files = large(where="model-00001-of-00004.safetensors")
    it, source = checkpoint(files)
    found = it.find_tensor("model.embed_tokens.weight")
    assert source.inner.files[INDEX].size > 1024 * 1024
    assert found is not None
    # BF16 comes first in the file, so that the first bytes of the header show it.
    assert source.reads == [("model-00001-of-00004.safetensors", 0, 64 * 1024)]
    assert it.tensors["model.embed_tokens.weight"] == found


def test_find_opens_a_large_index_at_last() -> None:
    it, source = checkpoint(large(where="model-00003-of-00004.safetensors"))
    found = it.find_tensor("model.embed_tokens.weight")
    assert found is not None
    assert found.file == "model-00003-of-00004.safetensors"
    assert source.opened == [*(f"model-0000{n}-of-00004.safetensors" for n in (1, 3, 4)), INDEX]
    assert len(source.reads) == 7  # two for each header, none of its bytes twice, and the index
    assert it.find_tensor("absent") is None
    assert len(source.reads) == 7


EMBEDDING = re.compile(r"embed_tokens\.weight$")


def test_a_glimpse_of_a_repository_is_one_read() -> None:
    it, source = checkpoint(large(where="model-00001-of-00004.safetensors"))
    (found,) = it.glimpse(EMBEDDING)
    assert source.reads == [("model-00001-of-00004.safetensors", 0, 96 * 1024)]
    assert it.glimpse(EMBEDDING) == (found,)
    assert len(source.reads) == 1
    assert it.tensors["model.embed_tokens.weight"] == found
    assert it.glimpse(EMBEDDING) == (found,)  # out of the table now


def test_a_glimpse_sees_no_other_shard() -> None:
    it, source = checkpoint(large(where="model-00003-of-00004.safetensors"))
    assert it.glimpse(EMBEDDING) == ()
    assert len(source.reads) == 1


def test_of_a_folder_every_shard_is_within_reach() -> None:
    it, source = checkpoint(large(where="model-00003-of-00004.safetensors"), kind="local")
    (found,) = it.glimpse(EMBEDDING)
    assert found.file == "model-00003-of-00004.safetensors"
    assert source.opened == ["model-00001-of-00004.safetensors", "model-00003-of-00004.safetensors", INDEX]
    assert it.glimpse(re.compile("absent")) == ()


def test_a_glimpse_into_a_folder_with_a_shard_gone() -> None:
    it, _ = checkpoint({INDEX: index(a="1.safetensors", b="2.safetensors"), "1.safetensors": shard("a")}, kind="local")
    assert it.glimpse(re.compile("^b$")) == ()


@pytest.mark.parametrize("kind", ["hub", "local"])
def test_nothing_to_glimpse_at(kind: Literal["hub", "local"]) -> None:
    it, _ = checkpoint({"model.gguf": b"GGUF"}, kind=kind)
    with pytest.raises(Unavailable) as caught:
        it.glimpse(EMBEDDING)
    assert caught.value.trouble is Trouble.NOT_SAFETENSORS


def test_find_in_a_missing_shard() -> None:
    it, _ = checkpoint({INDEX: index(a="1.safetensors", b="2.safetensors"), "1.safetensors": shard("a")})
    for _ in range(2):
        with pytest.raises(Unavailable) as caught:
            it.find_tensor("b")
        assert caught.value.trouble is Trouble.MISSING
        assert "2.safetensors" in caught.value.what
        assert list(it.tensors) == ["a"]  # the second time the table is there already
    assert it.find_tensor("c") is None


def test_find_where_every_shard_of_a_large_index_is_missing() -> None:
    it, _ = checkpoint({INDEX: large(where="")[INDEX]})
    with pytest.raises(Unavailable) as caught:
        it.find_tensor("model.layers.1.experts.0.weight")
    assert caught.value.trouble is Trouble.MISSING


# The vocabulary map.


def packed(code: str, values: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(values)}{code}", *values)


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("I64", packed("q", [0, 2, 5])),
        ("I32", packed("i", [0, 2, 5])),
        ("I16", packed("h", [0, 2, 5])),
        ("I8", packed("b", [0, 2, 5])),
        ("U64", packed("Q", [0, 2, 5])),
        ("U32", packed("I", [0, 2, 5])),
        ("U16", packed("H", [0, 2, 5])),
        ("U8", packed("B", [0, 2, 5])),
        ("F64", packed("d", [0, 2, 5])),
        ("F32", packed("f", [0, 2, 5])),
        ("F16", packed("e", [0, 2, 5])),
        ("BF16", b"".join(packed("f", [value])[2:] for value in (0, 2, 5))),
    ],
)
def test_d2t_is_decoded(dtype: str, data: bytes) -> None:
    it, _ = checkpoint(
        {"model.safetensors": tensors({"d2t": (dtype, (3,)), "fc.weight": ("BF16", (1,))}, {"d2t": data})}
    )
    assert it.vocab_map.d2t == (0, 2, 5)
    assert it.vocab_map.targets == (0, 3, 7)
    assert it.vocab_map.drafted is None
    assert it.vocab_map.d2t_tensor == it.tensors["d2t"]


def test_negative_offsets_are_kept() -> None:
    it, _ = checkpoint({"model.safetensors": tensors({"d2t": ("I64", (2,))}, {"d2t": packed("q", [-7, 2**62])})})
    assert it.vocab_map.d2t == (-7, 2**62)


@pytest.mark.parametrize("value", [0.5, float("nan"), float("inf")])
def test_a_d2t_that_holds_no_integers(value: float) -> None:
    it, _ = checkpoint({"model.safetensors": tensors({"d2t": ("F32", (2,))}, {"d2t": packed("f", [1, value])})})
    with pytest.raises(Unavailable) as caught:
        _ = it.vocab_map
    assert caught.value.trouble is Trouble.MALFORMED
    assert f"[1] = {value} is no integer (dtype F32)" in caught.value.detail


def test_a_d2t_of_a_dtype_without_integers() -> None:
    it, _ = checkpoint({"model.safetensors": tensors({"d2t": ("F8_E4M3", (2,))})})
    with pytest.raises(Unavailable) as caught:
        _ = it.vocab_map
    assert "dtype F8_E4M3" in caught.value.detail


@pytest.mark.parametrize(("dtype", "code"), [("BOOL", "B"), ("U8", "B"), ("I64", "q")])
def test_t2d_is_the_set_of_drafted_ids(dtype: str, code: str) -> None:
    declared = {"model.t2d": (dtype, (5,)), "model.d2t": ("I64", (2,))}
    values = {"model.t2d": packed(code, [0, 1, 0, 0, 1]), "model.d2t": packed("q", [1, 3])}
    it, _ = checkpoint({"model.safetensors": tensors(declared, values)})
    assert it.vocab_map.drafted == (1, 4)
    assert it.vocab_map.t2d_length == 5
    assert it.vocab_map.targets == (1, 4)


def test_the_plain_name_comes_before_a_prefixed_one() -> None:
    declared = {"a.d2t": ("I64", (1,)), "d2t": ("I64", (1,)), "not_d2t": ("I64", (1,))}
    it, _ = checkpoint({"model.safetensors": tensors(declared, {"d2t": packed("q", [9])})})
    assert it.vocab_map.d2t == (9,)


def test_a_large_map_is_not_read() -> None:
    it, source = checkpoint({"model.safetensors": tensors({"d2t": ("I64", (2**19 + 1,))})})
    with pytest.raises(Unavailable) as caught:
        _ = it.vocab_map
    assert caught.value.trouble is Trouble.TOO_LARGE
    assert len(source.reads) == 1


def test_only_the_maps_own_bytes_are_read() -> None:
    declared = {"d2t": ("I64", (3,)), "lm_head.weight": ("BF16", (32000, 7168)), "t2d": ("BOOL", (6,))}
    it, source = checkpoint({"model.safetensors": tensors(declared, {"t2d": b"\1\0\0\0\0\1"})})
    assert it.vocab_map.drafted == (0, 5)
    assert sorted(length for _, _, length in source.reads[1:]) == [6, 24]


# Configuration, card, other documents.


def test_a_missing_config() -> None:
    it, _ = checkpoint({"draft/config.json": b"{}"})
    with pytest.raises(Unavailable) as caught:
        _ = it.config
    assert caught.value.trouble is Trouble.MISSING
    assert "draft" in caught.value.hint


def test_a_large_config_is_not_fetched() -> None:
    it, source = checkpoint({"config.json": VirtualFile(4 * 2**20 + 1)})
    with pytest.raises(Unavailable) as caught:
        _ = it.config
    assert caught.value.trouble is Trouble.TOO_LARGE
    assert source.reads == []


def test_a_config_knows_whose_it_is() -> None:
    it, _ = checkpoint({"config.json": b'{"hidden_size": 7168}'})
    place = it.config.at("hidden_size")
    assert (place.role, place.subject, place.file, place.line) == ("drafter", "a/b @ 0123456", "config.json", 1)


def test_other_documents() -> None:
    it, source = checkpoint({"hf_quant_config.json": b'{"quantization": {"quant_algo": "NVFP4"}}'})
    document = it.other_json("hf_quant_config.json")
    assert document is not None
    assert document.file == "hf_quant_config.json"
    assert it.other_json("hf_quant_config.json") is document
    assert it.other_json("absent.json") is None
    assert len(source.reads) == 1


def test_a_long_card_is_cut() -> None:
    it, source = checkpoint({"README.md": VirtualFile(10**9, ((0, b"# card"),))})
    card = it.card
    assert card is not None
    assert card.startswith("# card")
    assert source.reads == [("README.md", 0, 256 * 1024)]


def test_no_card() -> None:
    it, _ = checkpoint({})
    assert it.card is None
    assert it.card_front_matter == ()


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("base_model: a/b", [("a/b", 3, 13)]),
        ("base_model:   'a/b'   # target", [("a/b", 3, 16)]),
        ('base_model: "a/b"', [("a/b", 3, 14)]),
        ("base_model:\n- a/b\n# note\n-   c/d\ntags:\n- x", [("a/b", 4, 3), ("c/d", 6, 5)]),
        ("base_model:\n  - a/b", [("a/b", 4, 5)]),
        ("base_model: [a/b, 'c/d']", [("a/b", 3, 14), ("c/d", 3, 20)]),
        ("base_model: # below\n- a/b", [("a/b", 4, 3)]),
        ("base_model_relation: finetune", []),
        ("  base_model: a/b", []),
        ("base_model: {a: b}", []),
        ("base_model: &x a/b", []),
        ("base_model: |\n  a/b", []),
        ("base_model: [a/b", []),
        ("base_model:\n- name: a/b", []),
        ("base_model:\n- x/y\n- name: a/b", []),
        ("base_model: [a/b 'c/d']", []),
        ("base_model:\n", []),
        ("base_model: ''", []),
        ("base_model: a b", []),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_base_model(front: str, expected: list[tuple[str, int, int]], newline: str) -> None:
    text = f"---\nlicense: mit\n{front}\n---\nbase_model: not/this\n".replace("\n", newline)
    it, _ = checkpoint({"README.md": text.encode()})
    assert [(found.value, found.at.line, found.at.column) for found in it.card_front_matter] == expected
    assert all(found.at.width == len(found.value) for found in it.card_front_matter)


@pytest.mark.parametrize("text", ["base_model: a/b", "---\nbase_model: a/b\n", "\n---\nbase_model: a/b\n---\n"])
def test_no_front_matter(text: str) -> None:
    it, _ = checkpoint({"README.md": text.encode()})
    assert it.card_front_matter == ()
