"""How people spell targets and drafters, to the ids they may mean: the alias table, then the catalogue's names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache

from drafter_lint import catalogue
from drafter_lint.facts import schemas
from drafter_lint.reference import normalise


@cache
def aliases() -> Mapping[str, tuple[str, ...]]:
    """The alias table: one id if it is safe to resolve, several if the user must choose."""
    raw = tomllib.loads((schemas() / "aliases.toml").read_text("utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for entry in raw["alias"]:
        ids = tuple(str(name) for name in entry["ids"])
        for spelling in entry["spellings"]:
            found[normalise(str(spelling))] = ids
    return found


class Aliases(Mapping[str, tuple[str, ...]]):
    """Normalised spelling to canonical ids, each list looked at only if those before it do not know the spelling.

    Args:
        own: the user's, which win over all shipped ones.
    """

    def __init__(self, own: Mapping[str, tuple[str, ...]]) -> None:
        self._own = own

    def __getitem__(self, spelling: str) -> tuple[str, ...]:
        for known in (self._own, aliases(), catalogue.names()):
            if spelling in known:
                return known[spelling]
        raise KeyError(spelling)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._own, *aliases(), *catalogue.names())))

    def __len__(self) -> int:
        return sum(1 for _ in self)
