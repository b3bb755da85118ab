"""The report as JSON text; its schema is shipped as report.schema.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from drafter_lint.renderers.document import document
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.tool_version import tool_version
from drafter_lint.report import Report

_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def render(report: Report, style: Style) -> str:
    """One JSON object."""
    return written(document(report, tool_version()), style)


def written(value: Mapping[str, JsonValue], style: Style) -> str:
    """One of our documents as text."""
    text = json.dumps(value, indent=2, ensure_ascii=not style.unicode)
    # json escapes what ASCII calls control characters; a terminal obeys these as well.
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
