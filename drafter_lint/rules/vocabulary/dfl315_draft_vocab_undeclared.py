"""A reduced vocabulary that the config does not declare.

## What it checks
That a drafter whose head or map has fewer entries than the vocabulary has `draft_vocab_size` in its config.

## Why it bites
Engines build head and map from that field. Without it one builds them for the whole vocabulary and refuses the tensors,
another asks for the field and stops there. Config classes of some model families drop it on saving, and one trainer
writes `truncated_vocab_size` in its place.

## Fix
Write `draft_vocab_size` with the rows the head has.

## Limits
The other spelling is accepted as a declaration where no engine is known; with one, its plan says whether it is read.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import misspelt, undeclared
from drafter_lint.rules.shared import refusals
from drafter_lint.rules.vocabulary.drafted import drafted_rows
from drafter_lint.rules.vocabulary.tell import target_of, told
from drafter_lint.scope import Deployment, Known

_NAME = "draft-vocab-undeclared"
_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.32.0 to 0.33.0",
        file="model_executor/models/llama_eagle3.py",
        symbol="Eagle3LlamaForCausalLM.__init__",
        how="run",
        note="without the field the head is built for the whole vocabulary",
    ),
    Evidence(
        engine="sglang",
        version="0.5.5.post3 to 0.5.23",
        file="srt/models/llama_eagle3.py",
        symbol="LlamaForCausalLMEagle3.__init__",
        how="run",
        note="asks the config for the field",
    ),
)


@rule("DFL315", "draft-vocab-undeclared", Outcome.REFUSES)
def check(at: Known[Eagle]) -> Checks:
    """A reduced head or map, and no field that says so."""
    drafter, target = at.drafter, target_of(at)
    config, other = drafter.checkpoint.config, drafter.draft_vocab_size
    if not undeclared(drafter, target) or misspelt(config):
        return
    if other and not (isinstance(at, Deployment) and refusals(at, _NAME)):
        return
    rows, own = drafted_rows(drafter), drafter.vocab_size
    theirs = target.vocab_size if target else None
    whole = theirs or own
    part = "lm_head.weight" if "lm_head.weight" in drafter.canonical else "d2t"
    said = f"only as {(other.at.pointer or '').rpartition('/')[2]}" if other else "nowhere"
    found = Found(
        message=f"{part} has {rows} rows for {whole.value if whole else 0} ids, and the config says so {said}: "
        "draft_vocab_size is not there",
        locations=(
            (other.at if other else config.at()).saying("no draft_vocab_size"),
            drafter.tensor_at(part, f"{rows} rows"),
        ),
        measured={"rows": rows, "vocabulary": whole.value if whole else None},
        evidence=_EVIDENCE,
        fix=Fix(f'"draft_vocab_size": {rows}', (SetConfig("/draft_vocab_size", rows),)),
        confidence=Confidence.LIKELY,
    )
    yield told(at, _NAME, found)
