"""What the speculative keys must hold beside each other and beside the method, release by release."""

from __future__ import annotations

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.findings import Located

_RATES = ("synthetic_acceptance_rates", "synthetic_acceptance_length")


def check(case: Case, method: str | None) -> None:
    """Note every value this release refuses, and every key it takes and does not read."""
    for key, value in case.request.speculative_config.items():
        _value(case, key, value)
        if method is not None:
            _beside(case, key, value, method)
        if timeline.at(case.world, "flags.without-effect", key) is not None:
            says = f"{key} is taken, and nothing in this release reads it"
            case.ignore_flag(key, value.at, says, "flags.without-effect")
    _synthetic(case)
    chosen = case.request.speculative_config.get("rejection_sample_method")
    word = chosen.value if chosen is not None else None
    if chosen is not None and isinstance(word, str) and timeline.at(case.world, "flags.lossy", word) is not None:
        says = f"rejection_sample_method {word} accepts tokens the target would not have sampled: answers change"
        case.step("lossy", says, "flags.lossy", at=chosen.at)


def _value(case: Case, key: str, value: Located[object]) -> None:
    known = timeline.at(case.world, "flags.values", key)
    if known is None or value.value is None or value.value in known.split(","):
        return
    says = f"{key} is {value.value!r}; this release takes {', '.join(known.split(','))}"
    case.refuse(RefusalKind.FLAG_VALUE, "arguments", says, at=value.at, keys=("flags.values",))


def _beside(case: Case, key: str, value: Located[object], method: str) -> None:
    allowed = timeline.at(case.world, "flags.only-with", key)
    if allowed is None or value.value is None or value.value is False or method in allowed.split(","):
        return
    says = f"{key} goes with {', '.join(allowed.split(','))} only, and the method is {method}"
    case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=value.at, keys=("flags.only-with",))


def _synthetic(case: Case) -> None:
    given = case.request.speculative_config
    rates = [given[key] for key in _RATES if key in given and timeline.at(case.world, "flags.keys", key) is not None]
    chosen = given.get("rejection_sample_method")
    synthetic = chosen is not None and chosen.value == "synthetic"
    if rates and not synthetic:
        says = "synthetic acceptance is described, and rejection_sample_method is not synthetic"
        case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=rates[0].at, keys=("flags.values",))
    elif synthetic and chosen is not None and len(rates) != 1:
        says = f"rejection_sample_method synthetic takes one of {' and '.join(_RATES)}; {len(rates)} are given"
        case.refuse(RefusalKind.FLAG_VALUE, "config", says, at=chosen.at, keys=("flags.values",))
