"""The command line: click in, text out, exit codes. The only module that prints or exits."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache as once
from typing import TYPE_CHECKING, NoReturn, Self, cast

import click

from drafter_lint import __version__
from drafter_lint.errors import AmbiguousAlias, DrafterLintError, UsageError
from drafter_lint.options import (
    ENGINE_FLAGS,
    Commands,
    WithEngineFlags,
    alone_option,
    fix_options,
    formats,
    judging_options,
    launch_options,
    locked_option,
    output_options,
    pair_options,
    reading_options,
    report_option,
    revision_option,
    scan_options,
    survey_options,
)
from drafter_lint.renderers import RENDERERS
from drafter_lint.renderers.style import Style

if TYPE_CHECKING:
    from drafter_lint.report import Report
    from drafter_lint.requested import Requested

EXIT_FINDINGS, EXIT_USAGE, EXIT_UNKNOWN, EXIT_INTERNAL, EXIT_INTERRUPTED = 1, 2, 3, 4, 130
_PROGRAM = "drafter-lint"


@click.group(
    cls=Commands,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(version=__version__, prog_name=_PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> int:
    """Will this drafter and this target load, draft and pay - in this engine, at this version, with these flags?

    Reads metadata: configs, tensor names and shapes, small vocabulary tensors, a few rows of the embeddings. No
    weights are loaded and no engine needs to be installed.

    \b
    Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 usage,
    3 something needed could not be read, 4 internal error, 130 interrupted.
    """  # noqa: D301 - the backslash is click's mark for a paragraph that keeps its lines
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return EXIT_USAGE
    return 0


@cli.command(
    cls=WithEngineFlags,
    epilog="drafter-lint check AQ-MedAI/Kimi-K25-eagle3 --target kimi-k2.5 --engine sglang==0.5.23 \\\n"
    "    -- --speculative-algorithm EAGLE3 --tp 8",
)
@pair_options
@alone_option
@locked_option
@judging_options
@fix_options
@formats(*RENDERERS)
@report_option
@output_options
@click.pass_context
def check(ctx: click.Context, /, format_: str, outputs: tuple[str, ...], **options: object) -> int:
    """Check a drafter with its target.

    DRAFTER is a folder, owner/name, owner/name@revision, the address of a Hub page, or an alias. Without DRAFTER and
    --launch, every pair of the settings file is checked.
    """
    piped = once(_piped)  # a run that mends asks twice
    return _answer(lambda: _pairs(ctx, options, piped), format_, outputs, options)


@cli.command(epilog="drafter-lint scan deploy/ docs/serving.md --var MODEL=moonshotai/Kimi-K2.5")
@scan_options
@judging_options
@fix_options
@formats(*RENDERERS)
@report_option
@output_options
def scan(format_: str, outputs: tuple[str, ...], **options: object) -> int:
    """Check every launch command in scripts, manifests, configuration and pages.

    PATHS are files, or folders searched for files with a known name; - is standard input. Commands without speculative
    decoding are passed over.
    """
    from drafter_lint.requested import scan_jobs

    piped = once(_piped)
    return _answer(lambda: scan_jobs(options, piped=piped), format_, outputs, options)


@cli.command(epilog="drafter-lint survey pairs.csv -o survey.jsonl --jobs 2 --report html=survey.html")
@survey_options
@judging_options
@formats("text", "markdown", "html", "jsonl")
@report_option
@output_options
def survey(format_: str, outputs: tuple[str, ...], **options: object) -> int:
    """Check many pairs, write a record of each, and print a matrix.

    FILE holds the pairs, as [[pair]] tables in TOML, as JSON lines, or as CSV; a folder stands for every drafter below
    it, - for JSON lines from standard input. Interrupted, the same command goes on where it stopped.
    """
    from drafter_lint.renderers.matrix import MATRICES, lines
    from drafter_lint.requested import survey_base, variables_of
    from drafter_lint.survey import Output, Shard, Survey, cluster, count, here, processes, read_rows
    from drafter_lint.survey.judging import Terms
    from drafter_lint.survey.report import parse_reports, write_report

    reports = parse_reports(outputs)
    base, engines = survey_base(options)
    name, part, piped = cast("str", options["pairs"]), Shard.parse(cast("str", options["shard"] or "1/1")), once(_piped)
    total = count(name, part, piped=piped)
    terms = Terms(base=base, engines=engines, variables=variables_of(options))
    jobs, scheduler = cast("int", options["jobs"]), cast("str | None", options["scheduler"])
    crew = cluster(scheduler) if scheduler else processes(jobs) if jobs > 1 else here
    with Output(cast("str | None", options["output"])) as output:
        made = Survey(rows=lambda: read_rows(name, part, piped=piped), terms=terms, output=output)
        with _Progress(total, quiet=bool(options["quiet"])) as progress:

            def tick(done: int, line: str) -> None:
                if format_ == "jsonl" and line and not _print(line) and output.path is None:
                    raise _Unread
                progress.at(done)

            with contextlib.suppress(_Unread):
                made.run(crew, tick)
        for report in reports:
            write_report(report, made.records)
        if format_ in MATRICES:
            for line in lines(made.records, format_, _style(options)):
                if not _print(f"{line}\n"):
                    break
        code = max((record.exit_code for record in made.records()), key=(0, 3, 1, 4).index, default=0)
    return 0 if code == EXIT_UNKNOWN and options["allow_unknown"] else code


@cli.command(epilog="drafter-lint lock && git add drafter-lint.lock")
@reading_options
def lock(**options: object) -> int:
    """Write drafter-lint.lock: commits and digests of every pair in the settings.

    drafter-lint check --locked then fails when one of them moved.
    """
    from drafter_lint import lock as locks
    from drafter_lint.api import checkpoints_for, run
    from drafter_lint.renderers.ink import plural
    from drafter_lint.requested import settled_jobs

    wanted = settled_jobs({**options, "no_fingerprint": True})
    checkpoints = checkpoints_for(wanted.base)
    run(*wanted.jobs, checkpoints=checkpoints)
    path = wanted.folder / locks.NAME
    entries = [locks.entry(item) for item in checkpoints.opened]
    locks.write(path, entries)
    _print(f"{path}: {plural(len(entries), 'checkpoint')}")
    return 0


@cli.command(
    cls=WithEngineFlags,
    epilog="drafter-lint plan ./drafter --target ./target --engine vllm==0.33.0",
)
@pair_options
@formats("text", "json")
@output_options
@click.pass_context
def plan(ctx: click.Context, /, format_: str, **options: object) -> int:
    """Say what the engine will do: a dry run of its loader.

    Takes the same arguments as check; judges nothing. Exits with 3 if no plan could be made.
    """
    from drafter_lint.renderers import render_plans

    report = _run(_pairs(ctx, {**options, "no_fingerprint": True}, _piped), locked=False)
    _print(render_plans(report, format_, _style(options)))
    return 0 if all(item.plans for item in report.checks) else EXIT_UNKNOWN


@cli.command(
    cls=WithEngineFlags,
    epilog="drafter-lint launch lightseekorg/kimi-k2.5-eagle3 --target kimi-k2.5 --engine sglang==0.5.23 \\\n"
    "    -- --tp 8 --mem-fraction-static 0.85",
)
@launch_options
@judging_options
@formats("text", "shell", "config", "json")
@output_options
@click.pass_context
def launch(ctx: click.Context, /, format_: str, **options: object) -> int:
    """Put together the command that starts a drafter with its target.

    Every flag comes with its reason, the command is checked as printed, and flags that would do harm are left out. What
    stands after -- is kept as far as it works. Exits with 1 if no command makes the pair work in this engine and
    version. shell prints the command alone, config the YAML file that --config takes.
    """
    from drafter_lint.launching import compose
    from drafter_lint.renderers import render_launches, told_of_launches
    from drafter_lint.requested import launch_order

    order = launch_order(options, cast("tuple[str, ...]", ctx.meta.get(ENGINE_FLAGS, ())))
    alone = format_ in ("shell", "config")
    made = compose(order, advise=not alone)
    _print(render_launches(made, format_=format_, style=_style(options)))
    if alone:
        for line in told_of_launches(made):
            _say(line)
    return 0 if made.exit_code == EXIT_UNKNOWN and options["allow_unknown"] else made.exit_code


@cli.command(epilog="drafter-lint inspect lightseekorg/kimi-k2.5-eagle3")
@click.argument("reference")
@revision_option
@reading_options
@formats("text", "json")
@output_options
def inspect(reference: str, format_: str, **options: object) -> int:
    """Say what a checkpoint is and why; never fails on findings.

    What it needs, its shapes, its vocabulary map, what it was trained for, and what each engine wants to be told. Of a
    model in many files only the config and two headers are read.
    """
    from drafter_lint.api import checkpoints_for
    from drafter_lint.inspecting import inspect_checkpoint
    from drafter_lint.renderers import render_inspection
    from drafter_lint.requested import base_job, settings_for

    checkpoints = checkpoints_for(base_job(options, settings_for(options)))
    seen = inspect_checkpoint(reference, checkpoints=checkpoints, revision=cast("str | None", options["revision"]))
    _print(render_inspection(seen, format_=format_, style=_style(options)))
    return EXIT_UNKNOWN if seen.nothing_read else 0


@cli.command(epilog="drafter-lint compare AQ-MedAI/Kimi-K2-Instruct-eagle3 AQ-MedAI/Kimi-K25-eagle3")
@click.argument("a")
@click.argument("b")
@click.option("--exit-code", "strict", is_flag=True, help="Exit 1 if anything differs that matters, or may.")
@reading_options
@formats("text", "json")
@output_options
def compare(a: str, b: str, format_: str, *, strict: bool, **options: object) -> int:
    """Compare two drafters, or two targets.

    Field by field and tensor by tensor: what decides whether it runs, what changes what it drafts, and what does not
    matter, each with the reason why. Differences are no failure: the exit code is 0, or 3 if something could not be
    read.
    """
    from drafter_lint.api import checkpoints_for
    from drafter_lint.inspecting import compare_checkpoints
    from drafter_lint.renderers import render_comparison
    from drafter_lint.requested import base_job, settings_for

    checkpoints = checkpoints_for(base_job(options, settings_for(options)))
    seen = compare_checkpoints(a, b, checkpoints=checkpoints)
    _print(render_comparison(seen.subjects, seen.comparison, seen.cost, format_=format_, style=_style(options)))
    if strict and seen.comparison.matters:
        return EXIT_FINDINGS
    return EXIT_UNKNOWN if seen.unread else 0


@cli.command(epilog="drafter-lint record ./drafter -o drafter.recipe.toml")
@click.argument("reference")
@click.option("-o", "--output", metavar="FILE", help="Write NAME.recipe.toml instead of standard output.")
@revision_option
@reading_options
def record(reference: str, output: str | None, **options: object) -> int:
    """Write a checkpoint as text: a recipe, for a bug report.

    Its config, every tensor's name, type and shape, the values of d2t and t2d, the beginning of its card; no weights,
    no local paths, no tokens. A recipe stands wherever a checkpoint may be named.
    """
    from drafter_lint.api import checkpoints_for
    from drafter_lint.outputs import write_recipe
    from drafter_lint.recipe import record as recorded
    from drafter_lint.renderers.ink import size
    from drafter_lint.requested import base_job, settings_for

    checkpoints = checkpoints_for(base_job(options, settings_for(options)))
    files = checkpoints.open(reference, role="drafter", revision=cast("str | None", options["revision"]))
    text = recorded(files).toml()
    if output is None:
        _print(text)
    else:
        write_recipe(output, text)
        _print(f"{output}: {size(len(text.encode()))}")
    return 0


@cli.command(epilog="drafter-lint explain eagle3-run-as-eagle")
@click.argument("code")
@output_options
def explain(code: str, **options: object) -> int:
    """Print the manual page of a rule, by code or name."""
    from drafter_lint.pages import page

    _print(page(code, _style(options)))
    return 0


@cli.command(epilog="drafter-lint rules")
@formats("text", "json")
@output_options
def rules(format_: str, **options: object) -> int:
    """List every rule."""
    from drafter_lint.pages import rule_list

    _print(rule_list(format_, _style(options)))
    return 0


@cli.command(epilog="drafter-lint engines sglang==0.5.12")
@click.argument("name", required=False, metavar="[NAME[==VERSION]]")
@formats("text", "json")
@output_options
def engines(name: str | None, format_: str, **options: object) -> int:
    """List what is known of each engine, or every fact of one.

    Which versions were read and which were run, and how many facts rest on which. With a NAME: each fact's value,
    release by release, with its evidence; with a VERSION too: what holds there.
    """
    from drafter_lint.engine_pages import engine_page
    from drafter_lint.pages import engine_list

    _print(engine_page(name, format_, _style(options)) if name else engine_list(format_, _style(options)))
    return 0


@cli.command(epilog="drafter-lint cache info --format json")
@click.argument("action", type=click.Choice(["info", "clear"]))
@formats("text", "json")
@output_options
def cache(action: str, format_: str, **options: object) -> int:
    """Say what was read from Hubs and is kept, or remove it.

    It lies in $HF_HOME/drafter-lint, or where DRAFTER_LINT_CACHE says; if that is empty, nothing is kept. The Hub
    client's own cache is left alone.
    """
    from drafter_lint.renderers.cache_text import render
    from drafter_lint.renderers.ink import size
    from drafter_lint.sources.kept import kept_store

    kept = kept_store()
    if action == "clear" and kept:
        try:
            _print(f"{kept.folder}: {size(kept.clear())} removed")
        except OSError as error:
            raise UsageError(f"{kept.folder}: could not be cleared: {error.strerror or error}") from error
        return 0
    folder, usage = (str(kept.folder), kept.usage()) if kept else (None, None)
    _print(render(folder, usage, format_, _style(options)))
    return 0


@cli.command(epilog="drafter-lint completion bash > ~/.local/share/bash-completion/completions/drafter-lint")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the completion script of a shell."""
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    if maker is None:
        raise UsageError(f"no completion for {shell!r}")
    _print(maker(cli, {}, _PROGRAM, "_DRAFTER_LINT_COMPLETE").source())
    return 0


