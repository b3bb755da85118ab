"""A prediction module built for a checkpoint that has no prediction layers.

## What it checks
Whether the class an engine puts in place of a checkpoint's own, when it is opened as a drafter, finds any of its
tensors in the files.

## Why it bites
SGLang turns the architecture of many models into that of their prediction module whenever they are opened as drafters,
whether or not the checkpoint has one: a plain Qwen3-MoE model from 0.5.13 on, Qwen3.5 from 0.5.9. Nothing is compared
after loading, so every parameter keeps what memory held; embedding and head are the target's, and the server drafts.

## Fix
Take a checkpoint that has its prediction layers, or draft by another method.

## Limits
Left out where the config announces the layers (mtp-missing tells), and where the plan does not follow the class.
"""

from __future__ import annotations

from drafter_lint.checkpoint.text import announced_mtp
from drafter_lint.drafters import BlockDrafter, Drafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import files_absent
from drafter_lint.rules.shared import renamed
from drafter_lint.scope import Deployment


@rule("DFL520", "prediction-layers-absent", Outcome.SILENT)
def check(at: Deployment[Drafter]) -> Checks:
    """Another class than the written one, and no parameter filled but what the target lends."""
    drafter, plan = at.drafter, at.plan
    if isinstance(drafter, (BlockDrafter, Eagle)) or plan.refusals or renamed(at) != "replaced":
        return
    own = [state for state in plan.parameters if state.state != "shared"]
    announced = announced_mtp(drafter.checkpoint.config)
    if not own or any(state.state != "unfilled" for state in own) or (announced and announced.value > 0):
        return
    if files_absent(drafter) or drafter.architecture is None:
        return
    yield Found(
        message=(
            f"{drafter.architecture.value} is opened as {plan.draft_class}, "
            f"and none of its {len(own)} parameters is in the files"
        ),
        locations=(drafter.architecture.at, drafter.checkpoint.tensors.at(own[0].name, "not in the files")),
        measured={"unfilled": len(own), "class": plan.draft_class},
        evidence=plan.evidence_of("architecture"),
        fix=Fix("take a checkpoint that has its prediction layers, or draft by another method"),
    )
