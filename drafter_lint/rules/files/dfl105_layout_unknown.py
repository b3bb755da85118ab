"""A drafter in a layout nobody has published, or one that is not known here.

## What it checks
Whether the tensor names and the config fit any layout that is known.

## Why it bites
Without a layout nothing can be said about what the drafter needs, and a check that ran only in part must not look
like a pass.

## Fix
Name the folder that holds the drafter itself. If it is a new layout, `drafter-lint record` writes it down without its
weights, for a report.

## Limits
A checkpoint whose weights cannot be opened is judged by its config alone, and the reason is told by another rule.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter, Layout
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import listed
from drafter_lint.scope import Alone


@rule("DFL105", "layout-unknown", Outcome.SILENT)
def check(at: Alone[Drafter]) -> Checks:
    """Nothing fits."""
    drafter = at.drafter
    if drafter.layout is not Layout.UNKNOWN:
        return
    try:
        config, table = drafter.checkpoint.config, drafter.checkpoint.tensors
    except Unavailable:
        return  # the access and file rules say why
    architectures = config.strings("architectures")
    named = f"architectures {list(architectures.value)}" if architectures else "no architectures"
    shown = listed(sorted(table)) or "none"
    yield NotChecked(f"no known layout has {named} and tensors such as {shown}", needed=True)
