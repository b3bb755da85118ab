"""A prediction module, block drafter or set of heads the file does not fill.

## What it checks
Every parameter the engine builds for prediction layers, DFlash and DSpark drafters, Medusa heads and MLPSpeculators,
against the tensors of the file.

## Why it bites
Quantised and converted copies of a model often lose a norm or a projection of the prediction layer, or the whole layer.
vLLM looks at what stayed unfilled where a class reports what it loaded, since 0.21.0 only at norms and plain
projections; its block drafters report nothing. SGLang never looks. What nobody looks at keeps what memory held, and
drafts from it.

## Fix
Take a checkpoint that has the tensor, or correct the number that makes the engine build the part.

## Limits
Parts that are bound to the target's are left out. Of quantised files vLLM's plan follows nothing, and SGLang's no more
than whether a part is there in any packing.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Drafter, Medusa, MlpSpeculator, Mtp
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.files.core import missing_core
from drafter_lint.rules.shared import listed, refusals, told
from drafter_lint.rules.weights.stems import parts, stem
from drafter_lint.scope import Deployment

_FIX = Fix("take a checkpoint that has the tensor, or correct the number that makes the engine build the part")


@rule("DFL525", "drafter-incomplete", Outcome.SILENT)
def check(at: Deployment[Drafter]) -> Checks:
    """What the engine refuses, else what it leaves unfilled."""
    stopped = refusals(at, "drafter-incomplete")
    if stopped:
        yield told(stopped, message="; ".join(refusal.says for refusal in stopped), fix=_FIX)
        return
    drafter, plan = at.drafter, at.plan
    if not isinstance(drafter, (BlockDrafter, Medusa, MlpSpeculator, Mtp)) or plan.refusals:
        return
    if plan.draft_class is not None and not plan.parameters and drafter.canonical:
        yield NotChecked(f"which tensor of the file goes where in {plan.draft_class} is not followed")
        return
    explained = {stem(name) for name in missing_core(drafter)} if isinstance(drafter, BlockDrafter) else set()
    empty = [
        state.name
        for state in plan.parameters
        if state.matters and state.state in {"unfilled", "partly"} and not parts(state.name) & explained
    ]
    if empty:
        yield Found(
            message=f"{len(empty)} of {len(plan.parameters)} parameters are not filled from the file: {listed(empty)}",
            locations=(drafter.checkpoint.tensors.at(empty[0], "not in the file"),),
            measured={"unfilled": [*empty[:20]], "parameters": len(plan.parameters)},
            evidence=plan.evidence_of("class"),
            fix=_FIX,
        )
