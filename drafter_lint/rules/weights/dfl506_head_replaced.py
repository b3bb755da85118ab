"""The drafter does not run with its own output head.

## What it checks
Where the head comes from that turns the drafter's state into token scores: its own, the target's, or rows of an
embedding.

## Why it bites
An EAGLE-3 head is trained with the drafter. A tied head, or the target's, scores the same states differently; where the
drafted vocabulary is reduced, row i of the target's head is token i, not the i-th drafted token, and every draft is
wrong. A full-vocabulary drafter without a head was trained with the target's, which is another matrix than its
embedding unless the target is tied. Nothing is logged.

## Fix
Correct the field that makes the engine replace the head, or ship the head in the file.

## Limits
EAGLE-1/2 drafters use the target's head by design. A reduced head that a tie costs is told by
tied-reduced-head, one that nothing fills by parameter-unfilled.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import files_absent
from drafter_lint.rules.shared import class_cause, first_of, reduced, refusals, states_withheld
from drafter_lint.rules.vocabulary.drafted import drafted_rows
from drafter_lint.rules.vocabulary.tied import tied_away
from drafter_lint.scope import Deployment


@rule("DFL506", "head-replaced", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """Its own head is there and not used, or another's rows are not the drafted tokens."""
    drafter, plan = at.drafter, at.plan
    if drafter.generation == 1 or plan.head is None or states_withheld(at) or class_cause(at) or tied_away(at):
        return
    if files_absent(drafter) or refusals(at, "draft-vocab-undeclared"):
        return
    own = drafter.canonical.get("lm_head.weight")
    if plan.head.provider not in {"target", "target-embedding"}:
        return
    tied_target = at.target.tie_word_embeddings
    untied = plan.head.provider == "target-embedding" and not (tied_target and tied_target.value)
    if own is None and not reduced(at) and not untied:
        return
    whose = "the target's" if plan.head.provider == "target" else "rows of the embedding"
    rows, vocabulary = drafted_rows(drafter), at.target.vocab_size.value if at.target.vocab_size else None
    subject = f"own head {own.shown} is replaced by {whose}" if own else f"the head is {whose}"
    numbers = f": {rows} drafted ids, {vocabulary} rows" if reduced(at) else ""
    tied = drafter.layer_config.boolean("tie_word_embeddings") or drafter.checkpoint.config.boolean(
        "tie_word_embeddings"
    )
    fix = None
    if tied and tied.value and own:
        fix = Fix("tie_word_embeddings: false", (SetConfig(tied.at.pointer or "/tie_word_embeddings", value=False),))
    yield Found(
        message=f"{subject}{numbers}; {plan.head.says}".rstrip("; "),
        locations=first_of(
            (
                drafter.tensor_at("lm_head.weight", "not used" if own else "not in the file"),
                *((tied.at,) if fix and tied else ()),
            )
        ),
        measured={"drafted": rows, "vocabulary": vocabulary},
        evidence=plan.head.evidence or plan.evidence_of("head"),
        fix=fix,
        confidence=Confidence.CERTAIN if own or reduced(at) else Confidence.LIKELY,
    )
