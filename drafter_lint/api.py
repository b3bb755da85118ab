"""The run as a library call: what to check, opened, checked against every engine asked for, and reported."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from drafter_lint.aliases import aliases
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Layout, Recognition
from drafter_lint.engines.plan import Plan
from drafter_lint.errors import UsageError
from drafter_lint.facts import engines as known_engines
from drafter_lint.findings import Confidence, Located, Location, Role
from drafter_lint.launch import LaunchRequest, flag_table, parse_command, split_command
from drafter_lint.linter import EngineChoice, Opened, Selection, attempt, check_pair, understand
from drafter_lint.reference import Reference, parse_reference
from drafter_lint.report import Check, Cost, FailOn, Report, Subject
from drafter_lint.sources import Source, Tally, open_source
from drafter_lint.targets import Target, read_target

RECIPE_SUFFIX = ".recipe.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything a run needs to know.

    Attributes:
        drafter: a reference, a source of bytes, or None if the launch names it.
        target: the same; None if the launch or the drafter names it.
        engines: "sglang", "sglang==0.5.23", …; empty for every engine known.
        flags: an engine's flags, as after ``--``.
        launch: a whole command, as text.
        revision: of the drafter.
        target_revision: of the target.
        trained_on: the boundaries the drafter was trained on, if the user knows.
        offline: read nothing but caches.
        timeout: seconds all requests to one repository may take together.
        selection: which rules run, and what is shown.
        fail_on: from which outcome on the run fails.
        aliases: further aliases, normalised, to ids.
    """

    drafter: str | Source | None = None
    target: str | Source | None = None
    engines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    launch: str | None = None
    revision: str | None = None
    target_revision: str | None = None
    trained_on: tuple[int, ...] | None = None
    offline: bool = False
    timeout: float = 30.0
    selection: Selection = field(default_factory=Selection)
    fail_on: FailOn = "silent"
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def run(job: Job) -> Report:
    """Check what a job asks for.

    Raises:
        UsageError: the job cannot be understood.
    """
    tally = Tally()
    choices = _choices(job)
    typed = next((choice.request for choice in choices if choice.request), None)
    opened = _open(job, typed, tally)
    checks = tuple(_check(opened, choice, job) for choice in choices)
    cost = Cost(requests=tally.requests, bytes=tally.bytes, seconds=tally.seconds)
    return Report(checks=checks, cost=cost, fail_on=job.fail_on)


def check(
    drafter: str | Source,
    target: str | Source | None = None,
    *,
    engines: Sequence[str] = (),
    flags: Sequence[str] = (),
    trained_on: Sequence[int] | None = None,
    offline: bool = False,
    fail_on: FailOn = "silent",
    min_confidence: Confidence = Confidence.LIKELY,
) -> Report:
    """Check a drafter with its target.

    Args:
        drafter: a folder, ``owner/name``, an alias, or a :class:`~drafter_lint.sources.Source`.
        target: the same; None to take the target the drafter names.
        engines: "sglang", "vllm==0.33.0", …; empty for every engine known.
        flags: the engine's flags ("--speculative-algorithm", "EAGLE3").
        trained_on: boundaries the drafter was trained on (0 = embeddings, k = input of layer k), if known.
        offline: read nothing but caches.
        fail_on: from which outcome on ``exit_code`` is 1.
        min_confidence: findings below it are left out.

    Raises:
        UsageError: a reference, an engine or a flag cannot be understood.
    """
    return run(
        Job(
            drafter=drafter,
            target=target,
            engines=tuple(engines),
            flags=tuple(flags),
            trained_on=tuple(trained_on) if trained_on is not None else None,
            offline=offline,
            fail_on=fail_on,
            selection=Selection(min_confidence=min_confidence),
        )
    )


def plan(
    drafter: str | Source,
    target: str | Source | None = None,
    *,
    engine: str,
    flags: Sequence[str] = (),
    offline: bool = False,
) -> tuple[Plan, ...]:
    """What an engine will do with a pair: one plan, or two where the releases read around the version differ.

    Raises:
        UsageError: a reference, the engine or a flag cannot be understood.
    """
    report = run(Job(drafter=drafter, target=target, engines=(engine,), flags=tuple(flags), offline=offline))
    return report.checks[0].plans


def _choices(job: Job) -> tuple[EngineChoice, ...]:
    named = [_engine_name(text) for text in job.engines]
    if job.launch is not None:
        request = parse_command(split_command(job.launch), engine=None)
        wanted = [item for item in named if item[0] == request.engine] or [(request.engine, None)]
        return tuple(EngineChoice(name=name, version=version, request=request) for name, version in wanted)
    if not job.flags:
        wanted_engines = named or [(name, None) for name in known_engines()]
        return tuple(EngineChoice(name=name, version=version, asked=bool(named)) for name, version in wanted_engines)
    if not named:
        named = [(_engine_of_flags(job.flags), None)]
    if len({name for name, _ in named}) > 1:
        raise UsageError("flags after -- belong to one engine; several engines are named")
    request = parse_command(job.flags, engine=named[0][0])
    return tuple(EngineChoice(name=name, version=version, request=request) for name, version in named)


