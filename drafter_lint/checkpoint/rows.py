"""A few rows of a matrix of floats: read as one byte range, decoded, and held against rows of another matrix."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from drafter_lint.checkpoint.tensors import Tensor
from drafter_lint.checkpoint.vocab_map import decode
from drafter_lint.sources.base import Source

#: The dtypes rows can be decoded from, with the bytes of a value.
WIDTHS = {"BF16": 2, "F16": 2, "F32": 4}

Row = Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Consecutive rows of a matrix ``[rows, columns]``.

    Attributes:
        first: index of the first one.
        dtype: what they are stored as.
        values: one sequence for each row; of a very wide matrix only its first columns.
    """

    first: int
    dtype: str
    values: tuple[Row, ...]


def readable(tensor: Tensor) -> bool:
    """True if rows of it can be read: a matrix of a float dtype of at least 16 bits."""
    return tensor.dtype in WIDTHS and len(tensor.shape) == 2 and 0 not in tensor.shape


def read_rows(tensor: Tensor, source: Source, *, first: int, count: int, columns: int) -> Rows:
    """Read ``count`` rows from ``first`` on in one range; the first ``columns`` of each are kept.

    Raises:
        Unavailable: the bytes cannot be read.
    """
    width = WIDTHS[tensor.dtype]
    stride = tensor.shape[1] * width
    span = stride * (count - 1) + columns * width
    data = source.read(tensor.file, tensor.start + first * stride, span)
    values = tuple(decode(data[at : at + columns * width], tensor.dtype) for at in range(0, count * stride, stride))
    return Rows(first=first, dtype=tensor.dtype, values=values)


def empty(row: Row) -> bool:
    """True if a row holds nothing but zeros, as a hole in a file does."""
    return not any(row)


def finite(row: Row) -> bool:
    """True if every value is a number."""
    return all(map(math.isfinite, row))


def equal(one: Row, other: Row, *, dtypes: tuple[str, str]) -> bool:
    """True if one row is the other one, as it is or cast to the other's dtype."""
    if dtypes[0] == dtypes[1]:
        return list(one) == list(other)
    return list(one) == _cast(other, dtypes[0]) or list(other) == _cast(one, dtypes[1])


def cosine(one: Row, other: Row) -> float:
    """The cosine of the angle between two rows, neither of them empty."""
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return product / math.hypot(*one) / math.hypot(*other)


def _cast(row: Row, dtype: str) -> list[float]:
    """A row rounded to the nearest values of a dtype, ties to even."""
    if dtype == "F16":
        return [_half(value) for value in row]
    if dtype == "F32":
        return [struct.unpack("<f", struct.pack("<f", value))[0] for value in row]
    bits = struct.unpack(f"<{len(row)}I", struct.pack(f"<{len(row)}f", *row))
    rounded = [(value + 0x7FFF + ((value >> 16) & 1)) & 0xFFFF0000 for value in bits]
    return list(struct.unpack(f"<{len(row)}f", struct.pack(f"<{len(row)}I", *rounded)))


def _half(value: float) -> float:
    try:
        rounded: float = struct.unpack("<e", struct.pack("<e", value))[0]
    except OverflowError:
        return math.inf
    return rounded
