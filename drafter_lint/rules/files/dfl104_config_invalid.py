"""A config field of the wrong kind: a width that is no positive integer.

## What it checks
The fields the draft model is built from: widths, head counts, layer counts and vocabularies must be positive integers;
`rms_norm_eps` and `rope_theta` numbers; `architectures` a list of names.

## Why it bites
Engines build parameters from these values as they stand. A number written as a string, a float or a negative number
makes the construction fail.

## Fix
Write the number as a JSON integer.

## Limits
null and an absent key are left to the rules that know what an engine does with them. Fields nobody reads are not looked
at.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint import Config
from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.drafters.fields import NESTS
from drafter_lint.findings import Confidence, Fix, Found, Location, Outcome, SetConfig
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_COUNTS = (
    "hidden_size", "target_hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "vocab_size", "draft_vocab_size", "max_position_embeddings",
    "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "block_size",
)  # fmt: skip
_IDS = "eagle_aux_hidden_state_layer_ids"
_LISTS = (
    (_IDS,), ("eagle_config", _IDS), ("aux_hidden_state_layer_ids",), ("target_layer_ids",),
    *((nest, "target_layer_ids") for nest in NESTS),
)  # fmt: skip
#: What is longer stands for no number of any model, and int() refuses thousands of digits.
_DIGITS = 18
_NUMBERS = ("rms_norm_eps", "rope_theta")


@rule("DFL104", "config-invalid", Outcome.REFUSES)
def check(at: Alone[Eagle | BlockDrafter]) -> Checks:
    """Fields the construction rests on, by kind."""
    yield from invalid(at.drafter)


def invalid(drafter: Eagle | BlockDrafter) -> Iterator[Found]:
    """A finding for each field of a drafter's config that is of the wrong kind; its first location is the field's."""
    layer = drafter.layer_config
    whole = drafter.checkpoint.config
    for config in (layer,) if layer.base == whole.base else (layer, whole):
        yield from _counts(config)
        for key in _NUMBERS:
            value = config.raw(key)
            if value and value.value is not None and not config.number(key):
                yield _wrong(value.at, key, value.value, "a number")
    names = whole.raw("architectures")
    if names and names.value is not None and not whole.strings("architectures"):
        yield _wrong(names.at, "architectures", names.value, "a list of names")
    for name in ("eagle_config", *NESTS):
        nested = whole.raw(name)
        if nested and nested.value is not None and not whole.object(name):
            yield _wrong(nested.at, name, nested.value, "an object")
    for keys in _LISTS:
        ids = whole.raw(*keys)
        if ids and ids.value is not None and not whole.integers(*keys):
            yield _wrong(ids.at, ".".join(keys), ids.value, "a list of integers")


def _counts(config: Config) -> Iterator[Found]:
    for key in _COUNTS:
        value = config.raw(key)
        if value is None or value.value is None:
            continue
        count = config.integer(key)
        if count is not None and count.value > 0:
            continue
        meant = _meant(value.value)
        edits = (SetConfig(config.pointer(key), meant),) if meant else ()
        yield _wrong(
            value.at, key, value.value, "a positive integer", Fix(f'"{key}": {meant}', edits) if meant else None
        )


def _meant(value: object) -> int | None:
    """The integer a string or a whole float obviously stands for."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value) or None if len(value.strip()) <= _DIGITS else None
    return int(value) if isinstance(value, float) and value.is_integer() and value > 0 else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _wrong(at: Location, key: str, value: object, expected: str, fix: Fix | None = None) -> Found:
    return Found(
        message=f"{key} is {_short(value)}; {expected} is expected",
        locations=(at.saying(f"expected {expected}"),),
        measured={"field": key},
        fix=fix or Fix(f"write {key} as {expected}"),
        confidence=Confidence.LIKELY,
    )
