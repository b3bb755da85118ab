"""Checks that a speculative-decoding drafter and its target will load, draft and pay, before a server is started.

The names below are the public API. Each is imported when it is first used, so that ``drafter-lint --help`` and a tool
that only wants :class:`Outcome` do not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drafter_lint.api import check, plan
    from drafter_lint.composition import Composed
    from drafter_lint.engines.plan import Plan
    from drafter_lint.errors import AmbiguousAlias, DrafterLintError, Unavailable, UsageError
    from drafter_lint.findings import Confidence, Evidence, Finding, FindingsError, Fix, Location, Outcome, Skip
    from drafter_lint.launching import launch_command
    from drafter_lint.report import Check, Report

__version__ = "0.1.0"

__all__ = [
    "AmbiguousAlias",
    "Check",
    "Composed",
    "Confidence",
    "DrafterLintError",
    "Evidence",
    "Finding",
    "FindingsError",
    "Fix",
    "Location",
    "Outcome",
    "Plan",
    "Report",
    "Skip",
    "Unavailable",
    "UsageError",
    "__version__",
    "check",
    "launch_command",
    "plan",
]

_HOMES = {
    "api": ("check", "plan"),
    "composition": ("Composed",),
    "engines.plan": ("Plan",),
    "errors": ("AmbiguousAlias", "DrafterLintError", "Unavailable", "UsageError"),
    "findings": ("Confidence", "Evidence", "Finding", "FindingsError", "Fix", "Location", "Outcome", "Skip"),
    "launching": ("launch_command",),
    "report": ("Check", "Report"),
}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ takes every misspelt name for an object

    def __getattr__(name: str) -> object:
        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
