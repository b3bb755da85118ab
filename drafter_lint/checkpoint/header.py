"""The header of a safetensors file, read in one or two bounded reads and held to every law of the format."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.bounded_json import shown, unique
from drafter_lint.checkpoint.tensors import DTYPE_BITS, Tensor
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.base import Source
from drafter_lint.sources.lfs import lfs_pointer

#: The first read of a file. A drafter's header is about 2 kB and a dense shard's about 15 kB, so one read nearly always
#: covers it; a shard of a large mixture of experts (about 1 MB) takes a second, exact one.
FIRST_READ = 64 * 1024
#: The one read that a glimpse may cost.
GLIMPSE = 96 * 1024
#: The format allows 100,000,000 bytes; the largest published headers are near 1 MB and hold 3,500 tensors.
FORMAT_MAX = 100_000_000
MAX_BYTES = 16 * 1024 * 1024
MAX_TENSORS = 100_000
_LIMIT = 2**63
_ENTRY = re.compile(rb'"([A-Za-z0-9_./-]+)"\s*:\s*(\{[^{}]*\})')

Shapes = dict[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What one file declares.

    Attributes:
        tensors: in the order of their data.
        metadata: the ``__metadata__`` object.
        length: bytes of JSON, padding included.
    """

    tensors: tuple[Tensor, ...]
    metadata: Mapping[str, str]
    length: int


