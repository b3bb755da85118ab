"""A target whose config.json is no strict JSON.

## What it checks
Syntax, encoding and byte-order mark, text after the object, duplicate keys, and NaN or Infinity, in the target's
config.

## Why it bites
Engines stop at a config they cannot read. Nothing of the target is known then, and no check against it means
anything.

## Fix
Fetch config.json again, or write it anew with a JSON library.

## Limits
The same reading as for the drafter's config, which has a rule of its own.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.files.dfl103_config_not_json import problems
from drafter_lint.scope import Pair


@rule("DFL208", "target-config-not-json", Outcome.REFUSES)
def check(at: Pair[Drafter]) -> Checks:
    """Every problem the reader of the target's config.json recorded."""
    if at.target.standin:
        yield NotChecked(f"the target's config.json was not read; {at.target.standin} stands in")
        return
    yield from problems(at.target.checkpoint.config.document)
