"""What can be typed: the options the commands share, and how help and mistakes are answered."""

from __future__ import annotations

import difflib
from collections.abc import Callable

import click

from drafter_lint.errors import UsageError

#: Where the words after ``--`` are kept, in click's ``ctx.meta``.
ENGINE_FLAGS = "drafter_lint.engine_flags"
_FAIL_ON = ("refuses", "silent", "slow", "hygiene", "never")
_CONFIDENCE = ("certain", "likely", "possible")


class Command(click.Command):
    """A command whose help ends with an example."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Print the example as it is to be typed, never rewrapped."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write("Example:\n" + "".join(f"  {line}\n" for line in self.epilog.splitlines()))


class WithEngineFlags(Command):
    """A command whose words after ``--`` belong to the engine."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what follows ``--`` away from click."""
        if "--" in args:
            cut = args.index("--")
            ctx.meta[ENGINE_FLAGS] = tuple(args[cut + 1 :])
            args = args[:cut]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Name them in the usage line."""
        return [*super().collect_usage_pieces(ctx), "[-- ENGINE FLAGS...]"]


class Commands(click.Group):
    """The group: an unknown command is answered with the nearest one."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command.

        Raises:
            UsageError: there is none of that name.
        """
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.list_commands(ctx))}"
            raise UsageError(f"no command called {name!r}; {hint}")
        return super().resolve_command(ctx, args)


Decorated = Callable[..., object]
Decorator = Callable[[Decorated], Decorated]


def _options(*decorators: Decorator) -> Decorator:
    def apply(function: Decorated) -> Decorated:
        for decorate in reversed(decorators):
            function = decorate(function)
        return function

    return apply


def formats(*names: str) -> Decorator:
    return click.option(
        "--format", "format_", type=click.Choice(names), default=names[0], show_default=True, help="How it is said."
    )


# What settings can say too has no default here: what is typed wins, then the settings, then the default named in help.
reading_options = _options(
    click.option("--offline", is_flag=True, help="Read nothing but local files and caches."),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0.1),
        metavar="SECONDS",
        help="All requests to one repository together.  [default: 30]",
    ),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="The settings file; if left out, the nearest drafter-lint.toml or [tool.drafter-lint].",
    ),
    click.option("--no-config", is_flag=True, help="No settings file."),
)
revision_option = click.option("--revision", metavar="REV", help="Branch, tag or commit of the drafter's repository.")
engine_option = click.option(
    "--engine",
    "-e",
    "engines",
    multiple=True,
    metavar="NAME[==VERSION]",
    help="May be given several times; auto is the one installed here; if left out, every engine known, at its newest "
    "known version.",
)
trained_option = click.option(
    "--trained-on",
    metavar="WORDS",
    help="What you know of the drafter's training and no file says: boundaries such as 2,30,58, "
    "[no-]norm-before-residual, state-before-norm or state-after-norm.",
)
variable_option = click.option(
    "--var",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="What a variable of a launch file holds.",
)
scan_options = _options(
    click.argument("paths", nargs=-1, required=True),
    click.option(
        "--engine",
        "-e",
        "engines",
        multiple=True,
        metavar="NAME[==VERSION]",
        help="Only this engine's commands; a version takes the place of the document's. auto: where a document names "
        "no version, that of the engine installed here.",
    ),
    variable_option,
    reading_options,
)
pair_options = _options(
    click.argument("drafter", required=False),
    click.option(
        "--target", "-t", metavar="REF", help="The model that verifies; if left out, the one the drafter names."
    ),
    engine_option,
    click.option(
        "--launch", metavar="COMMAND", help="A whole launch command, the file that holds it, or - for standard input."
    ),
    variable_option,
    click.option("--target-revision", metavar="REV", help="Branch, tag or commit of the target's repository."),
    trained_option,
    revision_option,
    reading_options,
)
launch_options = _options(
    click.argument("drafter"),
    click.option(
        "--target", "-t", metavar="REF", help="The model that verifies; if left out, the one the drafter names."
    ),
    engine_option,
    click.option(
        "--tensor-parallel", type=click.IntRange(min=1), metavar="N", help="Devices the target is spread over."
    ),
    click.option("--context-length", type=click.IntRange(min=1), metavar="N", help="Tokens to serve at."),
    trained_option,
    click.option("--target-revision", metavar="REV", help="Branch, tag or commit of the target's repository."),
    revision_option,
    reading_options,
)
survey_options = _options(
    click.argument("pairs", metavar="FILE"),
    click.option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where records go, one line of JSON each; what it holds already is not done again.",
    ),
    click.option("--target", "-t", metavar="REF", help="For pairs that name none."),
    click.option(
        "--engine",
        "-e",
        "engines",
        multiple=True,
        metavar="NAME[==VERSION]",
        help="In place of the engines of the list; may be given several times.",
    ),
    variable_option,
    click.option("--jobs", "-j", type=click.IntRange(1, 256), default=1, metavar="N", help="Processes.  [default: 1]"),
    click.option("--shard", metavar="K/N", help="Every N-th pair, from the K-th: 2/5."),
    click.option("--scheduler", metavar="ADDRESS", help="Work on a Dask cluster: tcp://host:8786."),
    reading_options,
)
alone_option = click.option("--alone", is_flag=True, help="The drafter's own files only: no target, no engine.")
locked_option = click.option("--locked", is_flag=True, help="Fail if a checkpoint is not the one in drafter-lint.lock.")
fix_options = _options(
    click.option("--fix", is_flag=True, help="Mend launch files and config.json, then check again."),
    click.option(
        "--unsafe-fixes",
        is_flag=True,
        help="As --fix, and rewrite small tensors, and what is only possibly wrong, too.",
    ),
    click.option("--diff", is_flag=True, help="Print what --fix would change, as a patch; write nothing."),
)
report_option = click.option(
    "--report", "outputs", multiple=True, metavar="FORMAT=FILE", help="Write a file too; may be given several times."
)
output_options = _options(
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
    click.option("-q", "--quiet", is_flag=True, help="Findings only."),
    click.option("-v", "--verbose", is_flag=True, help="All evidence, and every check that could not run."),
)
judging_options = _options(
    click.option(
        "--select", multiple=True, metavar="RULE", help="Only these rules: DFL401, DFL4, eagle3-run-as-eagle."
    ),
    click.option("--ignore", multiple=True, metavar="RULE", help="All rules but these."),
    click.option("--fail-on", type=click.Choice(_FAIL_ON), help="Exit 1 from here on.  [default: silent]"),
    click.option(
        "--min-confidence",
        type=click.Choice(_CONFIDENCE),
        help="Leave out findings that are less sure.  [default: likely]",
    ),
    click.option(
        "--no-fingerprint", is_flag=True, help="Read no rows of embeddings: up to 4 requests and 200 kB less."
    ),
    click.option("--allow-unknown", is_flag=True, help="Exit 0 instead of 3; what was not checked is still named."),
)
