"""One engine's command for an opened pair: what it needs, what mends it, what the user adds; checked as printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from drafter_lint.api import Job
from drafter_lint.composition import Composed, Omission
from drafter_lint.engines import engine
from drafter_lint.engines.command import Remedy, Wanted
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Finding, Outcome
from drafter_lint.launch import parse_command, split_command
from drafter_lint.launch.composed import Command, Part
from drafter_lint.launch.typed import typed_parts
from drafter_lint.linter import EngineChoice, Opened, checker
from drafter_lint.naming import beforehand, given_name
from drafter_lint.report import Check
from drafter_lint.suppressions import suppressed

#: A command is mended so many times at most.
_ROUNDS = 4
#: Flags that are refused one without the other stand and fall together.
_COUNTS = ("--speculative-num-steps", "--speculative-eagle-topk", "--speculative-num-draft-tokens")
#: Rules whose findings say that a word does nothing: worth telling of what others often type.
_IDLE = ("DFL407", "DFL408")
#: Where the pair is named: by what was asked for, and by nothing else.
_NAMES = ("--model-path", "--speculative-draft-model-path", "--model", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be started, and how.

    Attributes:
        job: the user's own flags, what is shown, and from when on a finding stands against a command.
        tensor_parallel: devices the target is spread over.
        context_length: tokens to serve at.
    """

    job: Job
    tensor_parallel: int | None = None
    context_length: int | None = None

    @property
    def bar(self) -> Outcome:
        """From which outcome on a flag does harm."""
        return Outcome.SILENT if self.job.fail_on == "never" else Outcome(self.job.fail_on)


@dataclass(frozen=True, slots=True)
class Tried:
    """A command, and what a check of it as printed says."""

    command: Command
    check: Check

    @property
    def followed(self) -> bool:
        """True if every plan goes as far as the drafter's class, or as a refusal."""
        plans = self.check.plans
        return bool(plans) and all(plan.understood and (plan.draft_class or plan.refusals) for plan in plans)

    def weight(self, least: Outcome) -> tuple[int, ...]:
        """How bad it is: findings by outcome down to ``least``, the worst first, then what could not be checked."""
        counted = [
            len({(item.code, item.message) for item in self.check.findings if item.outcome is outcome})
            for outcome in sorted(Outcome, key=lambda outcome: -outcome.rank)
            if outcome.rank >= least.rank
        ]
        return (*counted, sum(skip.needed for skip in self.check.not_checked))

    def beyond(self, other: Tried) -> tuple[Finding, ...]:
        """The findings that another command does not have, the worst first."""
        had = {(item.code, item.message) for item in other.check.findings}
        return tuple(item for item in self.check.findings if (item.code, item.message) not in had)


class Composer:
    """Puts commands together for an opened pair; what no engine has a say in is judged once."""

    def __init__(self, order: Order, opened: Opened) -> None:
        self._order, self._opened = order, opened
        self._checked = checker(opened, selection=order.job.selection)

    def made(self, choice: EngineChoice, *, advise: bool) -> Composed:
        """One engine's command; ``advise`` also looks for what others often type and should not."""
        return _OneEngine(self._order, self._opened, choice, self._checked).made(advise=advise)


