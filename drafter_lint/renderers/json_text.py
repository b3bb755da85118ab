"""The report as JSON text; its schema is shipped as report.schema.json."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version

from drafter_lint.renderers.document import document
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report


def render(report: Report, style: Style) -> str:
    """One JSON object."""
    return json.dumps(document(report, _version()), indent=2, ensure_ascii=not style.unicode) + "\n"


def _version() -> str:
    try:
        return version("drafter-lint")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0"
