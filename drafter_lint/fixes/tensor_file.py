"""A small tensor of a safetensors file under change: which bytes hold it, and which are to take their place."""

from __future__ import annotations

import struct
from pathlib import Path

from drafter_lint.checkpoint import Tensor
from drafter_lint.checkpoint.vocab_map import MAX_BYTES, decode
from drafter_lint.findings import SetTensor
from drafter_lint.fixes.change import CannotEdit, TensorChange

_CODES = {"I8": "b", "U8": "B", "I16": "h", "U16": "H", "I32": "i", "U32": "I", "I64": "q", "U64": "Q"}
_SHOWN = 4


def tensor_change(edit: SetTensor, tensor: Tensor, *, path: Path, shown: str, fix: str) -> TensorChange:
    """The change of a tensor's values in the file at ``path``.

    Raises:
        CannotEdit: the dtype or the shape cannot take the values, or the file is not the one that was checked.
    """
    code = _CODES.get(tensor.dtype)
    length = tensor.end - tensor.start
    if code is None:
        raise CannotEdit(f"{tensor.name} is {tensor.dtype}; only integers are rewritten")
    if len(edit.values) != tensor.elements or length > MAX_BYTES:
        raise CannotEdit(f"{tensor.name} holds {tensor.elements} values, {len(edit.values)} are to be written")
    try:
        after = struct.pack(f"<{len(edit.values)}{code}", *edit.values)
    except struct.error as error:
        raise CannotEdit(f"a value does not fit {tensor.dtype}") from error
    try:
        with path.open("rb") as file:
            file.seek(tensor.start)
            before = file.read(length)
            size = path.stat().st_size
    except OSError as error:
        raise CannotEdit(f"the file cannot be read: {error.strerror}") from error
    if len(before) != length:
        raise CannotEdit("the file has changed since it was checked")
    return TensorChange(
        path=path,
        shown=shown,
        tensor=tensor.name,
        start=tensor.start,
        before=before,
        after=after,
        size=size,
        told=f"{_told(before, tensor.dtype)} -> {_told(after, tensor.dtype)}",
        fixes=(fix,),
    )


def _told(data: bytes, dtype: str) -> str:
    values = decode(data, dtype)
    first = " ".join(map(str, values[:_SHOWN]))
    return f"[{first} ... {values[-1]}]" if len(values) > _SHOWN + 1 else f"[{' '.join(map(str, values))}]"
