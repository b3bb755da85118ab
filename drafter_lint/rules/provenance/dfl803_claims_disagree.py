"""A drafter whose own words contradict one another about its target.

## What it checks
What the drafter's fields, its card and its own name say it was trained for, against one another. Two spellings of one
model, its copies in other dtypes, and a name that only leaves words out do not contradict each other.

## Why it bites
One of them is wrong, and nobody can tell from outside which: whoever picks the target by the wrong one serves a drafter
that was trained for another model. Tools that read a field for the target follow it.

## Fix
Correct the field, the card or the name. The trainer's log or its arguments say which model the hidden states came from.

## Limits
Names are compared, nothing else. Several models named in one place are read as targets it was made for. What the card's
text says and a left-over `_name_or_path` are weak words: against them a contradiction is a doubt (`possible`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from drafter_lint.drafters import Claim, Drafter
from drafter_lint.drafters.names import Comparison, contradict, names_a_model
from drafter_lint.findings import Confidence, Fix, Found, Outcome, weakest
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone


@rule("DFL803", "claims-disagree", Outcome.HYGIENE)
def check(at: Alone[Drafter]) -> Checks:
    """Every two sources that have no target in common; the strongest contradiction of all is told."""
    if at.drafter.method == "draft_model":
        return  # made for no target
    found = list(_contradictions(at.drafter.claims))
    if not found:
        return
    one, other, comparison = max(found, key=lambda item: _confidence(*item).rank)
    yield Found(
        message=(
            f"the drafter was trained for {one.target.value} by {one.source}, and for {other.target.value} by "
            f"{other.source} ({comparison.reason})"
        ),
        locations=(
            one.target.at.saying(f"says {one.target.value}"),
            other.target.at.saying(f"says {other.target.value}"),
        ),
        measured={one.source: one.target.value, other.source: other.target.value},
        fix=Fix(f"say the same in {one.source} and {other.source}: the model whose hidden states it was trained on"),
        confidence=_confidence(one, other, comparison),
    )


def _confidence(one: Claim, other: Claim, comparison: Comparison) -> Confidence:
    weak = "told" in (one.strength, other.strength)
    return weakest(comparison.confidence, Confidence.POSSIBLE if weak else Confidence.CERTAIN)


def _contradictions(claims: tuple[Claim, ...]) -> Iterator[tuple[Claim, Claim, Comparison]]:
    """Claims of two sources without a target in common, the stronger claim first."""
    sources: dict[str, list[Claim]] = {}
    for claim in claims:
        if names_a_model(claim.target.value):
            sources.setdefault(claim.source, []).append(claim)
    for ours, theirs in combinations(sources.values(), 2):
        compared = [
            (one, other, contradict(one.target.value, other.target.value, hinted=other.strength != "stated"))
            for one in ours
            for other in theirs
        ]
        if all(comparison.same is False for _, _, comparison in compared):
            yield compared[0]
