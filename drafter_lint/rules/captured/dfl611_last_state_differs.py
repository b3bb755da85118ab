"""A prediction layer is handed the target's last state from the other side of its final norm.

## What it checks
The side told with `--trained-on state-before-norm` or `state-after-norm` against the one the engine hands over.

## Why it bites
A prediction layer takes the target's last hidden state. One engine's class of the target returns it before the final
norm and norms it when it computes logits, another's returns it normed. Names, shapes and widths are the same, the layer
loads completely, and a layer made for the one state drafts from the other: accept length 1.0.

## Fix
Serve with an engine that hands over the state the layer was trained on.

## Limits
No file says which state a layer was trained on, so it is compared only if that is told. Which side is handed over is
known of MiMo's class; of the others the rule says that it was not checked.
"""

from __future__ import annotations

from drafter_lint.drafters import Mtp
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Deployment


@rule("DFL611", "last-state-differs", Outcome.SILENT)
def check(at: Deployment[Mtp]) -> Checks:
    """The side told against the side handed over."""
    told, capture = at.drafter.trained.state, at.plan.capture
    if told is None or capture is None:
        return
    if capture.norm is None:
        says = f"on which side of the final norm {at.plan.draft_class or 'this class'} is handed its state was not read"
        yield NotChecked(says)
        return
    if capture.norm == told.removesuffix("-norm"):
        return
    wanted = "before" if told == "before-norm" else "after"
    yield Found(
        message=(
            f"{at.plan.draft_class} is handed the target's state {capture.norm} its final norm; this layer was trained "
            f"on the one {wanted} it (told on the command line)"
        ),
        locations=(at.drafter.checkpoint.config.at("architectures"),),
        measured={"handed_over": capture.norm, "trained_on": wanted},
        evidence=capture.evidence,
        fix=Fix(f"an engine that hands over the state {wanted} the final norm"),
    )
