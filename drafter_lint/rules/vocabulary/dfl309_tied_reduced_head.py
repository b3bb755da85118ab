"""A reduced head that is thrown away because the config ties it to the embedding.

## What it checks
`tie_word_embeddings` of a drafter that ships a head of its own, where the engine follows it.

## Why it bites
The embedding has a row for every id, the head for the drafted ones only. An engine that ties them drops the trained
head and drafts with the embedding, through a map that belongs to the head. The flag is often left over from the
config of a small target.

## Fix
Write `"tie_word_embeddings": false`.

## Limits
Engines that ignore the flag for drafters lose nothing, and nothing is reported for them.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.tied import tied_away
from drafter_lint.scope import Deployment


@rule("DFL309", "tied-reduced-head", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """The plan's head is not the drafter's own, and the tie is why."""
    tie = tied_away(at)
    head = at.plan.head
    if tie is None or head is None:
        return
    rows = at.drafter.canonical["lm_head.weight"].shape[0]
    pointer = tie.at.pointer or "/tie_word_embeddings"
    yield Found(
        message=f"tie_word_embeddings makes {at.plan.engine} drop the drafter's own head of {rows} rows; {head.says}",
        locations=(
            tie.at.saying("ties the head to the embedding"),
            at.drafter.tensor_at("lm_head.weight", "dropped"),
        ),
        measured={"rows": rows, "head": head.provider},
        evidence=head.evidence,
        fix=Fix('"tie_word_embeddings": false', (SetConfig(pointer, value=False),)),
    )
