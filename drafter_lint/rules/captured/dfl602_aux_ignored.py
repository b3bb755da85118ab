"""The drafter's layer ids are not read, and what is captured instead is not what it needs.

## What it checks
Whether the engine reads the list of auxiliary layer ids from the place the config writes it in.

## Why it bites
SGLang reads `eagle_config.eagle_aux_hidden_state_layer_ids` only; vLLM the top level, and the nested list depending on
release and model runner. A list that is not read is replaced by the default without a word.

## Fix
Write the ids in the place this engine reads, in its dialect.

## Limits
A list that is not read and equals the default does no harm, and is not reported.
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.captured.states import compare, shown, with_fix
from drafter_lint.scope import Deployment


@rule("DFL602", "aux-ignored", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """A list is there, the default is captured, and the two differ."""
    parted = compare(at)
    if parted is None or parted.kind != "ignored":
        return
    lists = " and ".join(str(list(item.value)) for item in parted.capture.ignored)
    message = (
        f"layer ids {lists} are not read: the target hands over boundaries {list(parted.capture.boundaries)}, "
        f"this drafter was trained on {shown(parted.need)}"
    )
    yield with_fix(at, parted, parted.found(at, message))
