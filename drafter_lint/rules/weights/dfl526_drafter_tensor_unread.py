"""Tensors of a prediction module, block drafter or set of heads go nowhere.

## What it checks
Every tensor of the file that the engine's class looks at, against the parameters it builds.

## Why it bites
Some loaders skip what they do not know, with a warning in the log or without a word: a bias whose field is not
declared, heads under the names of another release, the mask token's embedding in a file of its own. What was trained
is thrown away, and the drafter runs without it.

## Fix
Rename the tensors to what this engine's class calls them, or declare the part in the field the class reads.

## Limits
Left out are copies of what is bound to the target's anyhow, further heads than tokens are drafted, and tensors that a
loader skips by everyone's agreement. Quantised files are not followed.
"""

from __future__ import annotations

from drafter_lint.drafters import BlockDrafter, Medusa, MlpSpeculator, Mtp
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, once
from drafter_lint.scope import Deployment


@rule("DFL526", "drafter-tensor-unread", Outcome.SILENT)
def check(at: Deployment[BlockDrafter | Medusa | MlpSpeculator | Mtp]) -> Checks:
    """One finding for all of them: they are lost together, mostly for one reason."""
    plan = at.plan
    fates = [fate for fate in plan.tensors if fate.fate == "dropped" and not fate.expected]
    if not fates or plan.refusals:
        return
    names = [fate.name for fate in fates]
    lost = f"{len(fates)} of {len(plan.tensors)} tensors have no place in {plan.draft_class}: {listed(names)}"
    yield Found(
        message=lost + (f" ({fates[0].says})" if fates[0].says else ""),
        locations=tuple(at.drafter.checkpoint.tensors.at(fate.name, "goes nowhere") for fate in fates[:5]),
        measured={"dropped": len(fates), "names": [*names[:20]]},
        evidence=once((*(item for fate in fates for item in fate.evidence), *plan.evidence_of("class"))),
        fix=Fix("rename them to what this engine's class calls them, or declare the part they belong to"),
    )
