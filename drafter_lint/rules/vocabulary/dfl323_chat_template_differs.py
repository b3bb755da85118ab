"""Drafter and target ship different chat templates.

## What it checks
Where both ship a default chat template: that the texts are the same, white space at the ends of lines aside.

## Why it bites
Engines write prompts with the target's template, so nothing breaks. A drafter trained on prompts of another form has
never seen the ones it gets: it drafts worse around turns, tools and thinking. Often the target's repository got a new
template and the drafter kept a copy of the old one.

## Fix
Train on the target's template, and ship that or none.

## Limits
The texts are compared, not what they write. Templates with names of their own are left out. Of a draft model with a
tokenizer of its own, a difference is reported as a possibility: its template is its own by right.
"""

from __future__ import annotations

from drafter_lint.checkpoint import Tokenizer
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Fix, Found, Located, Outcome
from drafter_lint.rule import Checks, cut_short, rule
from drafter_lint.rules.shared import self_drafting
from drafter_lint.rules.vocabulary.tokens import IDS_SHARED, reads_target_ids
from drafter_lint.scope import Pair


@rule("DFL323", "chat-template-differs", Outcome.HYGIENE)
def check(at: Pair[Drafter]) -> Checks:
    """The two texts."""
    if self_drafting(at) or not at.drafter.method:
        return
    try:
        ours = _default(at.drafter.checkpoint.tokenizer)
        theirs = _default(at.target.checkpoint.tokenizer) if ours else None
    except Unavailable as trouble:
        yield cut_short(trouble)
        return
    if ours is None or theirs is None or _bare(ours.value) == _bare(theirs.value):
        return
    yield Found(
        message=f"the drafter ships a chat template of {len(ours.value)} characters that is not the target's of "
        f"{len(theirs.value)}",
        locations=(ours.at.saying("the drafter's"), theirs.at.saying("the target's")),
        measured={"drafter": len(ours.value), "target": len(theirs.value)},
        evidence=IDS_SHARED,
        fix=Fix("ship the target's chat template, or none"),
        confidence=Confidence.LIKELY if reads_target_ids(at.drafter) else Confidence.POSSIBLE,
    )


def _default(tokenizer: Tokenizer) -> Located[str] | None:
    return next((template.text for template in tokenizer.chat_templates if template.name == "default"), None)


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
