"""A token map of FR-Spec in the place of d2t.

## What it checks
Whether `d2t` lists ids of the vocabulary in another order than ascending.

## Why it bites
FR-Spec keeps the most frequent tokens of an EAGLE drafter in a list of ids, by frequency, which SGLang takes with
`--speculative-token-map`. It looks like a map, but engines add the draft id to every entry of `d2t`: each draft token
becomes another one, some of them outside the vocabulary.

## Fix
For an EAGLE-1 or EAGLE-2 drafter pass the list with the engine's flag. An EAGLE-3 drafter needs the map it was trained
with; if its head was cut by the list in this order, store `d2t[i] - i`.

## Limits
Offsets that lead to different ids of the vocabulary in another order than ascending are legal, and reported as
d2t-unsorted. A folder that holds nothing but such a list is no checkpoint, and reported as that.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known

_EVIDENCE = (
    Evidence(
        engine="sglang",
        version="0.5.23",
        file="srt/speculative/spec_utils.py",
        symbol="load_token_map",
        how="read",
        note="the list of a token map is used as it is: ids, nothing is added",
    ),
    *READERS,
)


@rule("DFL313", "d2t-token-map", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Different ids, not ascending, that make no sense as offsets."""
    drafted = faulty(at, "d2t-token-map")
    if drafted is None or drafted.map.d2t is None:
        return
    ids, targets = drafted.map.d2t, drafted.targets
    first, target = drafted.outside[0] if drafted.outside else (len(ids) - 1, targets[-1])
    found = Found(
        message=f"d2t is a list of ids that is not ascending, as token maps are: draft token {first}, written as id "
        f"{ids[first]}, would mean target token {target}; the vocabulary ends at {drafted.vocabulary - 1}",
        locations=(at.drafter.tensor_at("d2t", "ids by frequency, not offsets"),),
        measured={
            "draft_id": first,
            "written": ids[first],
            "target_id": target,
            "outside": len(drafted.outside),
            "vocabulary": drafted.vocabulary,
        },
        evidence=_EVIDENCE,
        fix=Fix("store the d2t the drafter was trained with"),
        confidence=Confidence.CERTAIN if drafted.proven else Confidence.LIKELY,
    )
    yield told(at, "d2t-token-map", found)
