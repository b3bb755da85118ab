"""A weight file, an index or a vocabulary map that breaks the law of its format.

## What it checks
Every safetensors header against the format (length, JSON, dtypes, shapes, ranges that neither overlap nor leave the
file), the index, and the two vocabulary tensors.

## Why it bites
The safetensors library engines load with checks the same laws and raises. The usual cause is a copy that was cut short.

## Fix
Fetch or export the file again and compare its size with the original's.

## Limits
Only headers and the vocabulary tensors are judged; damage inside the weights themselves is not seen.
"""

from __future__ import annotations

from drafter_lint.errors import Trouble
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.access.trouble import place
from drafter_lint.scope import Reading

_EVIDENCE = tuple(
    Evidence(
        engine=engine,
        version=version,
        file=file,
        symbol="safetensors_weights_iterator",
        how="read",
        note="opens every file with safetensors.safe_open, which checks the header",
    )
    for engine, version, file in (
        ("vllm", "0.33.0", "model_executor/model_loader/weight_utils.py"),
        ("sglang", "0.5.23", "srt/model_loader/weight_utils.py"),
    )
)


@rule("DFL101", "header-malformed", Outcome.REFUSES)
def check(at: Reading) -> Checks:
    """The bytes are there and are not what the file's name says."""
    if at.trouble.trouble is not Trouble.MALFORMED:
        return
    where = place(at, at.trouble.detail)
    # A map of the wrong dtype loads; what the engine then makes of it is no list of ids.
    inside = where.tensor is not None
    yield Found(
        message=f"{at.checkpoint.role} {at.trouble.what}: {at.trouble.detail}",
        locations=(where,),
        evidence=() if inside else _EVIDENCE,
        fix=Fix(at.trouble.hint or "fetch or export the file again"),
        outcome=Outcome.SILENT if inside else Outcome.REFUSES,
        confidence=Confidence.LIKELY if inside or where.file.endswith(".json") else Confidence.CERTAIN,
    )
