"""A drafter trained for another model than the one it is to serve.

## What it checks
Every target the drafter names against the name of the target: family, version, size, date stamp and variant. Named is
a target in a field made for it (the verifier of speculators, `target_model_name_or_path`, `base_model_name_or_path`),
by the card's `base_model` or its line "Verifier:", by the drafter's own name, and, less surely, by the card's text and
by `_name_or_path`.

## Why it bites
Shapes say nothing about what a drafter was trained on. Releases of one line share every width and layer count, so a
drafter of the previous release loads, drafts, and is accepted less often: often slower than no speculation at all.

## Fix
Use a drafter made for this target, or measure the accept length before relying on it.

## Limits
Names are compared. The same weights stored otherwise (FP8, NVFP4, AWQ, GGUF …), mirrors and spellings count as the
same model. A word nobody knows in the target's name, such as that of a fine-tune, is a doubt (`possible`), and so is a
date that only the drafter's own name leaves out.

Where the drafter's embedding is the target's, row by row, a mere doubt is dropped; siblings may share an embedding, so
a plain contradiction stays. The days of the repositories are told where the Hub's listing names them; nothing rests on
them.

An ordinary language model used as a drafter claims no target. A target in a folder whose name says nothing cannot be
compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.drafters import Claim, Drafter
from drafter_lint.drafters.claims import OWN_NAME
from drafter_lint.drafters.names import Comparison, basename, contradict, names_a_model, same_model
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Fix, Found, Location, Outcome, weakest
from drafter_lint.rule import Checks, NotChecked, cut_short, rule
from drafter_lint.scope import Pair
from drafter_lint.targets import Target

_POSSIBLE = Confidence.POSSIBLE


@dataclass(frozen=True, slots=True)
class _Held:
    """A claim held against one name of the target."""

    claim: Claim
    name: str
    comparison: Comparison

    @property
    def confidence(self) -> Confidence:
        """How sure it is that this claim names another model."""
        return weakest(self.comparison.confidence, _POSSIBLE if self.claim.strength == "told" else Confidence.CERTAIN)


@rule("DFL801", "trained-for-another-target", Outcome.SLOW)
def check(at: Pair[Drafter]) -> Checks:
    """The strongest claims against the target's names; one of them that fits is enough."""
    if at.drafter.method in {"draft_model", "pard"}:
        return  # a model of its own, made for no target; its card names the model it was tuned from
    claims = [claim for claim in at.drafter.claims if names_a_model(claim.target.value)]
    unread = _unread_card(at)
    if unread:
        yield cut_short(unread)
    if not claims:
        if unread:
            return
        yield NotChecked(f"the drafter does not say which target it was trained for{_aside(at)}")
        return
    served = list(_names(at.target))
    if not served:
        folder = basename(at.target.checkpoint.reference.name)
        yield NotChecked(f"nothing says which model the folder {folder!r} holds; {_said(claims[:1])}{_aside(at)}")
        return
    held = [_best(claim, served) for claim in claims]
    judged = [item for item in held if item.comparison.same is not None]
    if not judged:
        yield NotChecked(f"{_said(claims[:1])}, which cannot be compared with {served[0][0]!r}{_aside(at)}")
        return
    strongest = [item for item in judged if item.claim.strength == judged[0].claim.strength]
    if any(item.comparison.same for item in strongest):
        return
    worst = max(strongest, key=lambda item: item.confidence.rank)
    fitting = any(item.comparison.same for item in judged)
    confidence = weakest(worst.confidence, _POSSIBLE if fitting else Confidence.CERTAIN)
    plain = confidence is not _POSSIBLE and worst.claim.strength == "stated"
    equal = _equal(at, head=not plain)
    if equal and confidence is _POSSIBLE:
        return  # a doubt about a name, and rows that leave none
    differing = [item for item in judged if item.comparison.same is False]
    yield _found(at, worst, differing, confidence if plain or not equal else _POSSIBLE)


def _unread_card(at: Pair[Drafter]) -> Unavailable | None:
    """Why the drafter's card could not be read: the rest of its claims is judged all the same."""
    try:
        _ = at.drafter.checkpoint.card
    except Unavailable as trouble:
        return trouble
    return None


def _best(claim: Claim, served: list[tuple[str, bool]]) -> _Held:
    """A claim against the name of the target that it fits best."""
    held = [
        _Held(claim, name, same_model(claim.target.value, name, hinted=claim.strength != "stated", folder=folder))
        for name, folder in served
    ]
    return max(held, key=lambda item: (item.comparison.same is True, item.comparison.same is False))


def _found(at: Pair[Drafter], worst: _Held, others: list[_Held], confidence: Confidence) -> Found:
    claim, name = worst.claim, worst.name
    alike = [item.claim for item in others if item.claim is not claim and _agree(claim, item.claim)]
    target = Location(role="target", subject=at.target.checkpoint.subject, label=f"is {name}")
    tail = _older(at) + ("; rows of its embedding are the target's, which siblings may share" if _equal(at) else "")
    return Found(
        message=f"{_said([claim, *alike])}; the target is {name} ({worst.comparison.reason}){tail}",
        locations=(claim.target.at.saying(f"says {claim.target.value}"), target),
        measured={
            "claimed": claim.target.value,
            "served": name,
            "source": claim.source,
            "claims": {item.claim.source: item.claim.target.value for item in others},
        },
        fix=Fix(f"use a drafter made for {name}, or measure the accept length first"),
        confidence=confidence,
    )


def _agree(one: Claim, other: Claim) -> bool:
    return contradict(one.target.value, other.target.value, hinted=other.strength != "stated").same is True


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


def _said(claims: list[Claim]) -> str:
    sources = list(dict.fromkeys(claim.source for claim in claims))
    if sources[0] == OWN_NAME:
        also = f" (so says {' and '.join(sources[1:])})" if sources[1:] else ""
        return f"the drafter is called {claims[0].target.value}{also}"
    by = ", ".join(sources[:-1]) + " and " + sources[-1] if sources[1:] else sources[0]
    return f"the drafter was trained for {claims[0].target.value} (by {by})"


def _older(at: Pair[Drafter]) -> str:
    """That the drafter was there first, where the listings give both days."""
    changed, created = at.drafter.checkpoint.changed, at.target.checkpoint.created
    if not changed or not created or changed >= created:
        return ""
    return f"; the drafter was last changed on {changed}, the target's repository made on {created}"


def _equal(at: Pair[Drafter], *, head: bool = False) -> bool:
    """True if rows of the drafter's embedding are the target's; ``head``: its head is worth reading without one."""
    kin = at.lineage.kinship if head or at.lineage.embedding else None
    return kin is not None and kin.kind == "equal"


def _aside(at: Pair[Drafter]) -> str:
    """What the rows say where names say nothing."""
    return "; rows of its embedding are the target's" if _equal(at) else ""
