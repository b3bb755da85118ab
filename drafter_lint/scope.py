"""A rule's scope is its type: what it may look at, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Drafter, Recognition
from drafter_lint.engines.plan import Plan
from drafter_lint.errors import Unavailable
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

D_co = TypeVar("D_co", bound=Drafter, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A part of a checkpoint that could not be read, and why."""

    checkpoint: Checkpoint
    trouble: Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone(Generic[D_co]):
    """A drafter by itself: its own files."""

    drafter: D_co
    recognition: Recognition


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair(Generic[D_co]):
    """A drafter and the target it is to serve."""

    drafter: D_co
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(Generic[D_co]):
    """A pair in one engine, at one version, with one set of flags, and what that engine will do."""

    drafter: D_co
    target: Target
    request: LaunchRequest
    plan: Plan
