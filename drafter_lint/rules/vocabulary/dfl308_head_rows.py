"""A head with another number of rows than the config declares.

## What it checks
The rows of `lm_head.weight` against `draft_vocab_size`.

## Why it bites
Engines build the head from the declaration and refuse a tensor of another shape.

## Fix
Declare the rows the head has.

## Limits
Where `draft_vocab_size` is absent, draft-vocab-undeclared tells.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import rows_at_odds
from drafter_lint.rules.vocabulary.tell import told
from drafter_lint.scope import Known

_EVIDENCE = tuple(
    Evidence(engine=engine, version=version, file=file, symbol="VocabParallelEmbedding.weight_loader", how="run",
             note="asserts that the tensor has as many rows as the head was built with")
    for engine, version, file in (
        ("vllm", "0.11.2 to 0.33.0", "model_executor/layers/vocab_parallel_embedding.py"),
        ("sglang", "0.5.5.post3 to 0.5.23", "srt/layers/vocab_parallel_embedding.py"),
    )
)  # fmt: skip


@rule("DFL308", "head-rows", Outcome.REFUSES)
def check(at: Known[Eagle]) -> Checks:
    """Rows against the declaration."""
    drafter, declared = at.drafter, at.drafter.draft_vocab_size
    head = drafter.canonical.get("lm_head.weight")
    if head is None or declared is None or not rows_at_odds(drafter):
        return
    pointer = declared.at.pointer
    edits = (SetConfig(pointer, head.shape[0]),) if pointer else ()
    found = Found(
        message=f"lm_head.weight has {head.shape[0]} rows; the config declares a draft vocabulary of {declared.value}",
        locations=(
            declared.at.saying(f"{declared.value} declared"),
            drafter.tensor_at("lm_head.weight", f"{head.shape[0]} rows"),
        ),
        measured={"rows": head.shape[0], "declared": declared.value},
        evidence=_EVIDENCE,
        fix=Fix(f"declare {head.shape[0]}", edits),
        confidence=Confidence.LIKELY,
    )
    yield told(at, "head-rows", found)
