"""A norm the drafter was trained with is off in this engine, or one it was trained without is on.

## What it checks
The switches of the draft model as the engine sets them, against what the drafter's tensors and config say it needs: a
norm on each captured state (`fc_norm.*`), a norm before `fc` (`input_norm`), the residual taken before or after the
norm (as the config says, or as told with `--trained-on`), a norm on what a draft step hands to the next.

## Why it bites
The switch is a config key in one engine and nothing in the next. Without the key, the norm's tensors are skipped and
every state reaches `fc` at another scale; vLLM refuses some of them instead.

## Fix
Set the key the engine reads.

## Limits
A key that is set and not read is told by field-ignored. A norm that is on without a tensor is told by
parameter-unfilled.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.engines.plan import Scheme
from drafter_lint.findings import Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, first_of, once, refusals
from drafter_lint.rules.weights.schemes import Need, at_odds, scheme_of
from drafter_lint.scope import Deployment


@rule("DFL512", "norm-scheme", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """One finding for each switch that is not what the drafter needs."""
    if class_cause(at):
        return
    stopped = refusals(at, "norm-scheme")
    for need in at_odds(at):
        scheme = scheme_of(at.plan, need.name)
        if scheme is None:
            continue
        mine = [refusal for refusal in stopped if set(refusal.tensors) <= set(need.tensors)]
        wanted, got = ("on", "off") if need.on else ("off", "on")
        subject = f"{need.name} is {got}, this drafter needs it {wanted}"
        places = (*need.places, *((scheme.at,) if scheme.at else ()))
        yield Found(
            message=f"{subject} ({need.because}); {scheme.says}".rstrip("; "),
            locations=first_of(places) or (at.drafter.checkpoint.config.at(need.key),),
            measured={"scheme": need.name, "needs": need.on, "has": scheme.on},
            evidence=once((*scheme.evidence, *(item for refusal in mine for item in refusal.evidence))),
            fix=_fix(need, scheme),
            outcome=Outcome.REFUSES if mine else None,
        )


def _fix(need: Need, scheme: Scheme) -> Fix | None:
    if not scheme.settable:
        return Fix("a release or an engine in which the config sets it")
    return Fix(f"{need.key}: {str(need.on).lower()}", (SetConfig(f"/{need.key}", need.on),)) if need.key else None
