"""The run as a library call: what to check, opened, checked against every engine asked for, and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from drafter_lint.drafters import Trained, Word
from drafter_lint.engines.plan import Plan
from drafter_lint.errors import UsageError
from drafter_lint.facts import engines as known_engines
from drafter_lint.findings import Confidence, Located, Location
from drafter_lint.launch import LaunchRequest, flag_table, parse_command, split_command
from drafter_lint.linter import EngineChoice, Opened, Selection, check_alone, check_pairs, tell
from drafter_lint.opening import Asked, Checkpoints, claimed_target
from drafter_lint.report import Check, Cost, FailOn, Report, Subject
from drafter_lint.scope import Stated
from drafter_lint.suppressions import Suppression, suppressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One pair, or one drafter alone, and everything a run needs to know of it.

    Attributes:
        drafter: a reference, a source, files in memory, or None if the launch names it.
        target: the same; None if the launch or the drafter names it.
        engines: "sglang", "sglang==0.5.23", …; empty for every engine known.
        flags: an engine's flags, as after ``--``.
        launch: a whole command, as text or as found in a document.
        stated: where the document states the command, and what of it cannot be resolved.
        alone: look at the drafter's own files only.
        revision: of the drafter.
        target_revision: of the target.
        trained_on: what the user knows of its training.
        offline: read nothing but caches.
        timeout: seconds all requests to one repository may take together.
        fingerprint: whether a few rows of both embeddings may be read and compared.
        selection: which rules run, and what is shown.
        fail_on: from which outcome on the run fails.
        aliases: further aliases, normalised, to ids.
        suppressions: what is taken out of the verdict.
    """

    drafter: Asked | None = None
    target: Asked | None = None
    engines: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    launch: str | LaunchRequest | None = None
    stated: Stated | None = None
    alone: bool = False
    revision: str | None = None
    target_revision: str | None = None
    trained_on: Trained | None = None
    offline: bool = False
    timeout: float = 30.0
    fingerprint: bool = True
    selection: Selection = field(default_factory=Selection)
    fail_on: FailOn = "silent"
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()


def run(job: Job, *more: Job, checkpoints: Checkpoints | None = None, whole: bool = False) -> Report:
    """Check what some jobs ask for; what several of them need is read once.

    Args:
        job: the first; how to read and when to fail is taken from it.
        more: the others, in the order of the report.
        checkpoints: opens what they name.
        whole: True if the jobs are all that the settings speak of.

    Raises:
        UsageError: a job cannot be understood.
    """
    jobs = (job, *more)
    opener = checkpoints or checkpoints_for(job)
    checks = tuple(check for each in jobs for check in _checks(each, opener))
    written = [item for each in jobs for item in each.suppressions]
    if written:
        checks = suppressed(checks, written, selection=job.selection, today=date.today(), whole=whole)  # noqa: DTZ011 - the user's day
    return Report(checks=checks, cost=Cost.of(opener.tally), fail_on=job.fail_on)


def checkpoints_for(job: Job) -> Checkpoints:
    """What opens the references of a job."""
    return Checkpoints(aliases=job.aliases, offline=job.offline, timeout=job.timeout, fingerprint=job.fingerprint)


