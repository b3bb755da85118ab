"""A draft model of another vocabulary than its target's.

## What it checks
`vocab_size` of draft model and target: by themselves, and where the engine takes draft ids for target ids without
looking.

## Why it bites
SGLang up to 0.5.14 starts STANDALONE with any two models. With another tokenizer an id is another piece of text on
either side: nearly nothing is accepted, ids past the end of the other embedding read what is not there, and garbled
answers were reported (sgl-project/sglang#24051). A small difference is padding and costs nothing.

## Fix
A draft model of the target's tokenizer, or an engine that translates between the two.

## Limits
More than a sixteenth of the larger vocabulary is called another tokenizer; less may be one as well, which the
tokenizers tell. Engines that refuse are told by draft-vocabulary-unequal; where the engine translates, nothing is said.
"""

from __future__ import annotations

from drafter_lint.drafters import DraftModel
from drafter_lint.engines.plan import MapUse
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import refusals
from drafter_lint.rules.vocabulary.padding import may_be_padding, said
from drafter_lint.scope import Deployment, Paired


@rule("DFL331", "draft-vocabulary-foreign", Outcome.SILENT)
def check(at: Paired[DraftModel]) -> Checks:
    """The two sizes, and what the plan makes of the ids."""
    ours, theirs = at.drafter.vocab_size, at.target.vocab_size
    if ours is None or theirs is None or ours.value == theirs.value:
        return
    ids: MapUse | None = None
    if isinstance(at, Deployment):
        ids = at.plan.map
        if refusals(at, "draft-vocabulary-unequal") or (ids and ids.use != "identity"):
            return
    padding = may_be_padding(ours.value, theirs.value)
    does = f"; {ids.says}" if ids else ""
    yield Found(
        message=f"vocab_size is {ours.value} in the draft model and {theirs.value} in the target; "
        f"{said(ours.value, theirs.value)}{does}",
        locations=(ours.at.saying(f"{ours.value} ids"), theirs.at.saying(f"{theirs.value} ids")),
        measured={"drafter": ours.value, "target": theirs.value},
        evidence=ids.evidence if ids else (),
        fix=Fix(
            "compare the tokenizers if they are not known to be the same"
            if padding
            else "a draft model of the target's tokenizer"
        ),
        outcome=Outcome.HYGIENE if padding else None,
        confidence=Confidence.CERTAIN if padding else Confidence.LIKELY,
    )
