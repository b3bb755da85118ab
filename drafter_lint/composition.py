"""Commands that were put together, what each rests on, and what came of checking them as printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from drafter_lint.findings import Finding, Outcome
from drafter_lint.launch.composed import Command
from drafter_lint.report import Check, Cost, FailOn, Report

Status = Literal["ready", "refused", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """Something that is not in a command.

    Attributes:
        shown: as it would be written.
        why: what it would do.
        code: of the finding it would bring, "" if none has a code.
        instead: what stands in its place, "" if nothing does.
        asked: True if the user typed it, False if others often do.
    """

    shown: str
    why: str
    code: str = ""
    instead: str = ""
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Releases:
    """A run of read releases of an engine."""

    engine: str
    first: str
    last: str

    @property
    def shown(self) -> str:
        """``sglang 0.5.13 to 0.5.23``."""
        return f"{self.engine} {self.first}" + (f" to {self.last}" if self.last != self.first else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One engine's command.

    Attributes:
        check: of the command as printed; without a command, of the pair.
        command: None if none can be put together.
        notes: what has to be done before it is typed.
        omitted: what is left out, and why.
        works_in: where the pair has a command, if it has none here; None if that was not looked for.
        fail_on: from which outcome on a finding stands against the command.
    """

    check: Check
    command: Command | None
    notes: tuple[str, ...] = ()
    omitted: tuple[Omission, ...] = ()
    works_in: tuple[Releases, ...] | None = None
    fail_on: FailOn = "silent"

    @property
    def against(self) -> tuple[Finding, ...]:
        """The findings that stand against it."""
        if self.fail_on == "never":
            return ()
        bar = Outcome(self.fail_on).rank
        return tuple(item for item in self.check.findings if item.outcome.rank >= bar)

    @property
    def status(self) -> Status:
        """``ready`` to be typed, ``refused`` by a finding, or ``unknown``: something needed could not be checked."""
        if self.against:
            return "refused"
        return "unknown" if self.command is None or self.check.verdict == "unknown" else "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """The commands of a pair, one for each engine."""

    composed: tuple[Composed, ...]
    cost: Cost
    fail_on: FailOn = "silent"

    @property
    def report(self) -> Report:
        """The report on the commands as printed."""
        return Report(checks=tuple(item.check for item in self.composed), cost=self.cost, fail_on=self.fail_on)

    @property
    def exit_code(self) -> int:
        """0 if there is a command to type, 1 if there is none that works, 3 if something needed could not be read."""
        return self.report.exit_code


def defaults(item: Composed) -> Iterator[tuple[str, str, str]]:
    """What the engine fills in for flags of the drafting that a command leaves out: flag, value, and why."""
    for rewrite in item.check.plans[-1].rewrites if item.check.plans else ():
        if rewrite.before == "unset" and rewrite.what.startswith("--spec"):
            yield rewrite.what, rewrite.after, rewrite.says
