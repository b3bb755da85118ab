"""The shipped catalogue: what is known of public targets and drafters without reading them, and who says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal, NotRequired, TypedDict, cast

from drafter_lint.facts import schemas
from drafter_lint.findings import JsonValue
from drafter_lint.reference import normalise

FILE = "catalogue.json"
#: What a name has behind that of its base model, which has the same widths: nothing but the user can tell them apart.
_TUNED = ("-instruct", "-it", "-chat", "-thinking", "-instruct-2507", "-thinking-2507")

_TargetEntry = TypedDict(
    "_TargetEntry",
    {
        "facts": dict[str, JsonValue],
        "source": list[str],
        "confidence": str,
        "from": NotRequired[str],
        "copy_of": NotRequired[str],
    },
)


class _DrafterEntry(TypedDict):
    targets: list[str]
    method: str
    source: list[str]
    confidence: str


class _Catalogue(TypedDict):
    sources: dict[str, str]
    targets: dict[str, _TargetEntry]
    drafters: dict[str, _DrafterEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is known of one target.

    Attributes:
        name: its id.
        facts: values of its config.json under the names of the field ("hidden_size"); what is missing was not found.
        source: where they were found.
        confidence: "documented", "converted" (as an engine holds them after reading) or "inferred".
        inferred_from: the sibling of the same shape they were inferred from, "" if none.
        copy_of: the model it is a quantised copy of, "" if none.
    """

    name: str
    facts: Mapping[str, JsonValue]
    source: tuple[str, ...]
    confidence: str
    inferred_from: str = ""
    copy_of: str = ""

    def integer(self, fact: str) -> int | None:
        """A fact that is a number."""
        value = self.facts.get(fact)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def said(self) -> str:
        """Who says so: "the catalogue (documented)"."""
        sibling = f" from {self.inferred_from}" if self.inferred_from else ""
        return f"the catalogue ({self.confidence}{sibling})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafter:
    """What is known of one drafter.

    Attributes:
        name: its id.
        targets: the targets it is said to be for.
        method: the field's name for how it drafts.
        source: who says so.
        confidence: "documented" or "mentioned".
    """

    name: str
    targets: tuple[str, ...]
    method: str
    source: tuple[str, ...]
    confidence: str


def target(name: str) -> Target | None:
    """What is known of a target by its id, None if nothing is."""
    key = _ids("targets").get(name.lower())
    if key is None:
        return None
    entry = _table()["targets"][key]
    return Target(
        name=key,
        facts=entry["facts"],
        source=_cited(entry["source"]),
        confidence=entry["confidence"],
        inferred_from=entry.get("from", ""),
        copy_of=entry.get("copy_of", ""),
    )


def drafter(name: str) -> Drafter | None:
    """What is known of a drafter by its id, None if nothing is."""
    key = _ids("drafters").get(name.lower())
    if key is None:
        return None
    entry = _table()["drafters"][key]
    return Drafter(
        name=key,
        targets=tuple(entry["targets"]),
        method=entry["method"],
        source=_cited(entry["source"]),
        confidence=entry["confidence"],
    )


def copies(name: str) -> tuple[str, ...]:
    """The quantised copies of a target."""
    return tuple(key for key, entry in _table()["targets"].items() if entry.get("copy_of", "").lower() == name.lower())


def drafters_for(name: str) -> tuple[str, ...]:
    """The drafters that are said to be for a target."""
    wanted = name.lower()
    return tuple(key for key, entry in _table()["drafters"].items() if wanted in map(str.lower, entry["targets"]))


@cache
def names() -> Mapping[str, tuple[str, ...]]:
    """Every id by its normalised name without the owner; several where owners share one, or a tuned sibling exists."""
    found: dict[str, list[str]] = {}
    for key in (*_table()["targets"], *_table()["drafters"]):
        found.setdefault(normalise(key), []).append(key)
    tuned = {name: [ids for end in _TUNED for ids in found.get(f"{name}{end}", ())] for name in found}
    return {name: (*tuned[name], *ids) for name, ids in found.items()}


@cache
def _table() -> _Catalogue:
    return cast("_Catalogue", json.loads((schemas() / FILE).read_text("utf-8")))


@cache
def _ids(section: Literal["targets", "drafters"]) -> Mapping[str, str]:
    return {key.lower(): key for key in _table()[section]}


def _cited(keys: list[str]) -> tuple[str, ...]:
    return tuple(_table()["sources"][key] for key in keys)
