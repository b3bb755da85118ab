"""The command line: click in, text out, exit codes. The only module that prints or exits."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, NoReturn, cast

import click

from drafter_lint import __version__
from drafter_lint.errors import AmbiguousAlias, DrafterLintError, UsageError
from drafter_lint.options import (
    ENGINE_FLAGS,
    Commands,
    WithEngineFlags,
    formats,
    judging_options,
    output_options,
    pair_options,
    reading_options,
)
from drafter_lint.renderers import RENDERERS
from drafter_lint.renderers.style import Style

if TYPE_CHECKING:
    from drafter_lint.api import Job
    from drafter_lint.report import FailOn

EXIT_USAGE, EXIT_UNKNOWN, EXIT_INTERNAL, EXIT_INTERRUPTED = 2, 3, 4, 130
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

    Reads metadata only: configs, tensor names and shapes, small vocabulary tensors. No weights are loaded and no
    engine needs to be installed.

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
@judging_options
@formats(*RENDERERS)
@output_options
@click.pass_context
def check(ctx: click.Context, /, format_: str, **options: object) -> int:
    """Check a drafter with its target.

    DRAFTER is a folder, owner/name, owner/name@revision, the address of a Hub page, or an alias.
    """
    from drafter_lint.api import run
    from drafter_lint.renderers import render

    report = run(_job(ctx, options))
    _print(render(report, format_, _style(options)))
    return report.exit_code


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
    from drafter_lint.api import run
    from drafter_lint.renderers import render_plans

    report = run(_job(ctx, options))
    _print(render_plans(report, format_, _style(options)))
    return 0 if all(item.plans for item in report.checks) else EXIT_UNKNOWN


@cli.command(epilog="drafter-lint inspect lightseekorg/kimi-k2.5-eagle3")
@click.argument("reference")
@reading_options
@formats("text", "json")
@output_options
def inspect(reference: str, format_: str, **options: object) -> int:
    """Say what a checkpoint is and why; never fails on findings."""
    from drafter_lint.api import Job, inspect_checkpoint
    from drafter_lint.renderers import render_inspection

    job = Job(
        drafter=reference,
        revision=cast("str | None", options["revision"]),
        offline=bool(options["offline"]),
        timeout=cast("float", options["timeout"]),
    )
    seen = inspect_checkpoint(job)
    text = render_inspection(
        seen.subject,
        seen.recognition,
        seen.target,
        seen.troubles,
        seen.cost,
        format_=format_,
        style=_style(options),
    )
    _print(text)
    return EXIT_UNKNOWN if seen.nothing_read else 0


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


@cli.command(epilog="drafter-lint engines --format json")
@formats("text", "json")
@output_options
def engines(format_: str, **options: object) -> int:
    """List what is known of each engine.

    Which versions were read and which were run, and how many facts rest on which.
    """
    from drafter_lint.pages import engine_list

    _print(engine_list(format_, _style(options)))
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


def _job(ctx: click.Context, options: dict[str, object]) -> Job:
    from drafter_lint.api import Job
    from drafter_lint.findings import Confidence
    from drafter_lint.linter import Selection
    from drafter_lint.pages import check_selection

    trained = cast("str | None", options["trained_on"])
    select, ignore = (cast("tuple[str, ...]", options.get(name, ())) for name in ("select", "ignore"))
    check_selection(select + ignore)
    launch = cast("str | None", options["launch"])
    return Job(
        drafter=cast("str | None", options["drafter"]),
        target=cast("str | None", options["target"]),
        engines=cast("tuple[str, ...]", options["engines"]),
        flags=_flags(ctx, launch),
        launch=_piped() if launch == "-" else launch,
        revision=cast("str | None", options["revision"]),
        target_revision=cast("str | None", options["target_revision"]),
        trained_on=_boundaries(trained) if trained else None,
        offline=bool(options["offline"]),
        timeout=cast("float", options["timeout"]),
        selection=Selection(
            select=select,
            ignore=ignore,
            min_confidence=Confidence(cast("str", options.get("min_confidence", "likely"))),
        ),
        fail_on=cast("FailOn", options.get("fail_on", "silent")),
    )


def _flags(ctx: click.Context, launch: str | None) -> tuple[str, ...]:
    flags = cast("tuple[str, ...]", ctx.meta.get(ENGINE_FLAGS, ()))
    if flags and launch is not None:
        raise UsageError("flags after -- and --launch both say what is started; give one of them")
    return flags


def _piped() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise UsageError("--launch -: what is piped in is no text") from error


def _boundaries(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace(",", " ").split())
    except ValueError as error:
        raise UsageError(f"--trained-on {text!r}: expected boundaries such as 2,30,58") from error


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


def _print(text: str) -> None:
    """Write to standard output. A reader that has gone (``| head -1``) changes nothing about the exit code."""
    try:
        sys.stdout.write(text if not text or text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EINVAL):
            raise
        # Python flushes again at shutdown and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _stop(message: str, code: int) -> NoReturn:
    """Say one thing on standard error and end."""
    from drafter_lint.renderers.ink import clean

    encoding: str = sys.stderr.encoding or "ascii"
    lines = "\n".join(map(clean, message.splitlines()))
    sys.stderr.write(lines.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.exit(code)


def _crashed(error: Exception) -> NoReturn:
    """A bug of ours: one line, or the traceback for whoever asks for it."""
    if os.environ.get("DRAFTER_LINT_DEBUG"):
        import traceback

        traceback.print_exception(error)
        sys.exit(EXIT_INTERNAL)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    _stop(f"internal error: {what} (a bug in drafter-lint; DRAFTER_LINT_DEBUG=1 shows where)", EXIT_INTERNAL)


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line; ends the process with one of the documented exit codes and never with a traceback."""
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


def _one_line(error: click.ClickException) -> str:
    """What click has to say, in the manner of ours."""
    if isinstance(error, click.NoSuchOption):
        near = f"; nearest: {', '.join(error.possibilities)}" if error.possibilities else ""
        return f"no option called {error.option_name!r}{near}"
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else _PROGRAM
    return f"{message[:1].lower()}{message[1:]} ({command} --help)"
