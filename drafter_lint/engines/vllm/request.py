"""The launch request vLLM needs for a drafter: what a user would have to type."""

from __future__ import annotations

import json
from dataclasses import replace

from drafter_lint.engines.vllm import timeline
from drafter_lint.facts import World
from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest

_V1 = "VLLM_USE_V1"
#: Drafted tokens when nobody says how many.
TOKENS = 3
#: Methods that draft another number unless told: a prediction layer drafts one, a DSpark block seven.
_TOKENS = {"mtp": 1, "dspark": 7}
#: A method of the field to vLLM's name for it; what is not here keeps its name.
_METHODS = {"peagle": "eagle3", "nextn": "mtp", "dflash2": "dflash", "pard": "draft_model"}


def needed(world: World, method: str, drafter: str, target: str, *, context_length: int | None = None) -> LaunchRequest:
    """The flags for a drafter of a method, ``assumed`` set."""
    name = _METHODS.get(method, method)
    keys: dict[str, str | int | bool] = {"method": name, "model": drafter}
    tokens = _tokens(world, name)
    if name == "mtp" and timeline.at(world, "methods.known", "mtp") is None:
        del keys["method"]  # the older releases have a name for each model, and find it out themselves
    elif drafter == target and tokens and name in world.names("method.self-drafting"):
        del keys["model"]  # the target stands in only where tokens are given (SpeculativeConfig.__post_init__)
    if tokens:
        keys["num_speculative_tokens"] = tokens
    if method in {"peagle", "pard"} and timeline.at(world, "flags.keys", "parallel_drafting") is not None:
        keys["parallel_drafting"] = True
    old = name in {"eagle", "eagle3"} and world.text("method.v1-eagle") != "V1"
    before = (f"{_V1}=1",) if old else ()
    argv: tuple[str, ...] = (*before, "vllm", "serve", target, "--speculative-config", json.dumps(keys))
    if context_length:
        argv += ("--max-model-len", str(context_length))
    first = Location(role="launch", subject="command line", argument=0)
    shift = len(before)
    at = replace(first, argument=4 + shift)
    return LaunchRequest(
        engine="vllm",
        argv=argv,
        method=Located(name, at) if "method" in keys else None,
        drafter=Located(drafter, at) if "model" in keys else None,
        target=Located(target, replace(first, argument=2 + shift)),
        num_speculative_tokens=Located(tokens, at) if tokens else None,
        context_length=Located(context_length, replace(at, argument=6 + shift)) if context_length else None,
        speculative_config={key: Located(value, at) for key, value in keys.items()},
        environment={_V1: Located("1", first)} if old else {},
        assumed=True,
    )


def _tokens(world: World, method: str) -> int | None:
    """None where the drafter's own config has a number to stand in: an MLPSpeculator's, and later DSpark's block."""
    if method == "mlp_speculator":
        return None
    if method == "dspark" and timeline.at(world, "methods.known", "dspark") is not None:
        return None if world.text("dspark.tokens") == "block size stands in" else _TOKENS[method]
    return _TOKENS.get(method, TOKENS)
