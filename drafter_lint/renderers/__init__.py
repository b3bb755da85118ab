"""How it is said: pure functions from a report to text. A new renderer is one module and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:  # the command line asks for the names of the renderers before anything else is needed
    from drafter_lint.comparing import Comparison
    from drafter_lint.composition import Launches
    from drafter_lint.inspection import Inspection
    from drafter_lint.renderers.style import Style
    from drafter_lint.report import Cost, Report, Subject

#: Format to module; each has ``render(report, style) -> str`` and is imported when asked for.
RENDERERS: Mapping[str, str] = {
    "text": "text",
    "concise": "concise",
    "json": "json_text",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "junit": "junit",
    "markdown": "markdown",
    "html": "html",
}


def render(report: Report, format_: str, style: Style) -> str:
    """A report in one of :data:`RENDERERS`."""
    module = importlib.import_module(f"{__name__}.{RENDERERS[format_]}")
    return cast("Callable[[Report, Style], str]", module.render)(report, style)


def render_plans(report: Report, format_: str, style: Style) -> str:
    """The plans of a report as text; as JSON it is the report itself, which holds them."""
    if format_ == "json":
        return render(report, "json", style)
    from drafter_lint.renderers import plan_text  # noqa: PLC0415 - the other formats do not need it

    return plan_text.render(report, style)


def render_inspection(inspection: Inspection, *, format_: str, style: Style) -> str:
    """What a checkpoint is, as text or JSON."""
    from drafter_lint.renderers import inspection as screen  # noqa: PLC0415 - check does not need it

    made = screen.as_json if format_ == "json" else screen.render
    return made(inspection, style)


def render_comparison(
    subjects: tuple[Subject, Subject], found: Comparison, cost: Cost, *, format_: str, style: Style
) -> str:
    """Where two checkpoints differ, as text or JSON."""
    from drafter_lint.renderers import comparison  # noqa: PLC0415 - check does not need it

    made = comparison.as_json if format_ == "json" else comparison.render
    return made(subjects, found, cost, style)


def render_launches(made: Launches, *, format_: str, style: Style) -> str:
    """The commands of a pair as text, JSON, shell text alone, or the one engine's file of flags.

    Raises:
        UsageError: there is no such file for them.
    """
    if format_ == "json":
        from drafter_lint.renderers import launches_json  # noqa: PLC0415 - brings pydantic

        return launches_json.render(made, style)
    from drafter_lint.renderers import launches  # noqa: PLC0415 - check does not need it

    return {"shell": launches.shell, "config": launches.config}.get(format_, launches.render)(made, style)


def told_of_launches(made: Launches) -> tuple[str, ...]:
    """What speaks against the commands that a format for machines leaves out."""
    from drafter_lint.renderers import launches  # noqa: PLC0415 - check does not need it

    return tuple(launches.told(made))
