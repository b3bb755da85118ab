"""The engine wants one vocab_size of a draft model and its target.

## What it checks
`vocab_size` of a draft model run on its own tokens against the target's, where the engine compares them.

## Why it bites
vLLM compares the two numbers and nothing else, and SGLang does from 0.5.15.post1 on. Exports of one tokenizer are
padded to different multiples: Qwen2.5 says 151936 up to 3B and 152064 from 7B on, so that the small model is refused
beside the large one although every id means the same in both.

## Fix
Where the engine can translate between vocabularies, switch that on. Otherwise a draft model whose configuration has
the target's number, or a release that does not compare.

## Limits
Says whether the difference can be padding; whether the ids mean the same is for the tokenizers to tell. Writing
another `vocab_size` into the draft model's config does not help: embedding and head no longer fit it.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.engines.plan import Refusal
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.method.remedy import added_key
from drafter_lint.rules.shared import refusals, told
from drafter_lint.rules.vocabulary.padding import said
from drafter_lint.scope import Deployment


@rule("DFL330", "draft-vocabulary-unequal", Outcome.REFUSES)
def check(at: Deployment[Drafter]) -> Checks:
    """The plan says so."""
    for refusal in refusals(at, "draft-vocabulary-unequal"):
        yield _told(at, refusal)


def _told(at: Deployment[Drafter], refusal: Refusal) -> Found:
    ours, theirs = refusal.measured.get("drafter"), refusal.measured.get("target")
    sizes = isinstance(ours, int) and isinstance(theirs, int)
    why = f"; {said(ours, theirs)}" if sizes and isinstance(ours, int) and isinstance(theirs, int) else ""
    if refusal.remedy is None:
        fix = Fix("a draft model whose config has the target's vocab_size")
    else:
        key, value = refusal.remedy
        fix = Fix(f'"{key}": true translates between the vocabularies', added_key(at.request, key, value))
    return told((refusal,), message=f"{refusal.says}{why}", fix=fix)
