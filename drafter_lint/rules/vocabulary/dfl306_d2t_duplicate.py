"""A vocabulary map that leads to one target token from several draft tokens.

## What it checks
That i + d2t[i] is a different id for every draft id i.

## Why it bites
The probability of that token is spread over several draft ids, or all but one of them are lost; and as many other
tokens can never be proposed. A map made with care has no duplicates, so the rest of it deserves doubt as well.

## Fix
Build the map anew from the ids the drafter was trained on.

## Limits
Maps that are all zeros, hold ids instead of offsets, or leave the vocabulary are reported as that.
"""

from __future__ import annotations

from collections import Counter

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known


@rule("DFL306", "d2t-duplicate", Outcome.SLOW)
def check(at: Known[Eagle]) -> Checks:
    """Target ids that come up more than once."""
    drafted = faulty(at, "d2t-duplicate")
    if drafted is None:
        return
    targets, counts = drafted.targets, Counter(drafted.targets)
    (most, times), *_ = counts.most_common(1)
    lost = len(targets) - len(counts)
    found = Found(
        message=f"d2t leads {len(targets)} draft tokens to {len(counts)} target tokens; "
        f"target token {most} comes up {times} times",
        locations=(at.drafter.tensor_at("d2t", f"{lost} duplicates"),),
        measured={"entries": len(targets), "distinct": len(counts), "most": most, "times": times},
        evidence=READERS,
        fix=Fix("build the map anew from the ids the drafter was trained on"),
    )
    yield told(at, "d2t-duplicate", found)
