"""A field of the drafter's config that this engine does not read.

## What it checks
Fields that describe how the drafter computes, against those the draft class reads in this version.

## Why it bites
The weights load completely and without a word, and the drafter computes something else than it was trained to. SGLang
has no notion of `norm_before_residual`: a drafter trained with it gets accept length 1.0 there. Releases that do not
read `layer_types` of a block drafter run its sliding layers as full ones, in both directions: the later tokens of every
block are lost.

## Fix
Serve with an engine or a release that reads the field.

## Limits
Fields whose absence changes nothing for this drafter are remarks; lists of layer ids are told by aux-ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import class_cause, first_of, once, refusals
from drafter_lint.rules.weights.schemes import ignored_and_needed
from drafter_lint.scope import Deployment

#: Lists of ids have rules that know when they matter.
_TOLD_ELSEWHERE = ("layer_ids",)
_FIX = Fix("a release or an engine that reads the field")


@rule("DFL509", "field-ignored", Outcome.HYGIENE)
def check(at: Deployment[Eagle | BlockDrafter]) -> Checks:
    """Silent where the drafter needs the field, a remark where it does not."""
    if class_cause(at):
        return
    drafter = at.drafter
    if isinstance(drafter, Eagle):
        yield from _eagle(Deployment(drafter=drafter, target=at.target, request=at.request, plan=at.plan))
        return
    for entry in at.plan.ignored_fields:  # a plan names fields of a block drafter only where they change what it drafts
        yield Found(
            message=f"{entry.field} is not read: {entry.says}",
            locations=(entry.at.saying("not read"),),
            measured={"field": entry.field, "needed": True},
            evidence=entry.evidence,
            fix=_FIX,
            outcome=Outcome.SILENT,
        )


def _eagle(at: Deployment[Eagle]) -> Iterator[Found]:
    stopped = refusals(at, "field-ignored")
    for entry in at.plan.ignored_fields:
        if entry.field.endswith(_TOLD_ELSEWHERE):
            continue
        wanted = ignored_and_needed(at, entry.field)
        mine = [refusal for refusal in stopped if wanted and set(refusal.tensors) <= set(wanted.tensors)]
        yield Found(
            message=f"{entry.field} is not read: {entry.says}",
            locations=first_of((entry.at.saying("not read"), *(wanted.places if wanted else ()))),
            measured={"field": entry.field, "needed": wanted is not None},
            evidence=once((*entry.evidence, *(item for refusal in mine for item in refusal.evidence))),
            fix=_FIX if wanted else None,
            outcome=Outcome.REFUSES if mine else Outcome.SILENT if wanted else None,
        )
