"""Headers of safetensors files: every law of the format has a case that breaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
import safetensors

from drafter_lint.checkpoint import header as headers
from drafter_lint.checkpoint.header import Header, HeaderReader
from drafter_lint.checkpoint.tensors import DTYPE_BITS
from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import Trouble, Unavailable, UsageError
from drafter_lint.sources.base import FileEntry, Identity
from drafter_lint.sources.memory import MemorySource, VirtualFile

F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1234567\n"


class Recording:
    """A source that remembers what was read."""

    def __init__(self, inner: MemorySource) -> None:
        self.inner = inner
        self.reads: list[tuple[str, int, int]] = []

    @property
    def identity(self) -> Identity:
        return self.inner.identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        return self.inner.files

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        data = self.inner.read(path, start, length)
        self.reads.append((path, start, len(data)))
        return data


def whole(header: object, data: int = 0) -> bytes:
    text = header if isinstance(header, str) else json.dumps(header)
    body = text.encode("utf-8", "surrogatepass")
    return len(body).to_bytes(8, "little") + body + bytes(data)


def reference_reader(content: bytes) -> dict[str, tuple[str, tuple[int, ...]]]:
    found = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
    return {name: (fields["dtype"], tuple(fields["shape"])) for name, fields in found}


def read(content: bytes | VirtualFile) -> Header:
    return HeaderReader(MemorySource("a/b", {"m.safetensors": content})).read("m.safetensors")


def entry(shape: object = (2,), offsets: object = (0, 8), dtype: object = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


BROKEN: dict[str, tuple[bytes, str]] = {
    "short": (b"\0\0\0", "a file of 3 bytes is too short"),
    "empty": (b"", "a file of 0 bytes is too short"),
    "length-past-end": (
        (900).to_bytes(8, "little") + b"{}",
        "header length 900 runs past the end of a file of 10 bytes",
    ),
    "length-over-format": (b"<!doctype html>", "over the format's 100000000 bytes"),
    "no-header": (bytes(8), "not JSON"),
    "not-json": (whole("{'a': 1}"), "not JSON"),
    "not-utf8": (b"\x04" + bytes(7) + b'{"\xff"', "not UTF-8: byte 0xff at offset 2"),
    "nan": (whole('{"a": NaN}'), "NaN is no JSON value"),
    "byte-order-mark": (whole("\ufeff{}"), "not JSON"),
    "nested": (whole("[" * 200_000), "nested far deeper"),
    "digits": (whole('{"a": ' + "1" * 5000 + "}"), "thousands of digits"),
    "not-an-object": (whole([F32]), "the header is no JSON object"),
    "duplicate-name": (whole(f'{{"fc": {json.dumps(F32)}, "fc": {json.dumps(F32)}}}', 8), "'fc' is declared more"),
    "duplicate-field": (whole('{"a": {"dtype": "F32", "dtype": "F16"}}'), "'dtype' is declared more than once"),
    "entry": (whole({"a": 1}), "'a' is no object"),
    "no-dtype": (whole({"a": {"shape": [], "data_offsets": [0, 0]}}), "'a' has no dtype"),
    "no-shape": (whole({"a": {"dtype": "U8", "data_offsets": [0, 0]}}), "shape of 'a' is no list"),
    "no-offsets": (whole({"a": {"dtype": "U8", "shape": []}}), "data_offsets of 'a' is no list"),
    "negative": (whole({"a": entry((-2,))}, 8), "shape of 'a' holds the negative number -2"),
    "fraction": (whole({"a": entry((2.0,))}, 8), "shape of 'a' holds '2.0', which is no integer"),
    "boolean": (whole({"a": entry((True,), (0, 4))}, 4), "shape of 'a' holds 'true', which is no integer"),
    "huge": (whole({"a": entry((2**64, 0), (0, 0))}), "shape of 'a' holds a number of 65 bits"),
    "overflow": (whole({"a": entry((2**40, 2**40))}, 8), "has more elements than 63 bits can count"),
    "overflow-hidden-by-zero": (whole({"a": entry((2**40, 2**40, 0), (0, 0))}), "more elements than 63 bits"),
    "three-offsets": (whole({"a": entry(offsets=(0, 8, 9))}, 8), "data_offsets of 'a' holds 3 numbers, not 2"),
    "reversed": (whole({"a": entry(offsets=(8, 0))}, 8), "data_offsets of 'a' are reversed: [8, 0]"),
    "overlap": (
        whole({"a": entry(), "b": entry(offsets=(4, 12))}, 12),
        "overlap in the data: 'a' ends at 8, 'b' starts at 4",
    ),
    "same-bytes": (whole({"a": entry(), "b": entry()}, 8), "overlap in the data: 'a' ends at 8, 'b' starts at 0"),
    "hole": (
        whole({"a": entry(), "b": entry(offsets=(12, 20))}, 20),
        "hole in the data: 'a' ends at 8, 'b' starts at 12",
    ),
    "late-start": (whole({"a": entry(offsets=(4, 12))}, 12), "the data starts at 0, 'a' starts at 4"),
    "truncated": (whole({"a": entry()}, 5), "incomplete: header needs 77 bytes, file has 74; 'a' ends past it"),
    "longer": (whole({"a": entry()}, 9), "header accounts for 77 bytes, file has 78"),
    "size": (whole({"a": entry(dtype="F16")}, 8), "'a' F16 [2] takes 4 bytes, its data_offsets span 8"),
    "half-byte": (whole({"a": entry((3,), (0, 1), "F4")}, 1), "'a' F4 [3] takes 1.5 bytes"),
    "metadata": (whole({"__metadata__": [], "a": F32}, 8), "__metadata__ is no object"),
    "metadata-value": (whole({"__metadata__": {"k": 1}, "a": F32}, 8), "__metadata__['k'] is no string"),
}


@pytest.mark.parametrize(("content", "told"), BROKEN.values(), ids=BROKEN)
def test_a_broken_law_is_named(content: bytes, told: str) -> None:
    with pytest.raises(Unavailable) as caught:
        read(content)
    assert caught.value.trouble is Trouble.MALFORMED
    assert caught.value.what == "a/b: m.safetensors"
    assert told in caught.value.detail


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "duplicate-name"])
def test_the_reference_reader_refuses_it_too(name: str) -> None:
    # A duplicate name is the one law the format's own reader does not hold files to.
    with pytest.raises(safetensors.SafetensorError):
        reference_reader(BROKEN[name][0])


GOOD: dict[str, bytes] = {
    "plain": whole({"a": F32}, 8),
    "padded": whole(json.dumps({"a": F32}) + "  \n", 8),
    "leading-space": whole("  " + json.dumps({"a": F32}), 8),
    "no-tensors": whole({}),
    "scalar": whole({"a": entry((), (0, 4))}, 4),
    "zero-elements": whole({"a": F32, "b": entry((0,), (8, 8)), "c": entry((0, 2**62), (8, 8), "U8")}, 8),
    "null-metadata": whole({"__metadata__": None, "a": F32}, 8),
    "other-fields": whole({"a": {**F32, "note": [[[[]]]]}}, 8),
    "data-order": whole({"b": entry(offsets=(8, 16)), "a": entry()}, 16),
}


@pytest.mark.parametrize("content", GOOD.values(), ids=GOOD)
def test_what_the_reference_reader_accepts_is_accepted(content: bytes) -> None:
    assert {tensor.name: (tensor.dtype, tensor.shape) for tensor in read(content).tensors} == reference_reader(content)


def test_offsets_are_absolute_and_in_the_order_of_the_data() -> None:
    header = read(GOOD["data-order"])
    start = len(GOOD["data-order"]) - 16
    assert [(t.name, t.start, t.end, t.file) for t in header.tensors] == [
        ("a", start, start + 8, "m.safetensors"),
        ("b", start + 8, start + 16, "m.safetensors"),
    ]


def test_an_unknown_dtype_is_kept() -> None:
    (tensor,) = read(whole({"a": entry((3,), (0, 5), "F12_NEW")}, 5)).tensors
    assert (tensor.dtype, tensor.shape, tensor.end - tensor.start) == ("F12_NEW", (3,), 5)


def test_a_git_lfs_pointer_is_no_broken_file() -> None:
    with pytest.raises(Unavailable) as caught:
        read(POINTER)
    assert caught.value.trouble is Trouble.LFS_POINTER
    assert "1234567 bytes" in caught.value.detail


@pytest.mark.parametrize(
    "header",
    [
        "{" + ",".join(f'"{n}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}' for n in range(11)) + "}",
        '{"a": [' + "[]," * 1000 + "[]]}",
    ],
    ids=["tensors", "values"],
)
def test_too_much_is_not_read(header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "MAX_TENSORS", 10)
    with pytest.raises(Unavailable) as caught:
        read(whole(header))
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_a_header_over_the_bound_is_not_fetched() -> None:
    length = headers.MAX_BYTES + 1
    source = Recording(
        MemorySource("a/b", {"m.safetensors": VirtualFile(2 * length, ((0, length.to_bytes(8, "little")),))})
    )
    with pytest.raises(Unavailable) as caught:
        HeaderReader(source).read("m.safetensors")
    assert caught.value.trouble is Trouble.TOO_LARGE
    assert source.reads == [("m.safetensors", 0, headers.FIRST_READ)]


def test_a_gigabyte_costs_one_read() -> None:
    start, offsets = safetensors_header(
        {"fc.weight": ("BF16", (7168, 21504)), "lm_head.weight": ("BF16", (32000, 7168))}
    )
    size = len(start) + max(end for _, end in offsets.values())
    source = Recording(MemorySource("a/b", {"m.safetensors": VirtualFile(size, ((0, start),))}))
    assert len(HeaderReader(source).read("m.safetensors").tensors) == 2
    assert size > 700_000_000
    assert source.reads == [("m.safetensors", 0, headers.FIRST_READ)]


def test_a_long_header_costs_one_more_exact_read_and_the_next_file_none() -> None:
    tensors = {f"layers.{n}.weight": ("U8", (1,)) for n in range(3000)}
    start, _ = safetensors_header(tensors)
    content = VirtualFile(len(start) + 3000, ((0, start),))
    source = Recording(MemorySource("a/b", {"1.safetensors": content, "2.safetensors": content}))
    reader = HeaderReader(source)
    first = reader.read("1.safetensors")
    assert [length for _, _, length in source.reads] == [headers.FIRST_READ, len(start) - headers.FIRST_READ]
    reader.expect(first.length)
    reader.read("2.safetensors")
    assert len(source.reads) == 3


def test_equal_shapes_are_kept_once() -> None:
    a, b = read(whole({"a": entry((1, 2)), "b": entry((1, 2), (8, 16))}, 16)).tensors
    assert a.shape is b.shape


def test_a_written_header_is_what_the_reference_reader_reads() -> None:
    tensors = {name: (name, (2, 4)) for name in DTYPE_BITS}
    start, offsets = safetensors_header(tensors, {"format": "pt"})
    content = start + bytes(max(end for _, end in offsets.values()))
    assert len(start) % 8 == 0
    assert reference_reader(content) == tensors
    header = read(content)
    assert header.metadata == {"format": "pt"}
    assert {t.name: (t.start - len(start), t.end - len(start)) for t in header.tensors} == offsets


def test_wide_dtypes_come_first_then_names() -> None:
    _, offsets = safetensors_header(
        {"t2d": ("BOOL", (4,)), "b": ("BF16", (1,)), "a": ("BF16", (1,)), "d2t": ("I64", (1,))}
    )
    assert sorted(offsets, key=lambda name: offsets[name]) == ["d2t", "a", "b", "t2d"]


@pytest.mark.parametrize("tensor", [("F99", (1,)), ("F4", (3,))])
def test_what_cannot_be_written_is_refused(tensor: tuple[str, tuple[int, ...]]) -> None:
    with pytest.raises(UsageError):
        safetensors_header({"a": tensor})


def test_a_name_cannot_forge_a_message() -> None:
    with pytest.raises(Unavailable) as caught:
        read(whole('{"\\u001b[31m\\ud800' + "x" * 500 + '": 1}'))
    assert caught.value.detail.isprintable()
    assert len(caught.value.detail) < 200
    caught.value.detail.encode()