def _engine_name(text: str) -> tuple[str, str | None]:
    name, separator, version = text.partition("==")
    if name not in known_engines():
        raise UsageError(f"no engine called {name!r}; known: {', '.join(known_engines())}")
    if separator and not version:
        raise UsageError(f"{text!r}: a version is missing after ==")
    return name, version or None


def _engine_of_flags(flags: Sequence[str]) -> str:
    """The one engine whose table knows a speculative flag that is typed."""
    words = {word.partition("=")[0].partition(".")[0].replace("_", "-") for word in flags if word.startswith("--")}
    fits = [
        name
        for name in known_engines()
        if any(word in (info.name, *info.aliases) for info in flag_table(name).values() if info.field for word in words)
    ]
    if len(fits) != 1:
        raise UsageError("whose flags are these? name the engine with --engine")
    return fits[0]


def _open(job: Job, typed: LaunchRequest | None, tally: Tally) -> Opened:
    drafter = job.drafter or (typed.drafter.value if typed and typed.drafter else None)
    target = job.target or (typed.target.value if typed and typed.target else None)
    self_filled = drafter is None and target is not None
    if drafter is None:
        drafter = target
    if drafter is None:
        raise UsageError("name a drafter, or give a launch command that does")
    files = open_checkpoint(drafter, job, role="drafter", tally=tally, revision=job.revision)
    origin = "given"
    if target is None and (claimed := _claimed(files)):
        target, origin = claimed, "claimed by the drafter"
    other = (
        open_checkpoint(target, job, role="target", tally=tally, revision=job.target_revision)
        if target is not None
        else None
    )
    return understand(
        files, other, target_origin="also the drafter" if self_filled else origin, trained_on=job.trained_on
    )


def _claimed(drafter: Checkpoint) -> str | None:
    """The target the drafter states as its own, if it states one."""
    from drafter_lint.drafters.recognise import recognise  # noqa: PLC0415 - only met when no target was named

    recognition, _ = attempt(lambda: recognise(drafter))
    stated = [claim for claim in recognition.drafter.claims if claim.strength == "stated"] if recognition else []
    return stated[0].target.value if stated else None


def open_checkpoint(
    asked: str | Source, job: Job, *, role: Role, tally: Tally, revision: str | None = None
) -> Checkpoint:
    """Open a reference or a source as a checkpoint; nothing is read yet.

    Raises:
        UsageError: the reference cannot be understood.
    """
    if not isinstance(asked, str):
        name = asked.identity.name
        return Checkpoint(Reference(spelling=name, kind="local", name=name), asked, role=role)
    table = {**aliases(), **job.aliases}
    reference = parse_reference(asked, exists=os.path.exists, aliases=table, revision=revision)
    if reference.kind == "local" and reference.name.endswith(RECIPE_SUFFIX):
        return _open_recipe(reference, role=role, tally=tally)
    source = open_source(reference, tally=tally, deadline=job.timeout, offline=job.offline)
    return Checkpoint(reference, source, role=role)


def _open_recipe(reference: Reference, *, role: Role, tally: Tally) -> Checkpoint:
    """A checkpoint written as text: it goes by the name it stands for."""
    from drafter_lint.recipe import Recipe  # noqa: PLC0415 - recipes are read with pydantic; other references need none

    path = Path(reference.name)
    try:
        recipe = Recipe.parse(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: not a recipe: {error}") from error
    named = replace(reference, name=recipe.name or path.name.removesuffix(RECIPE_SUFFIX))
    return Checkpoint(named, recipe.source(tally), role=role)


def _check(opened: Opened, choice: EngineChoice, job: Job) -> Check:
    request = choice.request
    if request is not None and job.launch is None:
        choice = replace(choice, request=_completed(request, opened))
    return check_pair(opened, choice, selection=job.selection)


def _completed(request: LaunchRequest, opened: Opened) -> LaunchRequest:
    """The flags typed after ``--``, with the drafter and target that were named before it."""
    place = Location(role="launch", subject="command line", label="")
    if request.drafter is None and opened.target and opened.drafter.name != opened.target.name:
        request = replace(request, drafter=Located(opened.drafter.name, place))
    if request.target is None and opened.target:
        request = replace(request, target=Located(opened.target.name, place))
    return request


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


def inspect_checkpoint(job: Job) -> Inspection:
    """Say what ``job.drafter`` is.

    Raises:
        UsageError: the reference cannot be understood.
    """
    tally = Tally()
    if job.drafter is None:
        raise UsageError("name a checkpoint")
    files = open_checkpoint(job.drafter, job, role="drafter", tally=tally, revision=job.revision)
    opened = understand(files, None)
    target, _ = attempt(lambda: read_target(files))
    return Inspection(
        subject=opened.drafter,
        checkpoint=files,
        recognition=opened.recognition,
        target=target,
        troubles=tuple(str(reading.trouble) for reading in opened.troubles),
        cost=Cost(requests=tally.requests, bytes=tally.bytes, seconds=tally.seconds),
    )
