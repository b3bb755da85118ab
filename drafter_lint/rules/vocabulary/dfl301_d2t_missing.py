"""A reduced vocabulary without the map back to the target's ids.

## What it checks
That a drafter whose head has fewer rows than the vocabulary ships `d2t`.

## Why it bites
Without the map engines take draft id i for target id i. The drafter was trained on other ids, so nearly every draft
token is wrong: the server runs, and the accept length stays near 1.

## Fix
Export `d2t` with the weights. Some trainers leave it in a file of its own (`eagle_meta.pt`), which no engine opens.

## Limits
A drafter that was trained on the first ids of the vocabulary needs no map; none has been published. A head with a row
for every id of the drafter's own vocabulary needs none either, however the target pads it.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.vocabulary.drafted import READERS
from drafter_lint.rules.vocabulary.tell import faulty, told
from drafter_lint.scope import Known

_SIDE_FILE = "eagle_meta.pt"


@rule("DFL301", "d2t-missing", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Fewer rows than ids, and no d2t."""
    drafter, drafted = at.drafter, faulty(at, "d2t-missing")
    if drafted is None:
        return
    declared, marked = drafter.draft_vocab_size, drafted.map.drafted
    head = "lm_head.weight" in drafter.canonical
    place = drafter.tensor_at("lm_head.weight", f"{drafted.rows} rows") if head or not declared else declared.at
    beside = _SIDE_FILE in drafter.checkpoint.unopened
    fix = "export d2t with the weights"
    if marked is not None and len(marked) == drafted.rows:
        fix += "; t2d marks as many ids, and in ascending order they are i + d2t[i]"
    found = Found(
        message=f"{drafted.rows} of {drafted.vocabulary} ids can be drafted, and there is no d2t to say which: "
        f"draft token {drafted.rows - 1} would mean target token {drafted.rows - 1}"
        + (f"; {_SIDE_FILE} lies beside the weights, where no engine looks" if beside else ""),
        locations=(place, drafter.tensor_at("d2t", "missing")),
        measured={"drafted": drafted.rows, "vocabulary": drafted.vocabulary},
        evidence=READERS,
        fix=Fix(fix),
    )
    yield told(at, "d2t-missing", found)
