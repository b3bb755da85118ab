"""A published layout as recognition uses it: the marks its tensors and its config carry, and who reads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.model import Drafter
from drafter_lint.drafters.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One layout.

    Attributes:
        layout: its name.
        build: reads the needs.
        tensors: tensor stems (names with ``#`` for every number), as patterns of which one must be found.
        beside: patterns of which one must be found as well, () for none.
        without: patterns that rule it out.
        architectures: architecture names, as patterns.
        speculators: values of ``speculators_model_type``.
        model_types: values of ``model_type``.
        keys: config keys, dotted where nested, of which one suffices; ``key=value`` asks for a value.
        files: file names that give it away where no safetensors file is there.
    """

    layout: Layout
    build: Callable[[View, Layout], Drafter]
    tensors: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    speculators: tuple[str, ...] = ()
    model_types: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def shown(self, view: View) -> tuple[str, ...]:
        """What in the tensors says so; () if nothing does."""
        found = tuple(stem for pattern in self.tensors if (stem := view.stem(pattern)))
        if not found or (self.beside and not any(view.stem(pattern) for pattern in self.beside)):
            return ()
        if any(view.stem(pattern) for pattern in self.without):
            return ()
        return tuple(f"tensors named {stem}" for stem in dict.fromkeys(found))

    def named(self, view: View) -> tuple[str, ...]:
        """What in the config says so, the plainest word first; () if nothing does."""
        config, found = view.config, []
        kind = config.string("speculators_model_type")
        if kind:
            return (f"speculators_model_type is {kind.value}",) if kind.value in self.speculators else ()
        if view.architecture and any(re.search(pattern, view.architecture.value) for pattern in self.architectures):
            found.append(f"architecture {view.architecture.value}")
        model_type = config.string("model_type")
        if model_type and model_type.value in self.model_types:
            found.append(f"model_type {model_type.value}")
        found += [f"config key {key}" for key in self.keys if _holds(view, key)]
        return tuple(found)

    def filed(self, view: View) -> tuple[str, ...]:
        """Which files give it away."""
        return tuple(
            f"file {name}" for pattern in self.files for name in sorted(view.files) if re.fullmatch(pattern, name)
        )


def _holds(view: View, key: str) -> bool:
    path, _, wanted = key.partition("=")
    keys = path.split(".")
    if not wanted:
        return view.config.has(*keys)
    text, flag = view.config.string(*keys), view.config.boolean(*keys)
    return (text is not None and text.value == wanted) or (flag is not None and str(flag.value).lower() == wanted)
