"""Edits of the launch command: what to type instead, in the words of the engine at hand."""

from __future__ import annotations

import json

from drafter_lint.drafters import BlockDrafter, Drafter, DraftModel, Eagle, Medusa, MlpSpeculator
from drafter_lint.engines import engine
from drafter_lint.facts import World, profile, version_of, worlds
from drafter_lint.findings import AddArguments, Edit, Fix, JsonValue, Located, ReplaceArgument
from drafter_lint.launch import LaunchRequest
from drafter_lint.scope import Deployment


def needed(at: Deployment[Drafter]) -> LaunchRequest:
    """The flags this engine needs for this drafter."""
    drafter, target = (spelled(given) for given in (at.request.drafter, at.request.target))
    return engine(at.plan.engine).needed(world_of(at), at.drafter.method, drafter or "DRAFTER", target or "TARGET")


def spelled(given: Located[str] | None) -> str:
    """A value as typed, "" if it was not."""
    return given.value if given else ""


def world_of(at: Deployment[Drafter]) -> World:
    """The world a plan was made in."""
    candidates = worlds(profile(at.plan.engine), version_of(at.plan.version))
    return next((world for world in candidates if world.basis == at.plan.basis), candidates[-1])


def right_method(at: Deployment[Drafter]) -> Fix | None:
    """Ask for the method the drafter was made for; None if it or the engine's word for it is not known."""
    if not isinstance(at.drafter, (BlockDrafter, DraftModel, Eagle, Medusa, MlpSpeculator)):
        return None
    wanted = needed(at)
    if wanted.method is None:
        return None
    word = wanted.method.value
    given = at.request.method
    if given is not None and given.value == word:
        return None  # the method is right, and this engine does not run it
    if given is not None:
        return Fix(f"method {word}", replaced(at.request, "method", given, word))
    place = wanted.method.at.argument
    if at.request.speculative_config:
        return Fix(f'"method": "{word}"', added_key(at.request, "method", word))
    flag = wanted.argv[place - 1] if place else ""
    return Fix(f"{flag} {word}".strip(), (AddArguments((flag, word)),) if flag.startswith("--") else ())


def replaced(request: LaunchRequest, key: str, given: Located[str], value: str) -> tuple[Edit, ...]:
    """Another value in place of one that was typed: a word of its own, behind ``=``, or a member of a JSON object."""
    index = given.at.argument
    if index is None or not 0 <= index < len(request.argv):
        return ()
    word = request.argv[index]
    flag, equals, rest = word.partition("=")
    if word == given.value:
        return (ReplaceArgument(index, value),)
    if equals and rest == given.value:
        return (ReplaceArgument(index, f"{flag}={value}"),)
    return _with_member(word, index, key, value)


def added_key(request: LaunchRequest, key: str, value: JsonValue) -> tuple[Edit, ...]:
    """One more member of the JSON object that holds the speculative keys."""
    for member in request.speculative_config.values():
        index = member.at.argument
        if index is not None and (edits := _with_member(request.argv[index], index, key, value)):
            return edits
    return ()


def _with_member(word: str, index: int, key: str, value: JsonValue) -> tuple[Edit, ...]:
    start = word.find("{")
    if start < 0:
        return ()
    try:
        members = json.loads(word[start:])
    except json.JSONDecodeError:
        return ()
    if not isinstance(members, dict):
        return ()
    return (ReplaceArgument(index, word[:start] + json.dumps({**members, key: value})),)


def missing_counts(at: Deployment[Drafter]) -> Fix:
    """The counts this engine needs and the command leaves out."""
    text = "give every count that belongs together, or none where the engine chooses itself"
    if not isinstance(at.drafter, Eagle):
        return Fix(text)
    wanted, request = needed(at), at.request
    edits: list[Edit] = []
    for name in ("num_steps", "topk", "num_draft_tokens", "num_speculative_tokens"):
        value = getattr(wanted, name)
        if value is None or getattr(request, name) is not None or value.at.argument is None:
            continue
        flag = wanted.argv[value.at.argument - 1] if value.at.argument else ""
        if request.speculative_config:
            edits += added_key(request, name, value.value)
        elif flag.startswith("--"):
            edits.append(AddArguments((flag, str(value.value))))
    return Fix(text, tuple(edits))
