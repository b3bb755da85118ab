"""Writing a safetensors header: the bytes that make an empty file a true checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod

from drafter_lint.checkpoint.tensors import DTYPE_BITS
from drafter_lint.errors import UsageError


def safetensors_header(
    tensors: Mapping[str, tuple[str, Sequence[int]]], metadata: Mapping[str, str] | None = None
) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """Build a header, laid out as the format's own writer does: widest dtype first, then by name.

    Args:
        tensors: name to (dtype, shape).
        metadata: the ``__metadata__`` object; left out if None.

    Returns:
        The first bytes of the file (the 8-byte length, the JSON, spaces up to a multiple of 8), and the
        ``data_offsets`` of each tensor, counted from the end of these bytes. The file is as long as the header and the
        largest offset together.

    Raises:
        UsageError: a dtype the format does not name, or elements that do not fill whole bytes.
    """
    offsets: dict[str, tuple[int, int]] = {}
    fields: dict[str, object] = {} if metadata is None else {"__metadata__": dict(metadata)}
    cursor = 0
    for negated, name in sorted((-_bits(name, dtype), name) for name, (dtype, _) in tensors.items()):
        dtype, shape = tensors[name]
        length, rest = divmod(prod(shape) * -negated, 8)
        if rest:
            raise UsageError(f"{name} {dtype} {list(shape)} does not fill whole bytes")
        offsets[name] = (cursor, cursor + length)
        fields[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [cursor, cursor + length]}
        cursor += length
    body = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
    body += b" " * (-len(body) % 8)
    return len(body).to_bytes(8, "little") + body, offsets


def _bits(name: str, dtype: str) -> int:
    bits = DTYPE_BITS.get(dtype)
    if bits is None:
        raise UsageError(f"{name} has the dtype {dtype!r}, which safetensors does not name")
    return bits