def _pairs(ctx: click.Context, options: dict[str, object], piped: Callable[[], str]) -> Requested:
    from drafter_lint.requested import pair_jobs

    return pair_jobs(options, cast("tuple[str, ...]", ctx.meta.get(ENGINE_FLAGS, ())), piped=piped)


def _run(wanted: Requested, *, locked: bool) -> Report:
    """Check what was asked for; of documents without a command there is an empty report."""
    from drafter_lint import api
    from drafter_lint.report import Cost, Report

    if not wanted.jobs:
        return Report(checks=(), cost=Cost(requests=0, bytes=0, seconds=0.0), fail_on=wanted.base.fail_on)
    if not locked:
        return api.run(*wanted.jobs, whole=True) if wanted.whole else api.run(*wanted.jobs)
    from drafter_lint import lock as locks

    known = locks.read(wanted.folder / locks.NAME)
    checkpoints = api.checkpoints_for(wanted.base)
    report = api.run(*wanted.jobs, checkpoints=checkpoints, whole=wanted.whole)
    checks = locks.compared(report.checks, known, checkpoints.opened, selection=wanted.base.selection)
    return replace(report, checks=checks, demanded=(locks.RULE,))


def _answer(asked: Callable[[], Requested], format_: str, outputs: tuple[str, ...], options: dict[str, object]) -> int:
    """Check, mend if that is asked for, write the report files, print, and say how it went."""
    from drafter_lint.renderers import render

    files = []
    if outputs:
        from drafter_lint.outputs import parse_output, write_reports

        files = [parse_output(text) for text in outputs]
    locked, difference = bool(options.get("locked")), ""
    if options["fix"] or options["unsafe_fixes"] or options["diff"]:
        report, difference = _mended(lambda: _run(asked(), locked=locked), options)
    else:
        report = _run(asked(), locked=locked)
    if files:
        write_reports(report, files)
    _print(difference if options["diff"] else render(report, format_, _style(options)))
    return 0 if report.exit_code == EXIT_UNKNOWN and options["allow_unknown"] else report.exit_code


