"""A vocabulary map that holds target ids where engines expect offsets.

## What it checks
Whether `d2t` is a list of ids. Engines compute the target id as i + d2t[i]; a list of ids, read so, names other
tokens and leaves the vocabulary at the end.

## Why it bites
Every draft token but the first few becomes another one. Depending on the engine the drafts are rejected in silence,
or the first id past the vocabulary stops the server.

## Fix
Store `d2t[i] - i`.

## Limits
Decided by `t2d` where the file has it and it marks one of the two readings better. Otherwise an ascending list without
repetitions is called absolute if it leaves the vocabulary when read as offsets, or if as offsets it would draft no two
neighbouring ids where many are to be expected, while as ids it has many. Ids that are not ascending are reported as a
token map.
"""

from __future__ import annotations

from itertools import count
from operator import sub

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Confidence, Fix, Found, Outcome, SetTensor
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS, Drafted
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known


@rule("DFL302", "d2t-absolute", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Ids in place of offsets."""
    drafted = faulty(at, "d2t-absolute")
    if drafted is None:
        return
    targets = drafted.targets
    last, target = len(targets) - 1, targets[-1]
    written = target - last
    found = Found(
        message=f"d2t holds ids, not offsets: draft token {last} would mean target token {target}"
        + (f" instead of {written}" if target < drafted.vocabulary else "")
        + f"; the vocabulary ends at {drafted.vocabulary - 1}",
        locations=(at.drafter.tensor_at("d2t", "ids, not offsets"),),
        measured={"draft_id": last, "target_id": target, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix("store d2t[i] - i", _as_offsets(drafted)),
        confidence=Confidence.CERTAIN if drafted.proven else Confidence.LIKELY,
    )
    yield told(at, "d2t-absolute", found)


def _as_offsets(drafted: Drafted) -> tuple[SetTensor, ...]:
    """The offsets of the ids, unless a mask drafts other ones: then which of the two is wrong is not known."""
    tensor, ids, mask = drafted.map.d2t_tensor, drafted.map.d2t, drafted.map.drafted
    if tensor is None or ids is None or (mask is not None and mask != ids):
        return ()
    return (SetTensor(tensor.name, tuple(map(sub, ids, count()))),)
