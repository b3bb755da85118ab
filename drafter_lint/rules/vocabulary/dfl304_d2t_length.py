"""A vocabulary map of another length than the head.

## What it checks
The entries of `d2t` against the rows of the head, or against `draft_vocab_size` where the drafter has no head; and
that it is a list, not a table.

## Why it bites
Some engines refuse the tensor while loading. Others take it as it is and draft in full as long as no id past its end is
proposed; the first one that is reads past the table: a wrong token at best, a stopped server at worst. Ids cannot be
added to a table of several dimensions, nor can it be copied into the parameter made for a list.

## Fix
Export head and map from the same run.

## Limits
Where head and config disagree and the map fits one of them, head-rows tells.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known

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
def check(at: Known[Eagle]) -> Checks:
    """Entries of the map against what it maps from."""
    drafter = at.drafter
    drafted = faulty(at, "d2t-length")
    if drafted is None or drafted.map.d2t is None:
        return
    head, declared = drafter.canonical.get("lm_head.weight"), drafter.draft_vocab_size
    # Without a head the map's own entries are all there is to count; then only the declaration can differ.
    rows = head.shape[0] if head and head.shape else declared.value if declared else drafted.rows
    entries, shape = len(drafted.map.d2t), drafted.map.d2t_tensor.shape if drafted.map.d2t_tensor else ()
    past = f"; draft ids {entries} to {rows - 1} have no entry" if rows > entries else ""
    other = drafter.tensor_at("lm_head.weight", f"{rows} rows") if head else declared.at if declared else None
    listed = len(shape) < 2
    found = Found(
        message=f"d2t has {entries} entries; the head drafts {rows} ids{past}"
        if listed
        else f"d2t is {'x'.join(map(str, shape))}; a list of {rows} entries is expected",
        locations=(drafter.tensor_at("d2t", f"{entries} entries"), *((other,) if other else ())),
        measured={"entries": entries, "rows": rows},
        evidence=_EVIDENCE,
        fix=Fix("export lm_head and d2t from the same run"),
        outcome=None if listed else Outcome.REFUSES,
        confidence=Confidence.LIKELY,
    )
    yield told(at, "d2t-length", found)
