"""The two small vocabulary tensors, decoded: d2t as written, t2d as the set of drafted ids."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress, count
from operator import add
from typing import cast

from drafter_lint.checkpoint.tensors import Tensor, TensorTable
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.base import Source

#: A 256k vocabulary in 64-bit integers is half of it.
MAX_BYTES = 4 * 1024 * 1024

_CODES = {
    "BOOL": "B", "U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "U64": "Q", "I64": "q",
    "F16": "e", "F32": "f", "F64": "d",
}  # fmt: skip
_FLOATS = ("BF16", "F16", "F32", "F64")


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabMap:
    """What the file says about the reduced vocabulary, without judging it.

    Attributes:
        d2t_tensor: the tensor called ``d2t`` (or ending in ``.d2t``), None if the file has none.
        d2t: its values as written, None if absent.
        t2d_tensor: the tensor called ``t2d``, None if absent.
        drafted: the ids for which t2d is true, ascending; None if there is no t2d.
        t2d_length: how many entries t2d has.
        targets: the target id each draft id stands for when d2t is read as offsets (``i + d2t[i]``), as every engine
            does; None without d2t.
    """

    d2t_tensor: Tensor | None = None
    d2t: tuple[int, ...] | None = None
    t2d_tensor: Tensor | None = None
    drafted: tuple[int, ...] | None = None
    t2d_length: int | None = None
    targets: tuple[int, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # 32,000 entries, and every engine and many rules ask.
        object.__setattr__(self, "targets", None if self.d2t is None else tuple(map(add, self.d2t, count())))


def read_vocab_map(table: TensorTable, source: Source) -> VocabMap:
    """Decode d2t and t2d from their byte ranges; each is None where the table has no such tensor.

    Raises:
        Unavailable: a tensor is over 4 MiB, of a dtype that holds no integers, or holds a value that is no integer.
    """
    d2t, t2d = named(table, "d2t"), named(table, "t2d")
    drafted = None if t2d is None else _integers(t2d, table, source)
    return VocabMap(
        d2t_tensor=d2t,
        d2t=None if d2t is None else _integers(d2t, table, source),
        t2d_tensor=t2d,
        drafted=None if drafted is None else tuple(compress(count(), drafted)),
        t2d_length=None if drafted is None else len(drafted),
    )


def named(table: Mapping[str, Tensor], name: str) -> Tensor | None:
    """The tensor of that name, else the first whose name ends so behind a dot."""
    if name in table:
        return table[name]
    return next((table[known] for known in table if known.endswith(f".{name}")), None)


def _integers(tensor: Tensor, table: TensorTable, source: Source) -> tuple[int, ...]:
    what = f"{table.subject}: {tensor.file}: {tensor.name}"
    length = tensor.end - tensor.start
    if length > MAX_BYTES:
        raise Unavailable(Trouble.TOO_LARGE, what, f"{length} bytes, over the bound of {MAX_BYTES}")
    if tensor.dtype not in _CODES and tensor.dtype != "BF16":
        raise Unavailable(Trouble.MALFORMED, what, f"dtype {tensor.dtype} cannot be read as integers")
    values = decode(source.read(tensor.file, tensor.start, length), tensor.dtype)
    if tensor.dtype not in _FLOATS:
        return cast("tuple[int, ...]", values)
    for position, value in enumerate(values):
        if not float(value).is_integer():
            detail = f"[{position}] = {value} is no integer (dtype {tensor.dtype})"
            raise Unavailable(Trouble.MALFORMED, what, detail)
    return tuple(map(int, values))


def decode(data: bytes, dtype: str) -> tuple[int, ...] | tuple[float, ...]:
    """Little-endian values of a dtype safetensors names, as Python numbers; at most 64 bits wide."""
    if dtype == "BF16":
        # The upper half of a 32-bit float.
        wide = bytearray(2 * len(data))
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
        return decode(bytes(wide), "F32")
    code = _CODES[dtype]
    if code == "B":
        return tuple(data)  # a t2d of 160,000 entries: four times as fast as unpacking
    return struct.unpack(f"<{len(data) // struct.calcsize('<' + code)}{code}", data)