class _OneEngine:
    """Puts one engine's command together, for one version."""

    def __init__(
        self, order: Order, opened: Opened, choice: EngineChoice, checked: Callable[[EngineChoice], Check]
    ) -> None:
        version = version_of(choice.version) if choice.version else profile(choice.name).newest
        self._order, self._opened, self._choice = order, opened, replace(choice, request=None)
        self._world = worlds(profile(choice.name), version)[-1]
        self._engine, self._checked = engine(choice.name), checked

    def made(self, *, advise: bool) -> Composed:
        """The command; ``advise`` also looks for what others often type and should not."""
        wanted, fail_on = self._wanted(), self._order.job.fail_on
        if wanted is None:
            return Composed(check=self._verdict(self._choice), command=None, fail_on=fail_on)
        start = Command(engine=self._choice.name, release=self._world.basis)
        needs = self._mended(wanted, self._tried(start.having(self._engine.composed(self._world, wanted))))
        best, omitted = self._with_typed(wanted, needs)
        if advise and not _against(best, self._order.bar):
            omitted += self._habits(wanted, best)
        return Composed(
            check=best.check,
            command=best.command,
            notes=tuple(beforehand(self._order.job.flags, wanted, best.command)),
            omitted=tuple(omitted),
            fail_on=fail_on,
        )

    def _wanted(self) -> Wanted | None:
        """None where the method or the target is not known: a guess would be printed as a command."""
        opened = self._opened
        drafter, target = opened.recognition.drafter, opened.target_read
        if target is None or not drafter.method:
            return None
        files, theirs = opened.drafter_files, target.checkpoint
        return Wanted(
            drafter=drafter,
            drafter_name=given_name(files),
            target=target,
            target_name=given_name(theirs),
            drafter_revision=files.reference.revision,
            target_revision=theirs.reference.revision,
            tensor_parallel=self._order.tensor_parallel,
            context_length=self._order.context_length,
        )

    def _verdict(self, choice: EngineChoice) -> Check:
        check, job = self._checked(choice), self._order.job
        if not job.suppressions:
            return check
        today = date.today()  # noqa: DTZ011 - the user's day
        (check,) = suppressed((check,), job.suppressions, selection=job.selection, today=today, whole=False)
        return check

    def _tried(self, command: Command) -> Tried:
        """A command, read again from its text and checked like one that somebody typed."""
        request = parse_command(split_command(command.text))
        return Tried(command, self._verdict(replace(self._choice, request=request)))

    def _mended(self, wanted: Wanted, tried: Tried) -> Tried:
        """With whatever makes it better; the user's own words are not touched."""
        for _ in range(_ROUNDS):
            typed = {part.name for part in tried.command.parts if part.origin == "given"}
            found = self._engine.remedies(self._world, wanted, tried.check.plans)
            worth = any(tried.weight(Outcome.SLOW))
            fitting = [
                item for item in found if not typed & {p.name for p in item.parts} and (worth or item.precaution)
            ]
            better = [result for item in fitting if (result := self._better(tried, item)) is not None]
            if not better:
                break
            tried = min(better, key=lambda result: result.weight(Outcome.SLOW))
        return tried

    def _better(self, tried: Tried, remedy: Remedy) -> Tried | None:
        """A command with a remedy, its parts naming what they mend; None if it is no better."""
        result = self._tried(tried.command.having(remedy.parts))
        least = Outcome.HYGIENE if remedy.precaution else Outcome.SLOW
        if result.weight(least) >= tried.weight(least) or not (result.followed >= tried.followed or remedy.unfollowed):
            return None
        gone = tried.beyond(result)
        codes = tuple(dict.fromkeys(item.code for item in gone))
        because = f"; otherwise {gone[0].message}" if gone and remedy.quoting else ""
        parts = [replace(part, origin="mends", mends=codes, why=part.why + because) for part in remedy.parts]
        return Tried(tried.command.having(parts), result.check)

    def _with_typed(self, wanted: Wanted, needs: Tried) -> tuple[Tried, list[Omission]]:
        """With the user's own flags, but for those that do harm."""
        typed = typed_parts(self._order.job.flags, engine=self._choice.name)
        held = {part.name: part for part in needs.command.parts}
        new = [part for part in typed if not _same(held.get(part.name), part)]
        omitted = [_another(part, held) for part in new if part.name in _NAMES]
        left = _grouped(part for part in new if part.name not in _NAMES)
        if not left:
            return needs, omitted
        length = next((part.value for part in typed if part.name in ("--context-length", "--max-model-len")), None)
        if isinstance(length, str) and length.isdigit():
            wanted = replace(wanted, context_length=int(length))
        bar = self._order.bar
        tried = self._mended(wanted, self._tried(needs.command.having(_flat(left))))
        while left and tried.weight(bar) > needs.weight(bar):
            fewer = [[group for group in left if group is not one] for one in left]
            trials = [self._mended(wanted, self._tried(needs.command.having(_flat(groups)))) for groups in fewer]
            index = min(range(len(trials)), key=lambda index: trials[index].weight(bar))
            if trials[index].weight(bar) >= tried.weight(bar):
                break
            omitted.append(_omission(left[index], tried.beyond(trials[index]), held))
            left, tried = fewer[index], trials[index]
        return tried, omitted

    def _habits(self, wanted: Wanted, best: Tried) -> list[Omission]:
        """What is often typed and would do harm to this command, or nothing at all."""
        typed = {part.name for part in typed_parts(self._order.job.flags, engine=self._choice.name)}
        groups = [group for group in self._engine.habits(self._world, wanted) if not typed & {p.name for p in group}]
        held = {part.name: part for part in best.command.parts}
        omitted = []
        for group in groups:
            beyond = self._tried(best.command.having(group)).beyond(best)
            more = [item for item in beyond if item.outcome.rank >= 2 or item.code in _IDLE]
            if more:
                omitted.append(replace(_omission(group, more, held), asked=False))
        return omitted


def _against(tried: Tried, bar: Outcome) -> bool:
    return any(item.outcome.rank >= bar.rank for item in tried.check.findings)


def _same(held: Part | None, typed: Part) -> bool:
    """True if the command says already what is typed."""
    return held is not None and held.kind == typed.kind and str(held.value) == str(typed.value)


def _grouped(parts: Iterable[Part]) -> list[tuple[Part, ...]]:
    """Parts alone, the three counts together."""
    groups: dict[str, tuple[Part, ...]] = {}
    for part in parts:
        key = "counts" if part.name in _COUNTS else part.name
        groups[key] = (*groups.get(key, ()), part)
    return list(groups.values())


def _flat(groups: Iterable[tuple[Part, ...]]) -> Iterator[Part]:
    return (part for group in groups for part in group)


def _another(part: Part, held: Mapping[str, Part]) -> Omission:
    why = "another checkpoint than the one this command is for"
    return Omission(shown=part.shown, why=why, instead=held[part.name].shown if part.name in held else "", asked=True)


def _omission(group: Sequence[Part], findings: Sequence[Finding], held: Mapping[str, Part]) -> Omission:
    worst = max(findings, key=lambda item: item.outcome.rank, default=None)
    return Omission(
        shown=" ".join(part.shown for part in group),
        why=worst.message if worst else "the command does not work with it",
        code=worst.code if worst else "",
        instead=" ".join(held[part.name].shown for part in group if part.name in held),
        asked=True,
    )
