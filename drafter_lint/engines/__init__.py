"""What each engine will do: the plan, and one package per engine found by its name."""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import Plan
from drafter_lint.facts import World
from drafter_lint.launch import LaunchRequest
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

    def needed(self, world: World, method: str, drafter: str, target: str) -> LaunchRequest:
        """The flags this engine needs for a drafter of a method ("eagle", "eagle3"), ``assumed`` set."""
        ...


def engine(name: str) -> Engine:
    """The engine package called ``name``, one of :func:`drafter_lint.facts.engines`."""
    return cast("Engine", importlib.import_module(f"{__name__}.{name}"))
