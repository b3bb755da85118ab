"""Which releases let a target's class hand over the auxiliary states that EAGLE-3 and its kin are fed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drafter_lint.facts import profile
from drafter_lint.facts.timeline import spans
from drafter_lint.findings import Evidence

#: The tables that say so, by engine.
_TABLES = (("sglang", "models.capture-hook"), ("vllm", "registry.aux-targets"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """What one engine's releases say of a class.

    Attributes:
        engine: its name.
        spans: "0.5.10.post1 to 0.5.23", "" if no release read lets it.
        evidence: where that is to be seen.
    """

    engine: str
    spans: str
    evidence: Evidence

    @property
    def says(self) -> str:
        """The releases, or that there are none."""
        return self.spans or "in no release read"


def hooks(architecture: str) -> Iterator[Hook]:
    """Every engine's word on a class."""
    for engine, key in _TABLES:
        for row in profile(engine).observations[key]:
            table = row.value if isinstance(row.value, Mapping) else {}
            where = Evidence(
                engine=engine, version=f"{row.first} to {row.last}", file=row.file, symbol=row.symbol, how=row.how
            )
            yield Hook(engine=engine, spans=", ".join(map(str, spans(table.get(architecture, "")))), evidence=where)
