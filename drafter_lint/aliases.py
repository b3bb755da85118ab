"""The shipped alias table: how people spell targets, to the ids they may mean."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

from drafter_lint.facts import schemas
from drafter_lint.reference import normalise


@cache
def aliases() -> Mapping[str, tuple[str, ...]]:
    """Normalised spelling to canonical ids: one if it is safe to resolve, several if the user must choose."""
    raw = tomllib.loads((schemas() / "aliases.toml").read_text("utf-8"))
    table: dict[str, tuple[str, ...]] = {}
    for entry in raw["alias"]:
        ids = tuple(str(name) for name in entry["ids"])
        for spelling in entry["spellings"]:
            table[normalise(str(spelling))] = ids
    return table
