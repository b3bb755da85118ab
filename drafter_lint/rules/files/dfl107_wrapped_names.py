"""Tensor names that still carry the prefix of a training wrapper.

## What it checks
Prefixes such as `module.`, `_orig_mod.`, `draft_model.` or `model.` in front of the names.

## Why it bites
A wrapper (data parallelism, a compiler, the trainer's own model class) puts its name in front of every tensor, and an
export that forgets to strip it writes a drafter that is complete under names no engine looks up. Some versions accept
some prefixes; others drop every tensor without a word, or stop.

## Fix
Strip the prefix and save the weights again.

## Limits
`model.` is how whole language models are saved, and is reported on draft heads only. Whether anything is lost depends
on the engine and its version; the rules that follow its plan say so.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter, DraftModel, Mtp
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone


@rule("DFL107", "wrapped-names", Outcome.HYGIENE)
def check(at: Alone[Drafter]) -> Checks:
    """A prefix had to be stripped to recognise the names."""
    drafter = at.drafter
    if not drafter.prefix or drafter.layout.family == "none":
        return
    if isinstance(drafter, (DraftModel, Mtp)) and drafter.prefix == "model.":
        return  # what transformers itself writes for a whole model
    wrapped = [name for name, tensor in drafter.canonical.items() if drafter.prefix in tensor.name]
    yield Found(
        message=f"{len(wrapped)} of {len(drafter.canonical)} tensor names carry {drafter.prefix!r}",
        locations=tuple(drafter.tensor_at(name, "wrapped") for name in sorted(wrapped)[:3]),
        measured={"prefix": drafter.prefix, "wrapped": len(wrapped), "tensors": len(drafter.canonical)},
        fix=Fix(f"save the weights under names without {drafter.prefix!r}"),
    )
