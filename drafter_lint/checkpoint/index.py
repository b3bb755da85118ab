"""The index of a sharded checkpoint: which shard is said to hold which tensor."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.bounded_json import shown
from drafter_lint.checkpoint.header import refuse_lfs_pointer
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.ranges import is_inside

#: The largest published index has 23.6 MB and 208,216 tensors. Reading one takes 450 bytes of memory for each.
MAX_BYTES = 32 * 1024 * 1024
MAX_TENSORS = 300_000


@dataclass(frozen=True, slots=True)
class Index:
    """The ``weight_map`` of an index file: tensor name to shard path."""

    file: str
    weight_map: Mapping[str, str]

    @property
    def shards(self) -> tuple[str, ...]:
        """Every shard named, in name order."""
        return tuple(sorted(set(self.weight_map.values())))


def parse_index(data: bytes, *, file: str, what: str) -> Index:
    """Read an index file.

    Raises:
        Unavailable: it is a Git LFS pointer or no JSON, has no ``weight_map``, names a file outside the folder or one
            that is no safetensors file.
    """
    refuse_lfs_pointer(data[:1024], what=what)
    text = bounded_json.text(data, what=what, values=MAX_TENSORS + 10_000)
    del data  # the caller keeps nothing of it either: one copy of 24 MB is enough
    root = bounded_json.parse_text(text, what=what)
    del text
    weight_map = root.get("weight_map") if isinstance(root, dict) else None
    if not isinstance(weight_map, dict):
        raise Unavailable(Trouble.MALFORMED, what, "has no weight_map object")
    if not weight_map:
        raise Unavailable(Trouble.MALFORMED, what, "its weight_map is empty")
    # One string for each shard instead of one for each tensor: 208,216 tensors share 64 of them. Names are interned
    # because the headers hold them again.
    shards: dict[str, str] = {}
    named: dict[str, str] = {}
    for name, shard in weight_map.items():
        if not isinstance(shard, str):
            raise Unavailable(Trouble.MALFORMED, what, f"weight_map[{shown(name)}] is no file name")
        named[sys.intern(name)] = shards.setdefault(shard, shard)
    index = Index(file, named)
    for shard in index.shards:
        if not is_inside(shard):
            raise Unavailable(Trouble.MALFORMED, what, f"names the shard {shown(shard)}, which leaves the folder")
        if not shard.endswith(".safetensors"):
            raise Unavailable(Trouble.MALFORMED, what, f"names the shard {shown(shard)}, which is no safetensors file")
    return index
