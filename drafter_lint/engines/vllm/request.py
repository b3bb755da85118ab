"""The launch request vLLM needs for a drafter: what a user would have to type."""

from __future__ import annotations

import json
from dataclasses import replace

from drafter_lint.engines.vllm import timeline
from drafter_lint.facts import World
from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest

#: Drafted tokens when nobody says how many.
TOKENS = 3
#: A method of the field to vLLM's name for it; what is not here keeps its name.
_METHODS = {"peagle": "eagle3", "nextn": "mtp", "dflash2": "dflash", "pard": "draft_model"}


def needed(world: World, method: str, drafter: str, target: str, *, context_length: int | None = None) -> LaunchRequest:
    """The flags for a drafter of a method, ``assumed`` set."""
    name = _METHODS.get(method, method)
    keys: dict[str, str | int | bool] = {"method": name, "model": drafter, "num_speculative_tokens": TOKENS}
    if method in {"peagle", "pard"} and timeline.at(world, "flags.keys", "parallel_drafting") is not None:
        keys["parallel_drafting"] = True
    argv: tuple[str, ...] = ("vllm", "serve", target, "--speculative-config", json.dumps(keys))
    if context_length:
        argv += ("--max-model-len", str(context_length))
    at = Location(role="launch", subject="command line", argument=4)
    return LaunchRequest(
        engine="vllm",
        argv=argv,
        method=Located(name, at),
        drafter=Located(drafter, at),
        target=Located(target, Location(role="launch", subject="command line", argument=2)),
        num_speculative_tokens=Located(TOKENS, at),
        context_length=Located(context_length, replace(at, argument=6)) if context_length else None,
        speculative_config={key: Located(value, at) for key, value in keys.items()},
        assumed=True,
    )