def check(
    drafter: Asked,
    target: Asked | None = None,
    *,
    engines: Sequence[str] = (),
    flags: Sequence[str] = (),
    trained_on: Sequence[int | Word] | None = None,
    offline: bool = False,
    fingerprint: bool = True,
    fail_on: FailOn = "silent",
    min_confidence: Confidence = Confidence.LIKELY,
) -> Report:
    """Check a drafter with its target.

    Args:
        drafter: a folder, ``owner/name``, an alias, a :class:`~drafter_lint.sources.Source`, or the files themselves by
            path, as bytes: right after an export, nothing has to be written first.
        target: the same; None to take the target the drafter names.
        engines: "sglang", "vllm==0.33.0", …; empty for every engine known.
        flags: the engine's flags ("--speculative-algorithm", "EAGLE3").
        trained_on: boundaries the drafter was trained on (0 = embeddings, k = input of layer k), and words for what
            else no file says: "norm-before-residual", "no-norm-before-residual", and for prediction layers
            "state-before-norm", "state-after-norm".
        offline: read nothing but caches.
        fingerprint: whether a few rows of both embeddings may be read and compared: at most four requests.
        fail_on: from which outcome on ``exit_code`` is 1.
        min_confidence: findings below it are left out.

    Raises:
        UsageError: a reference, an engine or a flag cannot be understood.
    """
    job = Job(
        drafter=drafter,
        target=target,
        engines=tuple(engines),
        flags=tuple(flags),
        trained_on=Trained.told(trained_on) if trained_on is not None else None,
        offline=offline,
        fingerprint=fingerprint,
        fail_on=fail_on,
        selection=Selection(min_confidence=min_confidence),
    )
    return run(job)


def plan(
    drafter: Asked, target: Asked | None = None, *, engine: str, flags: Sequence[str] = (), offline: bool = False
) -> tuple[Plan, ...]:
    """What an engine will do with a pair: one plan, or two where the releases read around the version differ.

    Raises:
        UsageError: a reference, the engine or a flag cannot be understood.
    """
    job = Job(
        drafter=drafter,
        target=target,
        engines=(engine,),
        flags=tuple(flags),
        offline=offline,
        fingerprint=False,  # a plan judges nothing
    )
    return run(job).checks[0].plans


def _checks(job: Job, opener: Checkpoints) -> tuple[Check, ...]:
    """The checks of one job. What a document says wrongly is not checked; what the user says wrongly is an error."""
    if job.stated is None:
        return _judged(job, opener)
    try:
        checks = () if job.stated.needed and job.stated.reason else _judged(job, opener)
    except UsageError as error:
        return (_only_stated(replace(job.stated, reason=str(error), needed=True), job),)
    checks = tuple(replace(check, source=job.stated.at) for check in checks)
    return tuple(tell(check, job.stated, selection=job.selection) for check in checks) or (
        _only_stated(job.stated, job),
    )


def _only_stated(stated: Stated, job: Job) -> Check:
    """A check of which nothing is known but where its command stands."""
    nothing = Check(
        drafter=Subject(role="drafter", spelling="", name="unknown drafter", origin="not resolved"),
        target=None,
        engine=None,
        request=job.launch if isinstance(job.launch, LaunchRequest) else None,
        recognition=None,
        target_read=None,
        plans=(),
        findings=(),
        not_checked=(),
        checked=0,
        source=stated.at,
    )
    return tell(nothing, stated, selection=job.selection)


def _judged(job: Job, opener: Checkpoints) -> tuple[Check, ...]:
    if job.alone:
        if job.drafter is None:
            raise UsageError("name a drafter")
        files = opener.open(job.drafter, role="drafter", revision=job.revision)
        opened = opener.understood(files, None, trained_on=job.trained_on)
        return (check_alone(opened, selection=job.selection),)
    choices = choices_of(job)
    opened = open_pair(job, next((choice.request for choice in choices if choice.request), None), opener)
    return check_pairs(opened, [_with_names(choice, opened, job) for choice in choices], selection=job.selection)


def choices_of(job: Job) -> tuple[EngineChoice, ...]:
    """The engines a job is checked against.

    Raises:
        UsageError: an engine is not known, or nobody can tell whose flags these are.
    """
    named = [engine_name(text) for text in job.engines]
    if job.launch is not None:
        request = job.launch
        if isinstance(request, str):
            request = parse_command(split_command(request), engine=None)
        wanted = [item for item in named if item[0] == request.engine] or [(request.engine, None)]
        return tuple(EngineChoice(name=name, version=version, request=request) for name, version in wanted)
    if not job.flags:
        wanted_engines = named or [(name, None) for name in known_engines()]
        return tuple(EngineChoice(name=name, version=version, asked=bool(named)) for name, version in wanted_engines)
    if not named:
        named = [(engine_of_flags(job.flags), None)]
    if len({name for name, _ in named}) > 1:
        raise UsageError("flags after -- belong to one engine; several engines are named")
    request = parse_command(job.flags, engine=named[0][0])
    return tuple(EngineChoice(name=name, version=version, request=request) for name, version in named)


