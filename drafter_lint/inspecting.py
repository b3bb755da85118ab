"""One checkpoint by itself: what it is as a drafter and as a target, and what of it could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Layout, Recognition
from drafter_lint.linter import attempt
from drafter_lint.opening import Checkpoints
from drafter_lint.report import Cost, Subject
from drafter_lint.targets import Target, read_target


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a checkpoint is.

    Attributes:
        subject: how it is named.
        recognition: what it was taken for as a drafter.
        target: what it offers as a target, None if its config could not be read.
        troubles: what could not be read, in words.
        cost: what reading took.
    """

    subject: Subject
    checkpoint: Checkpoint
    recognition: Recognition
    target: Target | None
    troubles: tuple[str, ...]
    cost: Cost

    @property
    def nothing_read(self) -> bool:
        """True if neither config nor weights could be read."""
        return self.target is None and self.recognition.drafter.layout is Layout.UNKNOWN and bool(self.troubles)


def inspect_checkpoint(reference: str, *, checkpoints: Checkpoints, revision: str | None = None) -> Inspection:
    """Say what a reference leads to.

    Raises:
        UsageError: the reference cannot be understood.
    """
    files = checkpoints.open(reference, role="drafter", revision=revision)
    opened = checkpoints.understood(files, None)
    target, _ = attempt(lambda: read_target(files))
    tally = checkpoints.tally
    return Inspection(
        subject=opened.drafter,
        checkpoint=files,
        recognition=opened.recognition,
        target=target,
        troubles=tuple(str(reading.trouble) for reading in opened.troubles),
        cost=Cost(requests=tally.requests, bytes=tally.bytes, seconds=tally.seconds),
    )
