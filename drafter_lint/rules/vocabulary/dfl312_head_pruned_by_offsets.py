"""A reduced head cut from the full one by offsets instead of ids.

## What it checks
A few rows of `lm_head`. Where `d2t[i]` equals `d2t[i + 1]`, rows i and i + 1 score two neighbouring tokens and must
differ.

## Why it bites
A tool that reduces a full head needs the row of target id i + d2t[i] for draft id i. One that takes row `d2t[i]` fills
every run of equal offsets with copies of one row, and every row is another token's. Shapes and map are right, so the
drafter loads everywhere, and every draft is wrong.

## Fix
Cut the head again, by i + d2t[i].

## Limits
Two rows in each of three places are read, and only if all of them are equal it is reported: rows of tokens that were
never trained can be equal. Rows of zeros are another rule's. Where the map itself is broken, that is reported and not
this.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Confidence, Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.shared import listed
from drafter_lint.rules.vocabulary.drafted import Fault, drafted_vocabulary
from drafter_lint.rules.vocabulary.tell import target_of, told
from drafter_lint.scope import Known

_EVIDENCE = (
    Evidence(
        engine="",
        version="lightseekorg/TorchSpec@6f21829",
        file="tools/convert_to_hf.py",
        symbol="_save_pruned",
        how="read",
        note="takes rows of the full head by the values of d2t, which are offsets",
    ),
)
#: Faults of a map whose offsets are still the ones the head was cut for.
_SOUND: frozenset[Fault | None] = frozenset({None, "d2t-unsorted", "t2d-length", "t2d-disagrees"})


@rule("DFL312", "head-pruned-by-offsets", Outcome.SILENT)
def check(at: Known[Eagle]) -> Checks:
    """Rows that must differ and do not."""
    drafted = drafted_vocabulary(at.drafter, target_of(at))
    if drafted is None or drafted.rows >= drafted.vocabulary or drafted.fault not in _SOUND:
        return
    try:
        same = at.drafter.checkpoint.equal_rows
    except Unavailable as trouble:  # a suspicion that could not be followed leaves the verdict what it is
        yield NotChecked(str(trouble))
        return
    if same is None or same.zeros:
        return
    first, offset = same.rows[0], same.offset
    found = Found(
        message=f"rows {first} and {first + 1} of lm_head.weight are the same and score target tokens {first + offset} "
        f"and {first + offset + 1}, both of offset {offset}; so it is from each row looked at: "
        + listed([str(row) for row in same.rows]),
        locations=(
            at.drafter.tensor_at("lm_head.weight", f"rows {first} and {first + 1} are the same"),
            at.drafter.tensor_at("d2t", f"[{first}] and [{first + 1}] are {offset}"),
        ),
        measured={"rows": list(same.rows), "offset": offset},
        evidence=_EVIDENCE,
        fix=Fix("cut the head again, by i + d2t[i]"),
        confidence=Confidence.LIKELY,
    )
    yield told(at, "head-pruned-by-offsets", found)
