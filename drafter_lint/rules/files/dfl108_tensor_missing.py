"""A drafter that lacks a tensor it cannot draft without.

## What it checks
That `fc`, the attention, the MLP and the norms of every layer in the file are there. Embedding and head may be absent:
engines take the target's. Block drafters: the norm of the states and the tensors of their own head (Markov head, GRU)
as well. An ordinary language model: its embedding, and its head if it declares that the two are not tied.

## Why it bites
Engines do not count: EAGLE drafters are loaded tensor by tensor, and a parameter that nothing fills keeps what memory
held. The server starts, and the accept length stays near 1.

## Fix
Export the drafter again; the tensor cannot be made up from the others.

## Limits
Names are compared after wrapper prefixes are stripped; fused and quantised spellings count as present.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, DraftModel, Eagle
from drafter_lint.findings import Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.files.core import missing_core
from drafter_lint.rules.shared import listed
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.11.2 to 0.33.0",
        file="model_executor/models/llama_eagle3.py",
        symbol="Eagle3LlamaForCausalLM.load_weights",
        how="run",
        note="returns no set of loaded names, so nothing is counted: fc, norm and mlp stay unfilled in silence",
    ),
    Evidence(
        engine="sglang",
        version="0.5.5.post3 to 0.5.23",
        file="srt/models/llama_eagle3.py",
        symbol="LlamaForCausalLMEagle3.load_weights",
        how="run",
        note="fills what the file has; the rest keeps its initial values",
    ),
)


@rule("DFL108", "tensor-missing", Outcome.SILENT)
def check(at: Alone[Eagle | BlockDrafter | DraftModel]) -> Checks:
    """Core tensors by their canonical names."""
    drafter = at.drafter
    missing = missing_core(drafter)
    if not missing:
        return
    yield Found(
        message=f"the drafter has no {listed(missing)}; every engine needs {'them' if len(missing) > 1 else 'it'}",
        locations=tuple(drafter.tensor_at(name, "missing") for name in missing[:3]),
        measured={"missing": list(missing), "present": len(drafter.canonical)},
        evidence=_EVIDENCE if isinstance(drafter, Eagle) else (),
        fix=Fix("export the drafter again, with every tensor"),
    )
