"""A tensor of the drafter goes nowhere.

## What it checks
Every tensor of the file against the parameters of the draft class: a name the loader has no parameter for, and skips.

## Why it bites
SGLang skips unknown names without a word; vLLM skips some of them. What was trained is then not there when the drafter
runs, and the accept length tells it at best.

## Fix
Rename the tensor to what this engine's class calls it, or serve with an engine that has the part.

## Limits
Left out: t2d and computed rotary buffers, which nobody needs; heads, embeddings, maps, norms and biases, which have
pages of their own.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, lost, once
from drafter_lint.rules.weights.schemes import switched_off
from drafter_lint.scope import Deployment


@rule("DFL501", "tensor-dropped", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """One finding for all of them: they are lost together, mostly for one reason."""
    elsewhere = switched_off(at)
    fates = [fate for fate in lost(at) if not fate.name.endswith(".bias") and fate.name not in elsewhere]
    if not fates:
        return
    total = len(at.plan.tensors)
    names = [fate.name for fate in fates]
    yield Found(
        message=f"{len(fates)} of {total} tensors find no place in {at.plan.draft_class}: {listed(names)}",
        locations=tuple(at.drafter.checkpoint.tensors.at(fate.name, fate.says) for fate in fates[:5]),
        measured={"dropped": len(fates), "tensors": total, "names": [*names[:20]]},
        evidence=once(item for fate in fates for item in fate.evidence),
        fix=Fix("rename them to what this engine's class calls them"),
    )
