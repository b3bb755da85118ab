"""What a script's variables hold at some point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.launch.files.effort import Effort
from drafter_lint.launch.files.traced import Traced, joined


@dataclass(slots=True)
class Variables:
    """What a script's variables hold at some point.

    Attributes:
        values: plain ones.
        arrays: indexed ones.
        tables: associative ones.
        positional: "$1" and on, None when the caller is not in the document.
        exported: names a command sees in its environment.
        given: what the user says unknown variables are.
        quotes_protect: False where something else puts values in before a shell sees the quotes: compose, a heredoc.
        effort: what putting values in is charged to, shared by all copies.
    """

    values: dict[str, Traced] = field(default_factory=dict)
    arrays: dict[str, list[Traced]] = field(default_factory=dict)
    tables: dict[str, dict[str, Traced]] = field(default_factory=dict)
    positional: list[Traced] | None = None
    exported: set[str] = field(default_factory=set)
    given: Mapping[str, str] = field(default_factory=dict)
    quotes_protect: bool = True
    effort: Effort = field(default_factory=lambda: Effort(0))

    def copy(self) -> Variables:
        """An independent copy, for a subshell or a script inside."""
        return Variables(
            values=dict(self.values),
            arrays={name: list(items) for name, items in self.arrays.items()},
            tables={name: dict(items) for name, items in self.tables.items()},
            positional=None if self.positional is None else list(self.positional),
            exported=set(self.exported),
            given=self.given,
            quotes_protect=self.quotes_protect,
            effort=self.effort,
        )

    def fresh(self, values: Mapping[str, Traced] | None = None) -> Variables:
        """Nothing set but some values: where no script of the document is around (a container, a quoted heredoc)."""
        return Variables(
            values=dict(values or {}), given=self.given, quotes_protect=self.quotes_protect, effort=self.effort
        )

    def value(self, name: str) -> Traced | None:
        """A plain value; the first element of an array; None if nobody says."""
        if name in self.values:
            return self.values[name]
        if self.arrays.get(name):
            return self.arrays[name][0]
        if name.isdigit() and self.positional is not None:
            index = int(name) - 1
            return self.positional[index] if 0 <= index < len(self.positional) else Traced("", ())
        if name in self.given:
            return Traced.stand_in(self.given[name])
        return None

    def items(self, name: str) -> list[Traced] | None:
        """All elements; None if nobody says."""
        if name in "@*":
            return self.positional
        if name in self.arrays:
            return self.arrays[name]
        if name in self.tables:
            return list(self.tables[name].values())
        value = self.value(name)
        return None if value is None else [value]

    def assign(self, name: str, value: Traced, *, append: bool = False) -> None:
        """Set a plain variable."""
        if append and name in self.arrays:
            self.arrays[name][:1] = [joined([*self.arrays[name][:1], value])]
            return
        held = self.values.get(name) if append else None
        self.arrays.pop(name, None)
        self.values[name] = value if held is None else joined([held, value])

    def forget(self, name: str) -> None:
        """Make a variable unknown."""
        self.values.pop(name, None)
        self.arrays.pop(name, None)
        self.tables.pop(name, None)
