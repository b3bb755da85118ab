"""What each engine will do: the plan, and one package per engine found by its name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Protocol, cast

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.command import Remedy, Wanted
from drafter_lint.engines.plan import Plan
from drafter_lint.facts import World
from drafter_lint.launch import LaunchRequest
from drafter_lint.launch.composed import Part
from drafter_lint.targets import Target

__all__ = ["Engine", "Plan", "engine"]


class Engine(Protocol):
    """What a module ``engines/<name>/__init__.py`` offers."""

    def plan(self, world: World, request: LaunchRequest, drafter: Checkpoint, target: Target) -> Plan:
        """What this engine will do. Reads the raw files as the engine does, not the drafter's recognised meaning.

        Raises:
            Unavailable: a file the engine needs could not be read.
        """
        ...

    def needed(
        self, world: World, method: str, drafter: str, target: str, *, context_length: int | None = None
    ) -> LaunchRequest:
        """The flags this engine needs for a drafter of a method ("eagle", "eagle3"), ``assumed`` set.

        Args:
            world: the engine at a version.
            method: the drafter's.
            drafter: its path or id.
            target: the target's.
            context_length: tokens to serve at, where the engine would refuse the target's own length.
        """
        ...

    def composed(self, world: World, wanted: Wanted) -> Iterator[Part]:
        """The parts of a command for a drafter, with reasons: those of :meth:`needed`, and what the pair asks for."""
        ...

    def remedies(self, world: World, wanted: Wanted, plans: Sequence[Plan]) -> Iterator[Remedy]:
        """What such a command may still say where its plans refuse or go wrong; whether it helps is not known here."""
        ...

    def habits(self, world: World, wanted: Wanted) -> Iterator[tuple[Part, ...]]:
        """What is often typed with such a drafter, right or wrong."""
        ...

    def layer_ids(
        self, world: World, target: Target, boundaries: tuple[int, ...]
    ) -> tuple[str, tuple[int, ...]] | None:
        """The JSON pointer and the list this engine reads as these boundaries; None if it cannot be made to."""
        ...


def engine(name: str) -> Engine:
    """The engine package called ``name``, one of :func:`drafter_lint.facts.engines`."""
    return cast("Engine", importlib.import_module(f"{__name__}.{name}"))
