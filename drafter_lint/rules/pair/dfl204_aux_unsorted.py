"""Layer ids that are not in ascending order.

## What it checks
The order of every list of auxiliary layer ids.

## Why it bites
Some versions join the states in the order of the list, others in the order of the layers, whatever the list says. A
drafter trained on another order than ascending is right in one of them and useless in the other.

## Fix
Train, and write the ids, in ascending order.

## Limits
Whether the order matters in the engine at hand is told by the rules on captured states.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.findings import Evidence, Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Deployment, Paired

_EVIDENCE = (
    Evidence(
        engine="vllm",
        version="0.27.1 to 0.33.0",
        file="model_executor/models/llama.py",
        symbol="LlamaModel.forward",
        how="run",
        note="collects the states as the layers run, in ascending order",
    ),
)


@rule("DFL204", "aux-unsorted", Outcome.HYGIENE)
def check(at: Paired[Eagle | BlockDrafter]) -> Checks:
    """Ids in an order other than ascending."""
    for written in at.drafter.layer_ids:
        ids = written.ids.value
        if isinstance(at, Deployment) and at.plan.capture and at.plan.capture.read == written.ids:
            continue  # told by aux-reordered, or with what is captured
        if list(ids) != sorted(ids):
            yield Found(
                message=f"layer ids {list(ids)} are not in ascending order, in which engines capture",
                locations=(written.ids.at.saying("not ascending"),),
                measured={"ids": list(ids)},
                evidence=_EVIDENCE,
                fix=Fix("write the ids in ascending order, if the drafter was trained so"),
            )
