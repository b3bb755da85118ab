"""What we know of engines: observations with the versions they were seen at, and what holds at a version asked for.

We read some releases, not all. A version that was read is *observed*; between two read releases that agree it is
*bracketed*; newer than all it is *extrapolated*. Between two that differ there are two candidate worlds, the older and
the newer one: the linter plans in both and reports as "not checked" whatever they disagree on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from drafter_lint.findings import Confidence, Evidence, How

Knowledge = Literal["observed", "bracketed", "extrapolated", "ambiguous"]
FactValue = str | int | bool | tuple[str, ...] | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One value of one key, seen in every read release from ``first`` to ``last``.

    Attributes:
        key: dotted name ("eagle3.fc-width").
        value: text, number, bool, a list of names, or a table of names.
        first: the oldest read release that has it.
        last: the newest read release that has it.
        file: path inside the engine's package.
        symbol: class or function.
        how: run, read, or inferred from reading.
        note: one sentence.
    """

    key: str
    value: FactValue
    first: Version
    last: Version
    file: str
    symbol: str
    how: How
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What a world holds for one key: the value, the evidence, and how sure we may be."""

    key: str
    value: FactValue
    evidence: Evidence
    confidence: Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """An engine at one version: every key resolved to one value.

    Attributes:
        engine: "sglang" or "vllm".
        version: the version asked for.
        knowledge: how well it is known.
        basis: the read release this world speaks for ("0.5.11"); the version itself when observed.
        facts: by key.
    """

    engine: str
    version: Version
    knowledge: Knowledge
    basis: str
    facts: Mapping[str, Fact]

    def fact(self, key: str) -> Fact:
        """The fact for a key.

        Raises:
            KeyError: the key is in no observation of this engine: a bug of ours.
        """
        return self.facts[key]

    def text(self, key: str) -> str:
        """A fact whose value is text."""
        value = self.facts[key].value
        if not isinstance(value, str):
            raise TypeError(f"{self.engine}: {key} is not text")
        return value

    def flag(self, key: str) -> bool:
        """A fact whose value is a bool."""
        value = self.facts[key].value
        if not isinstance(value, bool):
            raise TypeError(f"{self.engine}: {key} is not a bool")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """A fact whose value is a list of names."""
        value = self.facts[key].value
        if not isinstance(value, tuple):
            raise TypeError(f"{self.engine}: {key} is not a list")
        return value

    def table(self, key: str) -> Mapping[str, str]:
        """A fact whose value maps names to names."""
        value = self.facts[key].value
        if not isinstance(value, Mapping):
            raise TypeError(f"{self.engine}: {key} is not a table")
        return value

    def evidence(self, *keys: str) -> tuple[Evidence, ...]:
        """The evidence of some keys, in order."""
        return tuple(self.facts[key].evidence for key in keys)
