"""More draft tokens than the drafter has trained steps for.

## What it checks
The tokens asked for a step against the prediction layers the engine runs for them.

## Why it bites
A prediction layer is trained to draft one token further. Asked for more, the engine runs the same layer again on its
own output, which it has seen little of in training, or nothing: every further token is accepted less often, and each
costs a pass. vLLM's V1 runner does so even where the checkpoint has further layers: it only ever runs the first one.

## Fix
Ask for as many tokens as there are layers that run, or measure whether the further ones pay.

## Limits
Some models are trained to be run again (DeepSeek's reports say the second token is still accepted in most cases); no
file says so. What the further tokens are worth is for a measurement to tell.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment


@rule("DFL430", "tokens-above-trained", Outcome.SLOW)
def check(at: Deployment[Drafter]) -> Checks:
    """Tokens asked for against steps the plan has a trained part for."""
    trained, asked = at.plan.trained_steps, at.request.num_speculative_tokens
    if trained is None or asked is None or at.plan.refusals or asked.value <= trained:
        return
    layers = "the one prediction layer that runs drafts" if trained == 1 else f"the {trained} prediction layers draft"
    yield Found(
        message=f"{asked.value} tokens a step: {layers} the first {trained}, and one is run again for the rest",
        locations=(asked.at.saying(f"{asked.value} asked for"),),
        measured={"asked": asked.value, "trained": trained},
        evidence=at.plan.evidence_of("tokens"),
        fix=Fix(f"ask for {trained}, or measure the accept length at each position"),
    )
