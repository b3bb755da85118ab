"""A drafter without any weight file.

## What it checks
That the folder or repository holds weights at all.

## Why it bites
Engines stop while loading. Typical causes are a download that was cut short, a filter that left the weights out, and an
export that wrote the config alone.

## Fix
Fetch or export the weights again.

## Limits
Only the folder itself is looked at, as engines do; weights in a folder further down do not count.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.access.trouble import about_config, place, said
from drafter_lint.scope import Reading

_EVIDENCE = tuple(
    Evidence(
        engine=engine,
        version=version,
        file=file,
        symbol="DefaultModelLoader._prepare_weights",
        how="read",
        note="raises when no weight file is found",
    )
    for engine, version, file in (
        ("vllm", "0.33.0", "model_executor/model_loader/default_loader.py"),
        ("sglang", "0.5.23", "srt/model_loader/loader.py"),
    )
)


@rule("DFL010", "weights-missing-files", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """No weight file among the files."""
    if at.trouble.trouble is not Trouble.MISSING or about_config(at):
        return
    if at.checkpoint.role == "target":
        yield NotChecked(f"target {said(at)}", needed=False)  # a target is judged by its config alone
        return
    yield Found(
        message=f"the drafter's weights are not there: {said(at)}",
        locations=(place(at, "no weights"),),
        evidence=_EVIDENCE,
        fix=Fix("fetch or export the weights again"),
    )
