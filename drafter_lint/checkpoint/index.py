"""The index of a sharded checkpoint: which shard is said to hold which tensor."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.bounded_json import shown
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.sources.ranges import is_inside

MAX_BYTES = 64 * 1024 * 1024
MAX_TENSORS = 1_000_000


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
        Unavailable: it is no JSON, has no ``weight_map``, names a file outside the folder or one that is no safetensors
            file.
    """
    shards: dict[str, str] = {}

    def members(pairs: list[tuple[str, object]]) -> dict[str, object]:
        # One string for each shard instead of one for each tensor: 208,216 tensors share 64 of them. Names are interned
        # because the headers hold them again.
        return {
            sys.intern(key): shards.setdefault(value, value) if isinstance(value, str) else value
            for key, value in pairs
        }

    root = bounded_json.parse(data, what=what, values=MAX_TENSORS + 10_000, pairs=members)
    weight_map = root.get("weight_map") if isinstance(root, dict) else None
    if not isinstance(weight_map, dict):
        raise Unavailable(Trouble.MALFORMED, what, "has no weight_map object")
    if not weight_map:
        raise Unavailable(Trouble.MALFORMED, what, "its weight_map is empty")
    for name, shard in weight_map.items():
        if not isinstance(shard, str):
            raise Unavailable(Trouble.MALFORMED, what, f"weight_map[{shown(name)}] is no file name")
    index = Index(file, weight_map)
    for shard in index.shards:
        if not is_inside(shard):
            raise Unavailable(Trouble.MALFORMED, what, f"names the shard {shown(shard)}, which leaves the folder")
        if not shard.endswith(".safetensors"):
            raise Unavailable(Trouble.MALFORMED, what, f"names the shard {shown(shard)}, which is no safetensors file")
    return index
