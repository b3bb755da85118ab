"""A draft model that reads too much of what its target reads.

## What it checks
The weights one step of the draft model reads, against one step of the target: layers, the experts a token passes, and
the head, by the numbers in both configurations.

## Why it bites
Every drafted token costs a pass through the draft model. Three passes at a third of the target's weights cost as much
as the target's own step, so that even with every token accepted the gain is halved; at a usual acceptance little is
left. Targets with experts read few of their weights a token: a dense model of 4B beside one of 30B with 3B active
drafts slower than the target answers.

## Fix
A smaller draft model, or fewer tokens a step.

## Limits
Weights are counted and their precision is not: beside a quantised target the ratio is worse than told, and a
quantised draft model is not judged. Attention over long contexts, batches and the launching of kernels are left out.
"""

from __future__ import annotations

from drafter_lint.drafters import DraftModel
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.speed.weights_read import weights_read
from drafter_lint.scope import Deployment

#: Draft steps of together at least a third of a target step for each drafted token.
_TOO_MUCH = 1 / 3
#: Drafted tokens where the command does not say.
_TOKENS = 3


@rule("DFL703", "drafter-too-large", Outcome.SLOW)
def check(at: Deployment[DraftModel]) -> Checks:
    """The ratio, and what it leaves to gain."""
    plan, drafter = at.plan, at.drafter
    if self_drafting(at) or not plan.understood or not plan.speculates or plan.refusals:
        return
    ours, theirs = weights_read(drafter.layer_config), weights_read(at.target.text)
    if not ours or not theirs:
        yield NotChecked("the sizes in the configurations do not tell how many weights a token reads")
        return
    given = at.request.num_speculative_tokens or at.request.num_steps
    tokens = given.value if given else _TOKENS
    passes = 1 if plan.parallel_drafting else tokens
    cost = passes * ours / theirs
    if tokens <= 0 or cost < _TOO_MUCH * tokens:
        return
    if drafter.checkpoint.config.has("quantization_config"):
        yield NotChecked("the draft model is quantised: how much less it reads is not reckoned")
        return
    best = (tokens + 1) / (1 + cost)
    counted = at.target.num_layers or at.target.hidden_size
    size = drafter.num_layers or drafter.hidden_size
    yield Found(
        message=f"a draft step reads {_shown(ours, theirs)} weights and a target step {_shown(theirs, theirs)}: "
        f"{tokens} tokens a step cannot be more than {best:.1f} times as fast, were every one accepted",
        locations=tuple(place.at for place in (size, counted, given) if place),
        measured={"drafter": ours, "target": theirs, "tokens": tokens, "best": round(best, 2)},
        fix=Fix("a smaller draft model, or fewer tokens a step"),
        confidence=Confidence.LIKELY,
    )


def _shown(count: int, scale: int) -> str:
    return f"{count / 1e9:.2f} billion" if scale >= 10**8 else f"{count / 1e6:.2f} million"
