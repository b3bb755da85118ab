"""The commands that start a pair: one for each engine, and where else there is one if this engine has none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from drafter_lint.api import Job, checkpoints_for, choices_of, open_pair
from drafter_lint.composing import Composer, Order
from drafter_lint.composition import Composed, Launches, Releases
from drafter_lint.facts import engines, profile
from drafter_lint.linter import EngineChoice, Opened
from drafter_lint.opening import Asked, Checkpoints
from drafter_lint.report import Cost, FailOn


def compose(order: Order, *, checkpoints: Checkpoints | None = None, advise: bool = True) -> Launches:
    """Put together the command of every engine asked for.

    Args:
        order: the pair, the engines, and what is to be started.
        checkpoints: opens what it names.
        advise: also look for what others often type and should not, and for releases that work where this one does not.

    Raises:
        UsageError: what is asked for cannot be understood.
    """
    job = order.job
    opener = checkpoints or checkpoints_for(job)
    choices = choices_of(job)
    request = next((choice.request for choice in choices if choice.request), None)
    opened = open_pair(job, request, opener)
    if opened.target is None and getattr(opened.recognition.drafter, "container", "") == "target":
        # What carries its drafter inside is its own target.
        inside = replace(job, drafter=None, target=job.drafter, target_revision=job.target_revision or job.revision)
        opened = open_pair(inside, request, opener)
    made, composer = [], Composer(order, opened)
    for choice in choices:
        composed = composer.made(choice, advise=advise)
        if advise and composed.status == "refused":
            composed = replace(composed, works_in=tuple(_elsewhere(order, opened, choice.name)))
        made.append(composed)
    return Launches(composed=tuple(made), cost=Cost.of(opener.tally), fail_on=job.fail_on)


def launch_command(
    drafter: Asked,
    target: Asked | None = None,
    *,
    engine: str,
    flags: Sequence[str] = (),
    tensor_parallel: int | None = None,
    offline: bool = False,
    fail_on: FailOn = "silent",
) -> Composed:
    """The command that starts a drafter with its target in one engine, checked as printed.

    Args:
        drafter: a folder, ``owner/name``, an alias, a :class:`~drafter_lint.sources.Source`, or the files themselves.
        target: the same; None to take the target the drafter names.
        engine: "sglang", "vllm==0.33.0", …
        flags: the user's own, kept as far as they do no harm.
        tensor_parallel: devices the target is spread over.
        offline: read nothing but caches.
        fail_on: from which outcome on a finding stands against the command.

    Raises:
        UsageError: a reference, the engine or a flag cannot be understood.
    """
    job = Job(drafter=drafter, target=target, engines=(engine,), flags=tuple(flags), offline=offline, fail_on=fail_on)
    return compose(Order(job=job, tensor_parallel=tensor_parallel)).composed[0]


def _elsewhere(order: Order, opened: Opened, engine: str) -> Iterator[Releases]:
    """The read releases in which the pair has a command; another engine's without the user's own flags."""
    bare = replace(order, job=replace(order.job, flags=()))
    for name in sorted(engines(), key=lambda name: name != engine):
        composer = Composer(order if name == engine else bare, opened)
        releases = [str(version) for version in profile(name).read]
        choices = [EngineChoice(name=name, version=version) for version in releases]
        ready = [composer.made(choice, advise=False).status == "ready" for choice in choices]
        for works, run in groupby(zip(ready, releases, strict=True), key=lambda item: item[0]):
            if works:
                versions = [version for _, version in run]
                yield Releases(name, versions[0], versions[-1])
