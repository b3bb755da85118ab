"""Which words of the command this release takes: its flags, and the keys of ``--speculative-config``."""

from __future__ import annotations

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm import timeline
from drafter_lint.engines.vllm.case import Case
from drafter_lint.findings import Located, Location
from drafter_lint.launch import Option, flag_releases, spelled

_CONFIG_FLAG = "--speculative-config"
_SHORTHAND = {"--spec-method": "method", "--spec-model": "model", "--spec-tokens": "num_speculative_tokens"}


def check(case: Case) -> None:
    """Note every word this release refuses or does not read."""
    for word in case.request.unknown:
        case.refuse(
            RefusalKind.FLAG_UNKNOWN,
            "arguments",
            f"no release of vLLM has a flag {word.value}",
            at=word.at,
            keys=("flags.keys",),
        )
    for place, expected in case.request.problems:
        case.refuse(
            RefusalKind.FLAG_VALUE, "arguments", f"a value that cannot be read: {expected} is expected", at=place
        )
    for option in case.request.options.values():
        if option.name.startswith("-"):
            _flag(case, option)
    _keys(case)
    _shorthand(case)


def _flag(case: Case, option: Option) -> None:
    release = case.world.basis
    if release not in flag_releases("vllm") or case.request.assumed:
        return
    spelling = option.spelling.partition(".")[0]
    read = spelled("vllm", spelling, release=release)
    if len(read) == 1:
        return
    says = (
        f"{spelling} could be any of {', '.join(read)}"
        if read
        else f"vLLM {release} has no flag {spelling}; it belongs to other releases"
    )
    case.refuse(RefusalKind.FLAG_UNKNOWN, "arguments", says, at=option.flag_at)


def _keys(case: Case) -> None:
    for key, value in case.request.speculative_config.items():
        name = key
        if "-" in key and case.world.flag("flags.dashes-normalised"):
            name = key.replace("-", "_")
        if name == "tensor_parallel_size" and case.world.flag("flags.tensor-parallel-trap"):
            case.refuse(
                RefusalKind.FLAG_VALUE,
                "arguments",
                "tensor_parallel_size is no key of the speculative configuration; draft_tensor_parallel_size is",
                at=value.at,
                keys=("flags.tensor-parallel-trap",),
            )
        elif timeline.at(case.world, "flags.keys", name) is None:
            _unknown_key(case, key, value)


def _unknown_key(case: Case, key: str, value: Located[object]) -> None:
    elsewhere = timeline.ever(case.world, "flags.keys", key)
    known = f"; it is one in {elsewhere}" if elsewhere else ""
    keys = ("flags.unknown-keys", "flags.keys")
    if case.world.text("flags.unknown-keys") == "ignored":
        case.ignore_flag(key, value.at, f"{key} is no key of this release{known}, and unknown keys are dropped", *keys)
        return
    says = f"{key} is no key of the speculative configuration{known}"
    case.refuse(RefusalKind.FLAG_UNKNOWN, "arguments", says, at=value.at, keys=keys)


def _shorthand(case: Case) -> None:
    """``--spec-model`` beside a ``model`` inside ``--speculative-config`` is refused as two words for one thing."""
    if not case.world.flag("flags.shorthand"):
        return
    for flag, key in _SHORTHAND.items():
        option = case.request.options.get(flag)
        inside = case.request.options.get(key)
        if option is not None and inside is not None and _is_inside(inside):
            case.refuse(
                RefusalKind.FLAG_VALUE,
                "arguments",
                f"{flag} and the key {key} of {_CONFIG_FLAG} are both given",
                at=option.at,
                keys=("flags.shorthand",),
            )


def _is_inside(option: Option) -> bool:
    return not option.spelling.startswith(("--spec-m", "--spec-t"))


def place(case: Case, key: str) -> Location:
    """Where a speculative key stands, or the command if it is not given."""
    value = case.request.speculative_config.get(key)
    return value.at if value is not None else case.request.at()
