"""A field of the target's config.json that holds another kind of value than engines read there.

## What it checks
That hidden_size, num_hidden_layers and vocab_size of the target are positive integers and architectures is a list of
names, where they are written.

## Why it bites
Engines build the target from them and stop. Without them nothing about the pair can be worked out: the width of a
state, the layers captured, the vocabulary.

## Fix
Write the value as the kind named in the message.

## Limits
A field that is absent is not reported here; a few other spellings of the same fields are not looked at.
"""

from __future__ import annotations

from drafter_lint.drafters import Drafter
from drafter_lint.findings import Confidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, NotChecked, rule
from drafter_lint.scope import Pair


@rule("DFL209", "target-config-invalid", Outcome.REFUSES)
def check(at: Pair[Drafter]) -> Checks:
    """Counts that are no counts, names that are no names."""
    if at.target.standin:
        yield NotChecked(f"the target's config.json was not read; {at.target.standin} stands in")
        return
    text, whole = at.target.text, at.target.checkpoint.config
    for key in ("hidden_size", "num_hidden_layers", "vocab_size"):
        value, count = text.raw(key), text.integer(key)
        if value and (count is None or count.value < 1):
            yield _wrong(value.at, key, value.value, "a positive integer")
    names = whole.raw("architectures")
    listed = whole.strings("architectures")
    if names and not (listed and listed.value):
        yield _wrong(names.at, "architectures", names.value, "a list of names")


def _wrong(at: Location, key: str, value: object, expected: str) -> Found:
    text = repr(value)
    shown = text if len(text) <= 40 else f"{text[:37]}..."
    return Found(
        message=f"{key} of the target is {shown}; {expected} is expected",
        locations=(at.saying(f"expected {expected}"),),
        measured={"field": key},
        fix=Fix(f"write {key} as {expected}"),
        confidence=Confidence.LIKELY,
    )
