"""A flag or key that nothing reads.

## What it checks
Flags and speculative keys the engine accepts and then never looks at, in this version and with the method at hand.

## Why it bites
The command reads as if it said something. The worst forms: a drafter is named and no algorithm, or a speculator is
served by its own name in a release that puts its verifier in its place, and the server runs without speculation at all.

## Fix
Leave the flag out, or add the one that makes it count.

## Limits
Flags that have nothing to do with speculation are not looked at.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import right_method
from drafter_lint.scope import Deployment


@rule("DFL407", "flag-ignored", Outcome.HYGIENE)
def check(at: Deployment[Drafter]) -> Checks:
    """One finding for each; one for all of them when speculation is off although a drafter was named."""
    plan, request = at.plan, at.request
    if not plan.understood:
        return
    if not plan.speculates and request.drafter is not None and not plan.refusals:
        fix = right_method(at) or Fix("name the method")
        yield Found(
            message=f"a drafter is named and no method: {plan.engine} {plan.version} will serve without speculation",
            locations=(request.drafter.at.saying("never loaded"), *(flag.at for flag in plan.ignored_flags[:4])),
            measured={"speculates": False},
            evidence=plan.evidence_of("method"),
            fix=fix,
            outcome=Outcome.SLOW,
        )
        return
    if not plan.speculates and plan.method_origin == "checkpoint" and request.target is not None:
        yield Found(
            message=f"a speculator is what is served: {plan.engine} {plan.version} will serve its verifier alone",
            locations=(request.target.at.saying("never drafts"),),
            measured={"speculates": False},
            evidence=plan.evidence_of("method"),
            fix=Fix("serve the target, and name the speculator as its drafter"),
            outcome=Outcome.SLOW,
        )
        return
    for flag in plan.ignored_flags:
        yield Found(
            message=f"{flag.field}: {flag.says}",
            locations=(flag.at.saying("not read"),),
            evidence=flag.evidence,
            fix=Fix("leave it out"),
        )
