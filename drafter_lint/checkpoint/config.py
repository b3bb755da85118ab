"""Typed, located reading of a configuration document; values are described, never coerced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from drafter_lint.checkpoint.document import Document
from drafter_lint.findings import JsonValue, Located, Location

_ABSENT = object()


@lru_cache(maxsize=1024)
def escape(key: str) -> str:
    """A key as a JSON pointer token."""
    return key.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class Config:
    """An object inside a document: the whole config.json, or a nested part such as ``text_config``.

    Readers return None both for an absent key and for a value of another type; :meth:`has` and :meth:`raw` tell them
    apart where it matters (an explicit null is not an absent key).
    """

    document: Document
    base: str = ""

    @property
    def value(self) -> Mapping[str, JsonValue]:
        """The object itself; empty if ``base`` is no object."""
        if not self.base:
            return self.document.root
        node: JsonValue = self.document.root
        for token in self.base.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            node = node.get(key) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else {}

    def pointer(self, *keys: str) -> str:
        """The JSON pointer of a member."""
        return self.base + "".join(f"/{escape(key)}" for key in keys)

    def at(self, *keys: str, label: str = "") -> Location:
        """The place of a member, or of its nearest parent if it is absent."""
        return self.document.at(self.pointer(*keys), label)

    def _get(self, keys: tuple[str, ...]) -> object:
        node: object = self.value
        for key in keys:
            if not isinstance(node, dict) or key not in node:
                return _ABSENT
            node = node[key]
        return node

    def has(self, *keys: str) -> bool:
        """True if the key is there, even with a null."""
        return self._get(keys) is not _ABSENT

    def raw(self, *keys: str) -> Located[object] | None:
        """The value as written, None if the key is absent."""
        value = self._get(keys)
        return None if value is _ABSENT else Located(value, self.at(*keys))

    def integer(self, *keys: str) -> Located[int] | None:
        """An integer (not a bool)."""
        value = self._get(keys)
        return Located(value, self.at(*keys)) if isinstance(value, int) and not isinstance(value, bool) else None

    def size(self, *keys: str) -> Located[int] | None:
        """A positive integer."""
        value = self.integer(*keys)
        return value if value is not None and value.value > 0 else None

    def number(self, *keys: str) -> Located[float] | None:
        """An integer or a float (not a bool)."""
        value = self._get(keys)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        try:
            return Located(float(value), self.at(*keys))
        except OverflowError:  # an integer of more than 308 digits
            return Located(math.copysign(math.inf, value > 0 or -1), self.at(*keys))

    def boolean(self, *keys: str) -> Located[bool] | None:
        """A bool."""
        value = self._get(keys)
        return Located(value, self.at(*keys)) if isinstance(value, bool) else None

    def string(self, *keys: str) -> Located[str] | None:
        """A string."""
        value = self._get(keys)
        return Located(value, self.at(*keys)) if isinstance(value, str) else None

    def strings(self, *keys: str) -> Located[tuple[str, ...]] | None:
        """A list of strings."""
        value = self._get(keys)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return Located(tuple(str(item) for item in value), self.at(*keys))
        return None

    def integers(self, *keys: str) -> Located[tuple[int, ...]] | None:
        """A list of integers."""
        value = self._get(keys)
        if isinstance(value, list) and all(isinstance(item, int) and not isinstance(item, bool) for item in value):
            return Located(tuple(item for item in value if isinstance(item, int)), self.at(*keys))
        return None

    def object(self, *keys: str) -> Config | None:
        """A nested object."""
        return Config(self.document, self.pointer(*keys)) if isinstance(self._get(keys), dict) else None
