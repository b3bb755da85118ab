"""A vocabulary map of another length than the head.

## What it checks
The entries of `d2t` against the rows of the head, or against `draft_vocab_size` where the drafter has no head.

## Why it bites
Some engines refuse the tensor while loading. Others take it as it is and draft in full as long as no id past its end is
proposed; the first one that is reads past the table: a wrong token at best, a stopped server at worst.

## Fix
Export head and map from the same run.

## Limits
How the engine at hand takes it is told by the rules that follow its plan as well.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.11.2 to 0.33.0",
        file="model_executor/models/llama_eagle3.py",
        symbol="Eagle3LlamaForCausalLM.load_weights",
        how="run",
        note="refuses a map of another length than draft_vocab_size",
    ),
    READERS[1],
)


@rule("DFL304", "d2t-length", Outcome.SLOW)
def check(at: Alone[Eagle]) -> Checks:
    """Entries of the map against what it maps from."""
    drafter = at.drafter
    table, head = drafter.canonical.get("d2t"), drafter.canonical.get("lm_head.weight")
    if table is None or len(table.shape) != 1 or drafter.generation != 3:
        return
    declared = drafter.draft_vocab_size
    rows = head.shape[0] if head and head.shape else declared.value if declared else None
    if rows is None or rows == table.shape[0]:
        return
    short = rows - table.shape[0]
    past = f"; draft ids {table.shape[0]} to {rows - 1} have no entry" if short > 0 else ""
    other = drafter.tensor_at("lm_head.weight", f"{rows} rows") if head else declared.at if declared else None
    yield Found(
        message=f"d2t has {table.shape[0]} entries; the head drafts {rows} ids{past}",
        locations=(drafter.tensor_at("d2t", f"{table.shape[0]} entries"), *((other,) if other else ())),
        measured={"entries": table.shape[0], "rows": rows},
        evidence=_EVIDENCE,
        fix=Fix("export lm_head and d2t from the same run"),
        confidence=Confidence.LIKELY,
    )