def engine_name(text: str) -> tuple[str, str | None]:
    """``sglang==0.5.23`` as name and version.

    Raises:
        UsageError: no such engine is known, or a version is missing.
    """
    name, separator, version = text.partition("==")
    if name not in known_engines():
        raise UsageError(f"no engine called {name!r}; known: {', '.join(known_engines())}")
    if separator and not version:
        raise UsageError(f"{text!r}: a version is missing after ==")
    return name, version or None


def engine_of_flags(flags: Sequence[str]) -> str:
    """The one engine whose table knows a speculative flag that is typed.

    Raises:
        UsageError: none does, or several.
    """
    words = {word.partition("=")[0].partition(".")[0].replace("_", "-") for word in flags if word.startswith("--")}
    fits = [
        name
        for name in known_engines()
        if any(word in (info.name, *info.aliases) for info in flag_table(name).values() if info.field for word in words)
    ]
    if len(fits) != 1:
        raise UsageError("whose flags are these? name the engine with --engine")
    return fits[0]


def open_pair(job: Job, typed: LaunchRequest | None, opener: Checkpoints) -> Opened:
    """Both sides of a job, named by it or by the command it gives.

    Raises:
        UsageError: neither names a drafter.
    """
    # A reference that is there and empty, as a variable nobody set leaves one, is a mistake and not an absent one.
    drafter = typed.drafter.value if job.drafter is None and typed and typed.drafter else job.drafter
    target = typed.target.value if job.target is None and typed and typed.target else job.target
    self_filled = drafter is None and target is not None
    if drafter is None:
        drafter = target
    if drafter is None:
        raise UsageError("name a drafter, or give a launch command that does")
    # A revision in the command belongs to the checkpoint that the command names, not to one named beside it.
    revision = _revision(typed.revision if typed and job.target is None else None)
    draft_revision = _revision(typed.draft_revision if typed and job.drafter is None else None)
    files = opener.open(drafter, role="drafter", revision=job.revision or (revision if self_filled else draft_revision))
    origin = "given"
    if target is None and (claimed := claimed_target(files)):
        target, origin, revision = claimed, "claimed by the drafter", None
    other = opener.open(target, role="target", revision=job.target_revision or revision) if target is not None else None
    return opener.understood(
        files, other, origin="also the drafter" if self_filled else origin, trained_on=job.trained_on
    )


def _revision(typed: Located[str] | None) -> str | None:
    return typed.value if typed else None


def _with_names(choice: EngineChoice, opened: Opened, job: Job) -> EngineChoice:
    """The choice with a request that names both sides, where the user named them beside the flags."""
    request = choice.request
    if request is not None and (job.launch is None or _names_by_variable(request)):
        return replace(choice, request=_completed(request, opened))
    return choice


def _names_by_variable(request: LaunchRequest) -> bool:
    """True if the command names a drafter that nobody but the user knows."""
    named = "--speculative-draft-model-path" in request.options or "model" in request.speculative_config
    return request.drafter is None and named and bool(request.unresolved)


def _completed(request: LaunchRequest, opened: Opened) -> LaunchRequest:
    """The flags with the drafter and target that were named beside them."""
    place = Location(role="launch", subject="command line", label="")
    if request.drafter is None and opened.target and opened.drafter.name != opened.target.name:
        request = replace(request, drafter=Located(opened.drafter.name, place))
    if request.target is None and opened.target:
        request = replace(request, target=Located(opened.target.name, place))
    return request
