"""Tensors as their files' headers declare them: names, dtypes, shapes and byte ranges, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from drafter_lint.findings import Location, Role

#: Bits per element of the dtypes safetensors names; an unknown dtype is kept and has no width.
DTYPE_BITS: Mapping[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "U32": 32, "I32": 32, "U64": 64, "I64": 64,
    "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
    "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One tensor of a checkpoint.

    Attributes:
        name: as written in the file.
        dtype: as written ("BF16"); an open set.
        shape: ``[out, in]`` for a linear weight.
        file: the file that holds it.
        start: absolute offset of its first byte in the file.
        end: absolute offset just past its last byte.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str
    start: int
    end: int

    @property
    def elements(self) -> int:
        """How many values it holds."""
        return prod(self.shape)

    @property
    def shown(self) -> str:
        """``fc.weight [7168, 21504]``."""
        return f"{self.name} {list(self.shape)}"


@dataclass(frozen=True, slots=True)
class IndexDisagreement:
    """A tensor the index and the shards do not agree on.

    ``indexed`` is the shard the index names (None: the index does not know it), ``found`` the shard that holds it
    (None: no shard does).
    """

    tensor: str
    indexed: str | None
    found: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorTable(Mapping[str, Tensor]):
    """Every tensor of a checkpoint by name.

    Attributes:
        entries: the tensors.
        subject: the checkpoint as shown in messages.
        role: whose checkpoint it is.
        files: the safetensors files that were read.
        index: path of the index file, None if there is none.
        missing_files: shards the index names that do not exist.
        disagreements: where the index and the shards' own headers differ.
        duplicates: tensors that more than one file holds, with the files.
        unopened: weight files that are never opened (.bin, .pt, .gguf …).
        metadata: the ``__metadata__`` of the first file.
        set_aside: safetensors files in the folder that are not part of the model: a consolidated copy, an adapter, a
            file the index does not name.
    """

    entries: Mapping[str, Tensor]
    subject: str
    role: Role
    files: tuple[str, ...] = ()
    index: str | None = None
    missing_files: tuple[str, ...] = ()
    disagreements: tuple[IndexDisagreement, ...] = ()
    duplicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unopened: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    set_aside: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Tensor:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def at(self, name: str, label: str = "") -> Location:
        """The place of a tensor (or of its absence: then only the file is named)."""
        tensor = self.entries.get(name)
        file = tensor.file if tensor else (self.files[0] if self.files else "model.safetensors")
        return Location(
            role=self.role,
            subject=self.subject,
            file=file,
            tensor=name,
            shape=tensor.shape if tensor else None,
            label=label,
        )
