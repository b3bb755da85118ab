"""More draft tokens than the drafter has trained steps for.

## What it checks
The tokens asked for a step against the prediction layers the engine runs for them, and against the length of block a
block drafter was trained on.

## Why it bites
A block drafter has seen no position past its block: what it fills in there is a guess that costs a place in every
verification. A prediction layer is trained to draft one token further; asked for more, the engine runs the same layer
again on its own output, and every further token is accepted less often. vLLM's V1 runner does so even where the
checkpoint has further layers: it only ever runs the first one.

## Fix
Ask for as many tokens as there are trained steps, or measure whether the further ones pay.

## Limits
Some models are trained to have their prediction layer run again; no file says so, so of those this is a note.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment


@rule("DFL430", "tokens-above-trained", Outcome.SLOW)
def check(at: Deployment[Drafter]) -> Checks:
    """Tokens asked for against steps the plan has a trained part for."""
    trained, asked = at.plan.trained_steps, at.request.num_speculative_tokens
    if trained is None or asked is None or at.plan.refusals or asked.value <= trained:
        return
    block = isinstance(at.drafter, BlockDrafter)
    if block:
        why = f"the drafter was trained on blocks that leave {trained} to draft"
    elif trained == 1:
        why = "one prediction layer runs, and runs again on its own output for every token after the first"
    else:
        why = f"{trained} prediction layers run, and run again for the rest"
    yield Found(
        message=f"{asked.value} tokens a step: {why}",
        locations=(asked.at.saying(f"{asked.value} asked for"),),
        measured={"asked": asked.value, "trained": trained},
        evidence=at.plan.evidence_of("tokens"),
        fix=Fix(f"ask for {trained}, or measure the accept length at each position"),
        outcome=Outcome.SLOW if block else Outcome.HYGIENE,
    )
