"""A head that holds nothing but zeros.

## What it checks
A few rows of a reduced `lm_head`: that not all of them are zeros while the file's final norm is not.

## Why it bites
Names, dtypes and shapes are right, so it loads everywhere. Every logit is zero, the largest one is the first, and every
draft is draft token 0: accept length 1.0, and nothing in the log. A head is zeros when it was saved from a process that
did not hold it, when it was made anew by a converter, or when a download left a hole in a file of the right length.

## Fix
Compare the file with its published digest and fetch it again; if the digest is right, export the head again.

## Limits
Two rows in each of three places are read, those whose neighbours the map tells to differ; so only heads beside a map of
offsets are looked at. A file whose final norm is zeros too holds no weights at all, as a stand-in does not, and nothing
is said of it. Other tensors are not read.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed
from drafter_lint.rules.vocabulary.tell import told
from drafter_lint.scope import Known

_EVIDENCE = (
    Evidence(
        engine="sglang",
        version="0.5.5.post3 to 0.5.23",
        file="srt/models/llama_eagle3.py",
        symbol="LlamaForCausalLMEagle3.load_weights",
        how="run",
        note="loads a head of zeros; accept length 1.0",
    ),
    Evidence(
        engine="vllm",
        version="0.27.1 to 0.33.0",
        file="model_executor/models/llama_eagle3.py",
        symbol="Eagle3LlamaForCausalLM.load_weights",
        how="run",
        note="loads a head of zeros; accept length 1.0",
    ),
)


@rule("DFL317", "head-zeros", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Every row looked at is zeros."""
    try:
        same = at.drafter.checkpoint.equal_rows
    except Unavailable:  # head-pruned-by-offsets reads the same rows and says why they cannot be read
        return
    if same is None or not same.zeros:
        return
    rows = sorted({row + step for row in same.rows for step in (0, 1)})
    found = Found(
        message=f"lm_head.weight is zeros in every row looked at: {listed([str(row) for row in rows])}; every logit is "
        "then the same, and every draft is draft token 0",
        locations=(at.drafter.tensor_at("lm_head.weight", "zeros"),),
        measured={"rows": [*rows]},
        evidence=_EVIDENCE,
        fix=Fix("fetch the file again if its digest is not the published one; else export the head again"),
        confidence=Confidence.LIKELY,
    )
    yield told(at, "head-zeros", found)
