"""A draft model whose file does not fill its own class.

## What it checks
The tensors of a language model used as drafter against the layers, norms, embedding and head its configuration asks
for.

## Why it bites
Cut-down copies and interrupted downloads leave a configuration that declares more layers than there are. vLLM stops
at what stays unfilled; SGLang compares nothing and drafts with what memory held.

## Fix
Write the number of layers the file has, or fetch the rest of the files.

## Limits
Looked at for the families whose loader is Llama's: Llama, Mistral, Qwen2, Qwen3. Quantised files are left out.
"""

from __future__ import annotations

from drafter_lint.drafters import DraftModel
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, refusals, renamed, run_as_head, told
from drafter_lint.scope import Deployment

_FIX = Fix("write the number of layers the file has, or fetch the rest of the files")


@rule("DFL519", "language-model-incomplete", Outcome.SILENT)
def check(at: Deployment[DraftModel]) -> Checks:
    """What the engine refuses, else what it leaves unfilled and what it throws away."""
    stopped = refusals(at, "language-model-incomplete")
    if stopped:
        yield told(stopped, message="; ".join(refusal.says for refusal in stopped), fix=_FIX)
        return
    plan = at.plan
    if renamed(at) == "replaced":
        return  # another class than the model's own: prediction-layers-absent tells
    if run_as_head(at) or plan.head is None:  # bound like a head: method-unsuitable tells
        return
    empty = [state.name for state in plan.parameters if state.matters and state.state in {"unfilled", "partly"}]
    lost = [fate.name for fate in plan.tensors if fate.fate == "dropped" and not fate.expected]
    if at.drafter.tie_word_embeddings and at.drafter.tie_word_embeddings.value:
        lost = [name for name in lost if not name.endswith("lm_head.weight")]
    if not empty and not lost:
        return
    places = [at.drafter.checkpoint.tensors.at(empty[0], "not in the file")] if empty else []
    places += [at.drafter.checkpoint.tensors.at(lost[0], "goes nowhere")] if lost else []
    said = [f"{len(empty)} parameters are not filled from the file: {listed(empty)}"] if empty else []
    said += [f"{len(lost)} tensors find no place: {listed(lost)}"] if lost else []
    layers = at.drafter.num_layers
    yield Found(
        message=f"the draft model is built in part: {'; '.join(said)}",
        locations=(*((layers.at.saying(f"{layers.value} layers"),) if layers else ()), *places),
        measured={"unfilled": len(empty), "dropped": len(lost)},
        evidence=plan.evidence_of("class"),
        fix=_FIX,
    )
