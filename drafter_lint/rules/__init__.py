"""Where needs and deeds part: one small module per rule, found by walking this folder; there is no list."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from drafter_lint.rule import Rule


@cache
def all_rules() -> tuple[Rule[object], ...]:
    """Every rule, by code.

    Raises:
        TypeError: two rules share a code or a name: a bug of ours.
    """
    found: list[Rule[object]] = []
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if module.ispkg:
            continue
        loaded = importlib.import_module(module.name)
        found += [value for value in vars(loaded).values() if isinstance(value, Rule)]
    for attribute in ("code", "name"):
        values = [getattr(item, attribute) for item in found]
        if len(values) != len(set(values)):
            twice = next(value for value in values if values.count(value) > 1)
            raise TypeError(f"two rules called {twice}")
    return tuple(sorted(found, key=lambda item: item.code))