def _mended(check: Callable[[], Report], options: dict[str, object]) -> tuple[Report, str]:
    """The report after the fixes, or before them with the difference they would make."""
    from drafter_lint import mending
    from drafter_lint.fixes import diff
    from drafter_lint.requested import variables_of

    carry = mending.proposed if options["diff"] else mending.mended
    found = carry(check, unsafe=bool(options["unsafe_fixes"]), variables=variables_of(options))
    if not options["quiet"]:
        for line in mending.told(found):
            _say(line)
    return found.report, diff(found.rest.changes)


def _piped() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("what is piped in is no text") from error


def _style(options: dict[str, object]) -> Style:
    """How to draw: colour only on a terminal, unless told; NO_COLOR and FORCE_COLOR are honoured."""
    choice = options["color"]
    forced = bool(os.environ.get("FORCE_COLOR"))
    without = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    color = choice == "always" or (choice == "auto" and not without and (forced or sys.stdout.isatty()))
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return Style(
        color=color,
        width=min(max(_columns(), 60), 140),
        unicode=encoding.startswith("utf"),
        quiet=bool(options["quiet"]),
        verbose=bool(options["verbose"]),
    )


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 100


class _Unread(Exception):
    """Nobody reads any more what is printed, and it is kept nowhere."""


class _Progress:
    """How far a long run has come, on a terminal and only after half a second."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total, self._shown = total, False
        self._silent = quiet or not sys.stderr.isatty()
        self._started = time.monotonic()
        self._next = self._started + 0.5

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def at(self, done: int) -> None:
        """Say it, at most five times a second."""
        now = time.monotonic()
        if self._silent or now < self._next:
            return
        self._next, self._shown = now + 0.2, True
        sys.stderr.write(f"\r\x1b[K{done} of {self._total} pairs, {done / (now - self._started):.0f} a second")
        sys.stderr.flush()


def _print(text: str) -> bool:
    """Write to standard output. A reader that has gone (``| head -1``) changes nothing about the exit code.

    Returns:
        False if the reader has gone.
    """
    try:
        sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        # Python flushes again at shutdown and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise UsageError(f"standard output: {error.strerror or error}") from error
        return False
    return True


def _stop(message: str, code: int) -> NoReturn:
    """Say one thing on standard error and end."""
    _say(message)
    sys.exit(code)


def _say(message: str) -> None:
    """Write to standard error."""
    from drafter_lint.renderers.ink import clean

    encoding: str = sys.stderr.encoding or "ascii"
    lines = "\n".join(map(clean, message.splitlines()))
    sys.stderr.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def _crashed(error: Exception) -> NoReturn:
    """A bug of ours: one line, or the traceback for whoever asks for it."""
    if _interrupted(error):
        _stop("interrupted", EXIT_INTERRUPTED)
    if os.environ.get("DRAFTER_LINT_DEBUG"):
        import traceback

        traceback.print_exception(error)
        sys.exit(EXIT_INTERNAL)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    _stop(f"internal error: {what} (a bug in drafter-lint; DRAFTER_LINT_DEBUG=1 shows where)", EXIT_INTERNAL)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; ends the process with one of the documented exit codes and never with a traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # started with it closed; the next file opened would take its place
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - to the end
    stdout = sys.stdout
    try:
        code = cli.main(args=args, prog_name=_PROGRAM, standalone_mode=False)
    except AmbiguousAlias as error:
        listing = "\n".join(f"  {name}" for name in error.candidates)
        _stop(f"error: {error.alias!r} is ambiguous; name one of\n{listing}", EXIT_USAGE)
    except UsageError as error:
        _stop(f"error: {error}", EXIT_USAGE)
    except click.ClickException as error:
        _stop(f"error: {_one_line(error)}", EXIT_USAGE)
    except DrafterLintError as error:
        _stop(f"error: {error}", EXIT_UNKNOWN)
    except (KeyboardInterrupt, click.exceptions.Abort):
        _stop("interrupted", EXIT_INTERRUPTED)
    except SystemExit as stop:
        # click's own answer to a reader of --help that has gone is exit 1, which means findings here.
        sys.exit(0 if sys.stdout is not stdout else stop.code)
    except Exception as error:  # noqa: BLE001 - whatever it is, the user gets an exit code and a line
        _crashed(error)
    sys.exit(code)


def _interrupted(error: BaseException | None) -> bool:
    """True if an interruption lies beneath: one that meets Python building a class comes out as a RuntimeError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _one_line(error: click.ClickException) -> str:
    """What click has to say, in the manner of ours."""
    if isinstance(error, click.NoSuchOption):
        near = f"; nearest: {', '.join(error.possibilities)}" if error.possibilities else ""
        return f"no option called {error.option_name!r}{near}"
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else _PROGRAM
    return f"{message[:1].lower()}{message[1:]} ({command} --help)"
