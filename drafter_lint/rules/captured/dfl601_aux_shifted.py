"""Every captured state is off by the same number of layers.

## What it checks
The boundaries the target will hand over against those the drafter was trained on.

## Why it bites
The same key is written in two dialects: the id of a layer whose output is meant, or whose input. An engine that reads
one as the other captures every state one layer early or late. Shapes agree, loading is clean; the accept length drops,
to 1.0 in the worst case.

## Fix
Write the ids in the dialect this engine reads, in the place it reads.

## Limits
What the drafter was trained on is inferred from the place of the list and its agreement with the trainers' default;
`--trained-on` settles it.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.rules.captured.states import compare, shown, with_fix
from drafter_lint.scope import Deployment


@rule("DFL601", "aux-shifted", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """Same count, same distances, another start."""
    parted = compare(at)
    if parted is None:
        return
    if parted.kind == "undecided":
        both = shown(parted.need)
        yield NotChecked(f"the layer ids can mean {both}; {list(parted.capture.boundaries)} will be captured")
    if parted.kind == "shifted":
        late = "late" if parted.offset > 0 else "early"
        layers = "layer" if abs(parted.offset) == 1 else "layers"
        message = (
            f"the target hands over boundaries {list(parted.capture.boundaries)}, {abs(parted.offset)} {layers} "
            f"{late}: this drafter was trained on {shown(parted.need)} ({parted.need.reason})"
        )
        yield with_fix(at, parted, parted.found(at, message))
