"""A drafter that ships an embedding which is not the target's.

## What it checks
A few rows of the drafter's `embed_tokens` against the same rows of the target's, where both are as wide: equal, close,
or unrelated. Equal is a row that is the other one bit by bit, or its cast to the other's dtype.

## Why it bites
Most trainers take the target's embedding over and freeze it, so its rows tell what a drafter was trained beside. Rows
that have nothing in common with the target's come from another model, whatever shapes and names say, and the drafter
was trained on hidden states this target does not produce. Close rows are those of a sibling of the target, or were
trained further.

## Fix
Use a drafter made for this target, or measure the accept length before relying on it.

## Limits
Some trainers train the embedding (P-EAGLE among them): close rows are a doubt (`possible`), and so are unrelated ones
where the two have different numbers of rows. An exporter may save an embedding that nobody ever loaded, which looks
like another model's. Equal rows prove the family, not the sibling: a fine-tune may leave the embedding as it was.

At most four requests and 200 kB are spent on it, so a few neighbouring rows are read, of pieces frequent enough for
training to move them, and the target's embedding is looked for where it usually is. `--no-fingerprint` turns it off.

Not checked where a side stores it in fewer than 16 bits, where rows differ from those of a quantised target, where the
data is all zeros, and where the weights cannot be read. A drafter's own head is often trained from nothing, so that
only its likeness says something: DFL801 asks it where names leave a doubt.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Pair


@rule("DFL802", "embedding-differs", Outcome.SLOW)
def check(at: Pair[Drafter]) -> Checks:
    """Equal rows are silent; others are told for what they are."""
    if at.lineage.embedding is None:
        return
    kin = at.lineage.kinship
    if kin is None or kin.drafter is None or kin.target is None:
        yield NotChecked(kin.reason if kin else "there is no embedding to compare")
        return
    if kin.kind == "equal":
        return
    lowest, highest = kin.cosines
    unrelated = kin.kind == "unrelated"
    rows = f"{len(kin.ids)} rows from id {kin.ids[0]}" if len(kin.ids) > 1 else f"the row of id {kin.ids[0]}"
    how = f"{rows}, cosines {lowest:.4f} to {highest:.4f}"
    said = f"unrelated to the target's ({how})"
    if not unrelated:
        said = f"close to the target's and not equal ({how}): a sibling's, or trained further"
    yield Found(
        message=f"the drafter's embedding is {said}",
        locations=(kin.drafter.saying("the drafter's own"), kin.target.saying("the target's")),
        measured={"ids": list(kin.ids), "lowest_cosine": round(lowest, 6), "highest_cosine": round(highest, 6)},
        fix=Fix("use a drafter made for this target, or measure the accept length first"),
        confidence=Confidence.LIKELY if unrelated and kin.same_shape else Confidence.POSSIBLE,
    )
