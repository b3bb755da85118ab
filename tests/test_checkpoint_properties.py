"""Properties of the readers: they agree with the plain ones on good input, and never fall over on bad."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable
from typing import Any, TypeVar

import safetensors
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drafter_lint.checkpoint import Checkpoint, Document
from drafter_lint.checkpoint.header import HeaderReader
from drafter_lint.checkpoint.index import parse_index
from drafter_lint.checkpoint.scanner import scan
from drafter_lint.checkpoint.tensors import DTYPE_BITS
from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources.memory import MemorySource

quick = settings(max_examples=100, deadline=None)

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(st.text(max_size=6), values, max_size=5)
# Pieces of JSON in any order reach deeper into a reader than random bytes do.
words = """{ } [ ] , : " \\ "a" "\\u00 1 - 0 .5 e9 NaN tru true null Infinity / é {"a": "dtype":"F32" "shape":[1] 'a'"""
pieces = st.lists(st.sampled_from([*words.split(), " ", "\n", "\r", "\x00", "\u2028", "99" * 400]), max_size=30).map(
    lambda parts: "".join(parts).encode()
)
junk = st.binary(max_size=200) | pieces


T = TypeVar("T")


def attempt(read: Callable[[], T]) -> T | Trouble:
    """What was read, or why it could not be; anything but Unavailable is an error."""
    try:
        return read()
    except Unavailable as unavailable:
        return unavailable.trouble


def document(data: bytes) -> Document:
    return scan(data, file="config.json", subject="a/b", role="target")


@quick
@given(objects, st.sampled_from([None, 0, 2, "\t"]), st.booleans())
def test_a_valid_document_is_read_as_json_reads_it(
    value: dict[str, Any], indent: int | str | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = document(text.encode())
    assert found.problems == ()
    assert found.root == json.loads(text)
    assert repr(found.root) == repr(json.loads(text))  # 1 and 1.0 and True are not the same value


@quick
@given(objects, st.sampled_from([None, 1]))
def test_every_place_holds_its_value(value: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    found = document(text.encode())

    def check(node: Any, pointer: str) -> int:
        span = found.spans[pointer]
        written = found.lines[span.line - 1][span.column - 1 :][: span.width]
        if isinstance(node, dict):
            return 1 + sum(check(node[key], f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}") for key in node)
        if isinstance(node, list):
            return 1 + sum(check(item, f"{pointer}/{at}") for at, item in enumerate(node))
        assert written == json.dumps(node, ensure_ascii=False)
        return 1

    assert check(json.loads(text), "") == len(found.spans)


@quick
@given(junk)
@example(b"")
@example(b'{"a":"\\ud800"}')
def test_no_document_falls_over(data: bytes) -> None:
    found = attempt(lambda: document(data))
    assert isinstance(found, Document), found
    try:
        strict = json.loads(data.decode(), parse_constant=lambda _: math.nan)
    except ValueError:
        assert found.problems
    else:
        clean = {problem.kind for problem in found.problems} <= {"duplicate-key", "not-finite"}
        assert clean or not isinstance(strict, dict)
    for problem in found.problems:
        if problem.span:
            assert 1 <= problem.span.line <= len(found.lines)
            assert 1 <= problem.span.column <= len(found.lines[problem.span.line - 1]) + 1


shapes = st.lists(st.integers(0, 5), max_size=3)
tables = st.dictionaries(
    st.text(min_size=1, max_size=6).filter(lambda name: name != "__metadata__"),
    st.tuples(st.sampled_from(sorted(d for d, bits in DTYPE_BITS.items() if bits >= 8)), shapes),
    max_size=6,
)


def read_header(content: bytes) -> dict[str, tuple[str, tuple[int, ...]]]:
    header = HeaderReader(MemorySource("a/b", {"m.safetensors": content})).read("m.safetensors")
    return {tensor.name: (tensor.dtype, tensor.shape) for tensor in header.tensors}


def reference_reader(content: bytes) -> dict[str, tuple[str, tuple[int, ...]]]:
    found = safetensors.deserialize(content)  # type: ignore[no-untyped-call]
    return {name: (fields["dtype"], tuple(fields["shape"])) for name, fields in found}


@quick
@given(tables, st.none() | st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2))
def test_what_is_written_is_read(table: dict[str, tuple[str, list[int]]], metadata: dict[str, str] | None) -> None:
    start, offsets = safetensors_header(table, metadata)
    content = start + bytes(max((end for _, end in offsets.values()), default=0))
    expected = {name: (dtype, tuple(shape)) for name, (dtype, shape) in table.items()}
    assert read_header(content) == reference_reader(content) == expected


numbers = st.integers(-1, 24) | st.sampled_from([2**31, 2**62, 2**64, 1.0, True, None, "4"])
entries = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F32", "U8", "F4", "BOOL"]),
        "shape": st.lists(numbers, max_size=3),
        "data_offsets": st.lists(numbers, min_size=2, max_size=2) | st.lists(numbers, max_size=3),
    }
)


@quick
@given(st.dictionaries(st.sampled_from("abc"), entries, max_size=3), st.integers(0, 24))
@example({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, 8)
def test_the_laws_are_those_of_the_reference_reader(header: dict[str, object], data: int) -> None:
    body = json.dumps(header).encode()
    content = len(body).to_bytes(8, "little") + body + bytes(data)
    try:
        expected = reference_reader(content)
    except safetensors.SafetensorError:
        expected = None
    assert attempt(lambda: read_header(content)) == (Trouble.MALFORMED if expected is None else expected)


@quick
@given(junk, st.binary(max_size=16), st.integers(-2, 20))
def test_no_header_falls_over(body: bytes, data: bytes, error: int) -> None:
    length = max(0, len(body) + error).to_bytes(8, "little")
    for content in (body, length + body + data):
        found = attempt(functools.partial(read_header, content))
        assert isinstance(found, dict) or found is Trouble.MALFORMED


@quick
@given(
    junk
    | st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.none()).map(
        lambda m: json.dumps({"weight_map": m}).encode()
    )
)
def test_no_index_falls_over(data: bytes) -> None:
    found = attempt(lambda: parse_index(data, file="i.json", what="a/b: i.json"))
    if isinstance(found, Trouble):
        assert found is Trouble.MALFORMED
    else:
        assert not any(".." in shard.split("/") or shard.startswith("/") for shard in found.shards)


@quick
@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(["---\n", "base_model:", " a/b", "[", "]", "- ", "\n", '"', "'", "#", ",", "  "]), max_size=20
    ).map("".join)
)
@example("---\nbase_model: [a, b]\n---\n")
def test_no_card_falls_over(text: str) -> None:
    source = MemorySource("a/b", {"README.md": text.encode("utf-8", "replace")})
    checkpoint = Checkpoint(Reference(spelling="a/b", kind="hub", name="a/b"), source, role="drafter")
    for found in checkpoint.card_front_matter:
        assert found.at.text is not None
        assert found.at.column is not None
        assert found.at.text[found.at.column - 1 :].startswith(found.value)