class HeaderReader:
    """Reads the headers of one checkpoint's files; what many tensors share is kept once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._shapes: Shapes = {}
        # Parsing holds the interpreter anyway; one at a time keeps the intermediate objects of one header in memory.
        self._parsing = Lock()
        self._peeked: dict[str, bytes] = {}
        self.first_read = FIRST_READ

    def expect(self, length: int) -> None:
        """Size the first read of the next files after a sibling's header: shards of one model are alike."""
        self.first_read = min(max(FIRST_READ, 8 + length + length // 16), 2 * 1024 * 1024)

    def read(self, path: str) -> Header:
        """The header of ``path``.

        Raises:
            Unavailable: the file cannot be read, is a Git LFS pointer, is over our bounds, or breaks a law.
        """
        what = f"{self._source.identity.shown}: {path}"
        size = self._source.files[path].size
        start = self._peeked.pop(path, None) or self._source.read(path, 0, min(size, self.first_read))
        length = header_length(start, size=size, what=what)
        missing = 8 + length - len(start)
        raw = start[8 : 8 + length]
        if missing > 0:
            raw += self._source.read(path, len(start), missing)
        with self._parsing:
            return parse_header(raw, file=path, size=size, what=what, shapes=self._shapes)

    def peek(self, path: str, name: str) -> Tensor | None:
        """One tensor if the first read of the file happens to show it, None if it does not.

        A shard of a large mixture of experts has a header near 1 MB; what comes early in it need not cost that. Laws
        that take the whole header are not checked.
        """
        what = f"{self._source.identity.shown}: {path}"
        size = self._source.files[path].size
        start = self._peeked[path] = self._source.read(path, 0, min(size, FIRST_READ))
        length = header_length(start, size=size, what=what)
        literal = json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")
        entry = re.search(re.escape(literal) + rb"\s*:\s*(\{[^{}]*\})", start[: 8 + length])
        if entry is None:
            return None
        fields = bounded_json.parse(entry[1], what=what, values=100, pairs=unique)
        return _tensor(name, fields, data=8 + length, file=path, what=what, shapes=self._shapes)

    def glimpse(self, path: str, name: re.Pattern[str]) -> tuple[Tensor, ...]:
        """The tensors whose plain names match, as far as one read of the file shows them; laws as in :meth:`peek`."""
        what = f"{self._source.identity.shown}: {path}"
        size = self._source.files[path].size
        start = self._peeked.get(path) or self._source.read(path, 0, min(size, GLIMPSE))
        self._peeked[path] = start
        length = header_length(start, size=size, what=what)
        found: list[Tensor] = []
        for entry in _ENTRY.finditer(start[: 8 + length]):
            if name.search(spelled := entry[1].decode("ascii")):
                fields = bounded_json.parse(entry[2], what=what, values=100, pairs=unique)
                found.append(_tensor(spelled, fields, data=8 + length, file=path, what=what, shapes=self._shapes))
        return tuple(found)


def refuse_lfs_pointer(start: bytes, *, what: str) -> None:
    """Raise :class:`Unavailable` if a file starts as a Git LFS pointer."""
    pointer = lfs_pointer(start)
    if pointer is not None:
        detail = f"a Git LFS pointer stands in place of {pointer.size} bytes"
        raise Unavailable(Trouble.LFS_POINTER, what, detail, hint="git lfs pull fetches the content")


def header_length(start: bytes, *, size: int, what: str) -> int:
    """The length of the JSON part, from the first bytes of a file of ``size`` bytes.

    Raises:
        Unavailable: no safetensors file starts like this.
    """
    refuse_lfs_pointer(start, what=what)
    if size < 8:
        raise _broken(what, f"a file of {size} bytes is too short for the 8-byte header length")
    length = int.from_bytes(start[:8], "little")
    if length > FORMAT_MAX:
        raise _broken(what, f"header length {length} is over the format's {FORMAT_MAX} bytes")
    if 8 + length > size:
        raise _broken(what, f"incomplete: header length {length} runs past the end of a file of {size} bytes")
    if length > MAX_BYTES:
        raise Unavailable(Trouble.TOO_LARGE, what, f"header of {length} bytes, over the bound of {MAX_BYTES}")
    return length


def parse_header(raw: bytes, *, file: str, size: int, what: str, shapes: Shapes) -> Header:
    """Parse the JSON part of a file of ``size`` bytes.

    Args:
        raw: the JSON, padding included.
        file: path of the file.
        size: its size, header included.
        what: the file as shown in an error.
        shapes: where equal shapes are looked up so that they are kept once.

    Raises:
        Unavailable: the header breaks a law of the format, or is over our bounds.
    """
    root = bounded_json.parse(raw, what=what, values=16 * MAX_TENSORS, pairs=unique)
    if not isinstance(root, dict):
        raise _broken(what, "the header is no JSON object")
    metadata = _metadata(root.pop("__metadata__", None), what=what)
    if len(root) > MAX_TENSORS:
        raise Unavailable(Trouble.TOO_LARGE, what, f"{len(root)} tensors, over the bound of {MAX_TENSORS}")
    data = 8 + len(raw)
    tensors: list[Tensor] = []
    while root:
        name, fields = root.popitem()
        tensors.append(_tensor(name, fields, data=data, file=file, what=what, shapes=shapes))
    tensors.sort(key=attrgetter("start", "end", "name"))
    _covers(tensors, data=data, size=size, what=what)
    return Header(tensors=tuple(tensors), metadata=metadata, length=len(raw))


def _broken(what: str, detail: str) -> Unavailable:
    return Unavailable(Trouble.MALFORMED, what, detail)


def _metadata(value: object, *, what: str) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _broken(what, "__metadata__ is no object")
    kept: dict[str, str] = {}
    for key, text in value.items():
        if not isinstance(text, str):
            raise _broken(what, f"__metadata__[{shown(key)}] is no string")
        kept[key] = text
    return kept


def _tensor(name: str, fields: object, *, data: int, file: str, what: str, shapes: Shapes) -> Tensor:
    if not isinstance(fields, dict):
        raise _broken(what, f"{shown(name)} is no object")
    dtype = fields.get("dtype")
    if not isinstance(dtype, str):
        raise _broken(what, f"{shown(name)} has no dtype")
    shape = _integers(name, "shape", fields.get("shape"), what=what)
    offsets = _integers(name, "data_offsets", fields.get("data_offsets"), what=what)
    if len(offsets) != 2:
        raise _broken(what, f"data_offsets of {shown(name)} holds {len(offsets)} numbers, not 2")
    start, end = offsets
    if end < start:
        raise _broken(what, f"data_offsets of {shown(name)} are reversed: [{start}, {end}]")
    _measures(name, dtype, shape, length=end - start, what=what)
    return Tensor(
        name=sys.intern(name),  # the index holds it too
        dtype=sys.intern(dtype),
        shape=shapes.setdefault(shape, shape),
        file=file,
        start=data + start,
        end=data + end,
    )


def _integers(name: str, field: str, value: object, *, what: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _broken(what, f"{field} of {shown(name)} is no list")
    for number in value:
        if not isinstance(number, int) or isinstance(number, bool):
            told = f"holds {shown(json.dumps(number))}, which is no integer"
        elif number < 0:
            told = f"holds the negative number {number}"
        elif number >= _LIMIT:
            told = f"holds a number of {number.bit_length()} bits; 63 are allowed"
        else:
            continue
        raise _broken(what, f"{field} of {shown(name)} {told}")
    return tuple(value)


def _measures(name: str, dtype: str, shape: tuple[int, ...], *, length: int, what: str) -> None:
    width = DTYPE_BITS.get(dtype)
    bits = width or 1
    for dimension in shape:
        bits *= dimension
        if bits >= _LIMIT:
            raise _broken(what, f"{shown(name)} {_listed(shape)} has more elements than 63 bits can count")
    if width is not None and bits != 8 * length:
        need = f"{bits // 8}" if bits % 8 == 0 else f"{bits / 8}"
        told = f"{shown(name)} {dtype} {_listed(shape)} takes {need} bytes, its data_offsets span {length}"
        raise _broken(what, told)


def _listed(shape: tuple[int, ...]) -> str:
    return str(list(shape)) if len(shape) <= 16 else f"of {len(shape)} dimensions"


def _covers(tensors: list[Tensor], *, data: int, size: int, what: str) -> None:
    """The data of all tensors lie end to end, from the first byte after the header to the last of the file."""
    cursor, before = data, ""
    for tensor in tensors:
        if tensor.start != cursor:
            kind = "overlap" if tensor.start < cursor else "hole"
            after = f"{shown(before)} ends at {cursor - data}" if before else "the data starts at 0"
            told = f"{kind} in the data: {after}, {shown(tensor.name)} starts at {tensor.start - data}"
            raise _broken(what, told)
        cursor, before = tensor.end, tensor.name
    if cursor > size:
        first = next(tensor for tensor in tensors if tensor.end > size)
        told = f"incomplete: header needs {cursor} bytes, file has {size}; {shown(first.name)} ends past it"
        raise _broken(what, told)
    if cursor < size:
        raise _broken(what, f"header accounts for {cursor} bytes, file has {size}")
