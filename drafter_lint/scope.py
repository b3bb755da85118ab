"""A rule's scope is its type: what it may look at, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Generic, TypeAlias, TypeVar

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Drafter, Recognition
from drafter_lint.engines.plan import Plan
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.lineage import Lineage
from drafter_lint.targets import Target

D = TypeVar("D", bound=Drafter)
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
    """A drafter and the target it is to serve; ``lineage`` reads a few rows of both when it is asked."""

    drafter: D_co
    target: Target
    lineage: Lineage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deployment(Generic[D_co]):
    """A pair in one engine, at one version, with one set of flags, and what that engine will do.

    Equal to itself alone, so that what many rules ask of it can be kept.
    """

    drafter: D_co
    target: Target
    request: LaunchRequest
    plan: Plan


#: The scopes of a rule that judges by as much as is known: files alone, then the target, then what the engine will do.
#: The linter runs it once for a check, on the widest of them that could be made.
Known: TypeAlias = Alone[D] | Pair[D] | Deployment[D]
Paired: TypeAlias = Pair[D] | Deployment[D]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """Something in a document that starts an engine, or looks like it.

    Attributes:
        at: where it stands.
        reason: why it cannot be checked, or not in full; "" if it can.
        needed: True if the verdict would rest on what is not known.
        lost: speculative flags that never reach the command.
    """

    at: Location
    reason: str = ""
    needed: bool = True
    lost: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressing:
    """A suppression, and what became of it in one run.

    Attributes:
        at: where it is written.
        code: the rule it silences.
        reason: why, in the words of whoever wrote it.
        until: the last day on which it holds, None for ever.
        today: the day of the run.
        matched: how many findings it took away; None if its rule could not judge what it covers.
        problem: why it suppresses nothing, "" if it can.
    """

    at: Location
    code: str
    reason: str
    until: date | None
    today: date
    matched: int | None
    problem: str = ""

    @property
    def expired(self) -> bool:
        """True if its last day is over."""
        return self.until is not None and self.until < self.today


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """A part of a checkpoint that is not what the lock file says.

    Attributes:
        at: where the lock file says it.
        subject: the checkpoint as shown.
        part: "commit", or the file.
        locked: what the lock file says, "" if it knows no such file.
        found: what is there now, "" if it is not there any more.
    """

    at: Location
    subject: str
    part: str
    locked: str
    found: str
