"""The engine cannot read the drafter's config.

## What it checks
Whether this engine reads the layout of the drafter's config.json at all, and whether every field its draft class
reads without a default is there.

## Why it bites
Layouts are not portable: a speculators config has no `model_type` and SGLang cannot read it; SGLang's EAGLE-3 class
reads `draft_vocab_size` without a default. The message is the config library's own and names
neither engine nor drafter.

## Fix
Add the field, or use the layout this engine reads.

## Limits
None.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refused
from drafter_lint.scope import Deployment


@rule("DFL414", "config-refused", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    yield from refused(at, "config-refused", Fix("add the field, or use the layout this engine reads"))
