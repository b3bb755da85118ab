"""A drafter trained for another model than the one it is to serve.

## What it checks
Every target the drafter names (in its config, its model card, and its own name) against the name of the target: family,
version, size, date stamp and variant.

## Why it bites
Shapes say nothing about what a drafter was trained on. Releases of one line share every width and layer count, so a
drafter of the previous release loads, drafts, and is accepted less often: often slower than no speculation at all.

## Fix
Use a drafter made for this target, or measure the accept length before relying on it.

## Limits
Names are compared, nothing else. The same weights stored otherwise (FP8, NVFP4, AWQ …), mirrors and spellings count as
the same model. An ordinary language model used as a drafter claims no target. A target in a folder whose name says
nothing cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.drafters import Claim, Drafter
from drafter_lint.drafters.claims import OWN_NAME
from drafter_lint.drafters.names import Comparison, basename, names_a_model, same_model
from drafter_lint.findings import Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Pair
from drafter_lint.targets import Target


@rule("DFL801", "trained-for-another-target", Outcome.SLOW)
def check(at: Pair[Drafter]) -> Checks:
    """Claims against the target's names; one that fits is enough."""
    if at.drafter.method == "draft_model":
        return  # a model of its own, made for no target; its card names the model it was tuned from
    claims = [claim for claim in at.drafter.claims if names_a_model(claim.target.value)]
    if not claims:
        yield NotChecked("the drafter does not say which target it was trained for")
        return
    served = list(_names(at.target))
    if not served:
        folder = basename(at.target.checkpoint.reference.name)
        yield NotChecked(f"nothing says which model the folder {folder!r} holds; {_said(claims[0])}")
        return
    compared = [
        (claim, name, same_model(claim.target.value, name, hinted=claim.strength == "named", folder=folder))
        for claim in claims
        for name, folder in served
    ]
    if any(comparison.same for _, _, comparison in compared):
        return
    differing = [entry for entry in compared if entry[2].same is False]
    if not differing:
        yield NotChecked(f"{_said(claims[0])}, which cannot be compared with {served[0][0]!r}")
        return
    yield _found(at, *max(differing, key=_weight))


def _weight(entry: tuple[Claim, str, Comparison]) -> tuple[int, bool]:
    claim, _, comparison = entry
    return comparison.confidence.rank, claim.strength == "stated"


def _found(at: Pair[Drafter], claim: Claim, name: str, comparison: Comparison) -> Found:
    target = Location(role="target", subject=at.target.checkpoint.subject, label=f"is {name}")
    return Found(
        message=f"{_said(claim)}; the target is {name} ({comparison.reason})",
        locations=(claim.target.at.saying(f"says {claim.target.value}"), target),
        measured={"claimed": claim.target.value, "served": name, "source": claim.source},
        fix=Fix(f"use a drafter made for {name}, or measure the accept length first"),
        confidence=comparison.confidence,
    )


def _names(target: Target) -> Iterator[tuple[str, bool]]:
    """The names of the target that can be compared, and whether each is a folder's."""
    reference = target.checkpoint.reference
    if names_a_model(reference.name):
        yield reference.name, reference.kind == "local"
    for config in (target.checkpoint.config, target.text):
        written = config.string("_name_or_path")
        if written and names_a_model(written.value):
            yield written.value, False
            return


def _said(claim: Claim) -> str:
    if claim.source == OWN_NAME:
        return f"the drafter is called {claim.target.value}"
    return f"the drafter was trained for {claim.target.value} (by {claim.source})"
