"""A drafter, or a method, whose needs are not yet understood.

## What it checks
Whether this version of drafter-lint models the drafter's method and the engine's handling of it.

## Why it bites
A check that ran only in part must not look like a pass.

## Fix
None is needed in the drafter. Start the server with a small batch and look at the accept length.

## Limits
What engines do is understood for EAGLE-1/2 and EAGLE-3 drafters, draft models of their own, DFlash and DSpark; what
vLLM does, for every method it has. Of SGLang's prediction classes those for DeepSeek, GLM-4, MiMo and Qwen3 are
followed tensor by tensor, of the others no more than whether they have any. Where an engine has no plan for a published
layout, its own files are checked and no more.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter, DraftModel, Eagle, Layout, Unsupported
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Deployment


@rule("DFL009", "not-understood", Outcome.SILENT)
def check(at: Deployment[Drafter]) -> Checks:
    """The drafter's needs, or the engine's deeds, are not modelled."""
    drafter, plan = at.drafter, at.plan
    if drafter.layout in (Layout.NOT_A_DRAFTER, Layout.UNKNOWN):
        return  # spoken of by not-a-drafter and layout-unknown
    needed = not plan.refusals
    if isinstance(drafter, Unsupported):
        what = f"{drafter.title} ({drafter.method})" if drafter.method else drafter.title
        yield NotChecked(f"{what}: what such a drafter needs is not yet understood", needed=needed)
    elif not plan.understood:
        how = f"method {plan.method}" if plan.method else "this method"
        what = "" if isinstance(drafter, (Eagle, DraftModel)) else f" and {drafter.title}"
        yield NotChecked(
            f"what {plan.engine} {plan.version} does with {how}{what} is not yet understood", needed=needed
        )
