"""The flags SGLang needs for a drafter of a method, when nobody typed any."""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.facts import World
from drafter_lint.launch import LaunchRequest, parse_command

#: Where the algorithm is not the method's own name; NEXTN is read as EAGLE on the layers inside the target.
_ALGORITHMS = {"draft_model": "STANDALONE", "pard": "STANDALONE", "mtp": "NEXTN"}
#: Methods whose drafter may ride inside the target: opened as such where no drafter is named.
_INSIDE = ("mtp", "dspark")


def needed(world: World, method: str, drafter: str, target: str, *, context_length: int | None = None) -> LaunchRequest:
    """``--speculative-algorithm``, and the drafter's path unless it is the target; counts are left to the engine."""
    del world  # every release read takes the same three flags
    algorithm = _ALGORITHMS.get(method, method.upper())
    inside = method in _INSIDE and drafter == target
    words = [
        "--model-path",
        target,
        "--speculative-algorithm",
        algorithm,
        *([] if inside else ["--speculative-draft-model-path", drafter]),
        *(["--context-length", str(context_length)] if context_length else []),
    ]
    return replace(parse_command(words, engine="sglang"), assumed=True)
