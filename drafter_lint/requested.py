"""From the words typed and the settings to the jobs of a run: what is typed wins, then the settings, then a default."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from drafter_lint.api import Job, engine_name, engine_of_flags
from drafter_lint.composing import Order
from drafter_lint.drafters import Trained
from drafter_lint.errors import UsageError
from drafter_lint.facts import engines as known_engines
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Confidence
from drafter_lint.installed import AUTO, installed
from drafter_lint.linter import Selection
from drafter_lint.pages import check_selection
from drafter_lint.report import FailOn
from drafter_lint.settings_file import SettingsFile, find, read

if TYPE_CHECKING:  # pydantic is paid for only where there is a settings file
    from drafter_lint.settings import PairTable, Settings

Options = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """What a run is to do.

    Attributes:
        jobs: in the order of the report; none if documents hold nothing to check.
        base: how to read, what to show and when to fail, without a pair.
        settings: the settings that hold, None without a file.
        whole: True if the jobs are all that the settings speak of.
    """

    jobs: tuple[Job, ...]
    base: Job
    settings: Settings | None = None
    whole: bool = False

    @property
    def folder(self) -> Path:
        """Where the settings file is, or would be."""
        return self.settings.file.folder if self.settings else Path()


def settings_for(options: Options) -> Settings | None:
    """The settings that hold for a command.

    Raises:
        UsageError: the file cannot be read, or says something that cannot be.
    """
    config = cast("str | None", options.get("config"))
    if options.get("no_config"):
        if config:
            raise UsageError("--config and --no-config exclude each other")
        return None
    file: SettingsFile | None = read(Path(config)) if config else find(Path.cwd())
    if file is None:
        return None
    from drafter_lint.settings import understood  # noqa: PLC0415 - brings pydantic

    return understood(file)


def base_job(options: Options, settings: Settings | None) -> Job:
    """How to read, what to show and when to fail.

    Raises:
        UsageError: a rule that is selected or ignored does not exist.
    """
    table = settings.table if settings else None
    select, ignore = (
        cast("tuple[str, ...]", options.get(name) or ()) or tuple(getattr(table, name, ()))
        for name in ("select", "ignore")
    )
    check_selection(select + ignore)
    confidence = options.get("min_confidence") or (table and table.min_confidence) or "likely"
    return Job(
        offline=bool(options.get("offline")) or bool(table and table.offline),
        fingerprint=not options.get("no_fingerprint") and (table is None or table.fingerprint),
        timeout=cast("float", options.get("timeout") or (table and table.timeout) or 30.0),
        selection=Selection(select=select, ignore=ignore, min_confidence=Confidence(cast("str", confidence))),
        fail_on=cast("FailOn", options.get("fail_on") or (table and table.fail_on) or "silent"),
        aliases=settings.aliases if settings else {},
        suppressions=settings.suppressions if settings else (),
    )


def pair_jobs(options: Options, flags: tuple[str, ...], *, piped: Callable[[], str]) -> Requested:
    """The jobs of ``check`` and ``plan``.

    Args:
        options: what was typed, by the names of the parameters.
        flags: the words after ``--``.
        piped: reads standard input.

    Raises:
        UsageError: what was typed cannot be asked for.
    """
    settings = settings_for(options)
    launch = cast("str | None", options["launch"])
    trained = cast("str | None", options["trained_on"])
    typed = replace(
        base_job(options, settings),
        drafter=cast("str | None", options["drafter"]),
        target=cast("str | None", options["target"]),
        engines=cast("tuple[str, ...]", options["engines"]),
        flags=flags,
        launch=launch,
        revision=cast("str | None", options["revision"]),
        target_revision=cast("str | None", options["target_revision"]),
        trained_on=Trained.parsed(trained) if trained else None,
        alone=bool(options.get("alone")),
    )
    if flags and launch is not None:
        raise UsageError("flags after -- and --launch both say what is started; give one of them")
    if typed.alone:
        return Requested(jobs=(_alone(typed),), base=typed, settings=settings)
    variables = variables_of(options)
    if launch is not None:
        typed = replace(typed, engines=typed.engines or _engines(settings))
        return Requested(jobs=_launched(typed, variables, piped=piped), base=typed, settings=settings)
    if settings and settings.table.pair and typed.drafter is None and typed.target is None and not flags:
        jobs = [job for pair in settings.table.pair for job in _settled(pair, typed, settings, variables=variables)]
        return Requested(jobs=tuple(jobs), base=typed, settings=settings, whole=not typed.engines)
    if typed.drafter is None and typed.target is None:
        raise UsageError("name a drafter, a launch command, or in drafter-lint.toml the pairs to check")
    typed = replace(typed, engines=_here(typed.engines or _engines(settings), flags))
    return Requested(jobs=(typed,), base=typed, settings=settings)


def launch_order(options: Options, flags: tuple[str, ...]) -> Order:
    """What ``launch`` is to put together.

    Args:
        options: what was typed, by the names of the parameters.
        flags: the words after ``--``.

    Raises:
        UsageError: what was typed cannot be asked for.
    """
    settings = settings_for(options)
    engines = cast("tuple[str, ...]", options["engines"]) or _engines(settings)
    trained = cast("str | None", options["trained_on"])
    job = replace(
        base_job(options, settings),
        drafter=cast("str", options["drafter"]),
        target=cast("str | None", options["target"]),
        engines=_here(engines, flags),
        flags=flags,
        revision=cast("str | None", options["revision"]),
        target_revision=cast("str | None", options["target_revision"]),
        trained_on=Trained.parsed(trained) if trained else None,
    )
    return Order(
        job=job,
        tensor_parallel=cast("int | None", options["tensor_parallel"]),
        context_length=cast("int | None", options["context_length"]),
    )


def settled_jobs(options: Options) -> Requested:
    """The jobs of the settings' pairs, with nothing typed.

    Raises:
        UsageError: there are none.
    """
    settings = settings_for(options)
    if settings is None or not settings.table.pair:
        raise UsageError("there is no [[pair]] in the settings; write one into drafter-lint.toml")
    base = base_job(options, settings)
    jobs = [job for pair in settings.table.pair for job in _settled(pair, base, settings, variables={})]
    return Requested(jobs=tuple(jobs), base=base, settings=settings)


def survey_base(options: Options) -> tuple[Job, tuple[str, ...]]:
    """What holds for every pair of a survey, and the engines of those that name none.

    Raises:
        UsageError: an engine is not known, or the settings are wrong.
    """
    settings = settings_for(options)
    typed = _here(cast("tuple[str, ...]", options["engines"]), ())
    base = replace(base_job(options, settings), engines=_known(typed), target=cast("str | None", options["target"]))
    return base, _known(_here(_engines(settings), ()))


def scan_jobs(options: Options, *, piped: Callable[[], str]) -> Requested:
    """The jobs of ``scan``.

    Raises:
        UsageError: a path does not exist, or an engine is not known.
    """
    from drafter_lint.scanning import documents, jobs_of  # noqa: PLC0415 - only documents need it

    settings = settings_for(options)
    asked = cast("tuple[str, ...]", options["engines"])
    base = replace(base_job(options, settings), engines=_known(_named(asked)))
    otherwise = _otherwise(asked) or _named(_engines(settings)) or _otherwise(_engines(settings))
    variables = variables_of(options)
    paths = cast("tuple[str, ...]", options["paths"])
    jobs = [
        job
        for document in documents(paths, piped=piped)
        for job in jobs_of(document, base, variables=variables, otherwise=otherwise)
    ]
    return Requested(jobs=tuple(jobs), base=base, settings=settings)


def _engines(settings: Settings | None) -> tuple[str, ...]:
    return tuple(settings.table.engines) if settings else ()


def _named(engines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for text in engines if text != AUTO)


def _otherwise(engines: tuple[str, ...]) -> tuple[str, ...]:
    """What holds for documents that name no version: nothing, or with ``auto`` the engines installed."""
    return installed() if AUTO in engines else ()


def _here(engines: tuple[str, ...], flags: tuple[str, ...]) -> tuple[str, ...]:
    """The engines of a pair that no document speaks of; ``auto`` stands for those installed, or for that of the flags.

    Raises:
        UsageError: none is installed.
    """
    if AUTO not in engines:
        return engines
    found = installed()
    if flags and len(found) > 1:
        found = tuple(text for text in found if engine_name(text)[0] == engine_of_flags(flags))
    if not found and not _named(engines):
        known = " or ".join(known_engines())
        raise UsageError(f"--engine auto: no {known} is installed beside this tool; name the engine and its version")
    return tuple(dict.fromkeys((*_named(engines), *found)))


def _known(engines: tuple[str, ...]) -> tuple[str, ...]:
    """Engines as typed, refused at once where nothing is known of the version: no document can be blamed for it."""
    for text in engines:
        name, version = engine_name(text)
        if version:
            worlds(profile(name), version_of(version))
    return engines


def _alone(typed: Job) -> Job:
    given = {
        "--target": typed.target,
        "--target-revision": typed.target_revision,
        "--engine": typed.engines,
        "--launch": typed.launch,
        "flags after --": typed.flags,
    }
    for word, value in given.items():
        if value:
            raise UsageError(f"--alone looks at the drafter's own files; {word} has no part in that")
    if typed.drafter is None:
        raise UsageError("--alone: name a drafter")
    return typed


def _launched(job: Job, variables: Mapping[str, str], *, piped: Callable[[], str]) -> tuple[Job, ...]:
    """The jobs of ``--launch``: the commands of a file or of standard input, or the one command that was typed."""
    launch = str(job.launch)
    if launch != "-" and not os.path.isfile(launch):  # noqa: PTH113 - a command is no path, and may hold a null byte
        return (replace(job, engines=_here(job.engines, ())),)
    from drafter_lint.scanning import Document, documents, jobs_of  # noqa: PLC0415 - only documents need it

    document = next(documents((launch,), piped=piped), None)
    if document is None:
        raise UsageError(f"{launch}: no launch command there")
    asked = replace(job, launch=None, engines=_known(_named(job.engines)))
    found = jobs_of(document, asked, variables=variables, otherwise=_otherwise(job.engines))
    if isinstance(document, Document) and not document.holds(variables):
        if launch == "-":
            return (replace(job, launch=document.text, engines=_here(job.engines, ())),)
        raise UsageError(f"{launch}: no launch command there")
    return tuple(found)


def _settled(pair: PairTable, typed: Job, settings: Settings, *, variables: Mapping[str, str]) -> tuple[Job, ...]:
    """The jobs of a ``[[pair]]`` of the settings."""
    engines = _engines(settings)
    return row_jobs(pair, typed, folder=settings.file.folder, engines=engines, variables=variables)


def row_jobs(
    pair: PairTable, typed: Job, *, folder: Path, engines: tuple[str, ...], variables: Mapping[str, str]
) -> tuple[Job, ...]:
    """The jobs of a ``[[pair]]``, wherever it is written; none if its launch file holds nothing to check.

    Args:
        pair: what is written.
        typed: what holds besides; its engines win, its target stands where the pair names none.
        folder: what paths of the pair are relative to.
        engines: where neither names any.
        variables: what variables of a launch file hold.

    Raises:
        UsageError: the pair cannot be asked for.
    """
    job = replace(
        typed,
        drafter=_reference(pair.drafter, folder),
        target=_reference(pair.target, folder) or typed.target,
        engines=_owners(typed.engines, pair.flags) or tuple(pair.engines) or _owners(engines, pair.flags),
        flags=tuple(pair.flags),
        launch=_reference(pair.launch, folder),
        trained_on=Trained.told(pair.trained_on) if pair.trained_on else None,
    )
    if job.launch is not None:
        return _launched(job, variables, piped=str)
    return (replace(job, engines=_here(job.engines, job.flags)),)


def _owners(engines: tuple[str, ...], flags: list[str]) -> tuple[str, ...]:
    """Of engines named for many pairs, those a pair's flags belong to."""
    if not flags or len({text.partition("==")[0] for text in engines}) < 2:
        return engines
    owner = engine_of_flags(flags)
    return tuple(text for text in engines if text == AUTO or engine_name(text)[0] == owner)


def _reference(text: str | None, folder: Path) -> str | None:
    """A reference of a settings file: a path in it starts at the file's folder."""
    if text is None or folder == Path():
        return text
    path = folder / text
    local = text.startswith(("./", "../")) or path.exists()
    return path.as_posix() if local and not Path(text).is_absolute() else text


def variables_of(options: Options) -> dict[str, str]:
    """What the user says the variables of documents hold.

    Raises:
        UsageError: one of them is not written as NAME=VALUE.
    """
    made: dict[str, str] = {}
    for text in cast("tuple[str, ...]", options.get("variables") or ()):
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--var {text!r}: expected NAME=VALUE")
        made[name] = value
    return made
