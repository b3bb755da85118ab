"""A drafter that asks for its own Python code to be run.

## What it checks
`auto_map` in config.json, which names classes in files of the repository.

## Why it bites
An engine that trusts remote code executes those files; one that does not either ignores the entry or refuses the
config. A drafter of a known class needs none.

## Fix
Remove `auto_map` from the drafter's config.

## Limits
Whether the code is ever run depends on the engine's trust setting. An `auto_map` with an empty key, which one
exporter leaves behind, names nothing and is not reported.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Fix, Found, Outcome, RemoveConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed
from drafter_lint.scope import Alone


@rule("DFL113", "remote-code", Outcome.HYGIENE)
def check(at: Alone[Drafter]) -> Checks:
    """auto_map names code."""
    try:
        config = at.drafter.checkpoint.config
    except Unavailable:
        return
    named = config.object("auto_map")
    entries = {key: value for key, value in named.value.items() if key.strip()} if named else {}
    if not entries:
        return
    shown = listed([f"{key} -> {value!s:.60}" for key, value in sorted(entries.items())])
    yield Found(
        message=f"auto_map names code of the repository: {shown}",
        locations=(config.at("auto_map", label="code to be run"),),
        measured={"entries": len(entries)},
        fix=Fix('remove "auto_map"', (RemoveConfig("/auto_map"),)),
    )
