"""Checkpoints by themselves: what one is, as a drafter and as a target, and where two of them differ."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.comparing import Comparison, compare
from drafter_lint.inspection import Inspection
from drafter_lint.linter import subject_of
from drafter_lint.looking import Look, look
from drafter_lint.opening import Asked, Checkpoints
from drafter_lint.report import Cost, Subject
from drafter_lint.standin import stand_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two checkpoints and where they differ.

    Attributes:
        subjects: how both are named.
        comparison: the differences.
        unread: True if a part of either could not be read.
        cost: what reading took.
    """

    subjects: tuple[Subject, Subject]
    comparison: Comparison
    unread: bool
    cost: Cost


def inspect_checkpoint(reference: str, *, checkpoints: Checkpoints, revision: str | None = None) -> Inspection:
    """Say what a reference leads to.

    Raises:
        UsageError: the reference cannot be understood.
    """
    seen = look(checkpoints.open(reference, role="drafter", revision=revision))
    hearsay = None if seen.target or not seen.troubles else stand_in(seen.checkpoint, seen.troubles[0])
    return Inspection(subject=_subject(seen), look=seen, cost=_cost(checkpoints), hearsay=hearsay)


def compare_checkpoints(a: Asked, b: Asked, *, checkpoints: Checkpoints) -> Compared:
    """Say where two drafters, or two targets, differ.

    Raises:
        UsageError: a reference cannot be understood.
    """
    one, other = (look(checkpoints.open(reference, role="drafter")) for reference in (a, b))
    return Compared(
        subjects=(_subject(one), _subject(other)),
        comparison=compare(one, other),
        unread=bool(one.troubles or other.troubles),
        cost=_cost(checkpoints),
    )


def _subject(seen: Look) -> Subject:
    return subject_of(seen.checkpoint, seen.title)


def _cost(checkpoints: Checkpoints) -> Cost:
    return Cost.of(checkpoints.tally)
