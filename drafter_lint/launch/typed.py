"""The user's own flags as parts of a command that is being put together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from drafter_lint.errors import UsageError
from drafter_lint.findings import JsonValue
from drafter_lint.launch import speculative
from drafter_lint.launch.arguments import walk
from drafter_lint.launch.command import assignments, find_program
from drafter_lint.launch.composed import Part
from drafter_lint.launch.parse import parse_command
from drafter_lint.launch.request import Unresolved
from drafter_lint.launch.words import Line, masked

_GIVEN = "given"


def typed_parts(words: Sequence[str], *, engine: str) -> tuple[Part, ...]:
    """Variables, flags and speculative keys as typed.

    A flag keeps its words, whatever it is; one that no table knows keeps those up to the next flag. Secrets are masked,
    as everywhere.

    Raises:
        UsageError: the words are a whole command, or a word stands where no flag takes it.
    """
    if find_program(words) is not None:
        raise UsageError("flags are expected after --, not a whole command")
    line = Line(masked(words))
    count = 0
    while count < len(words) and assignments(words[count : count + 1]):
        count += 1
    variables = [
        Part(kind="variable", name=name, value=line.words[index][at:], why=_GIVEN, origin="given")
        for index, name, at in assignments(words[:count])
    ]
    found = walk(line, engine=engine, start=count)
    names = {item.place.index: item.name for item in found.given}
    gathered = {
        item.place.index
        for item in found.given
        if engine == "vllm" and item.flag.name in {speculative.FLAG, *speculative.SHORTHAND}
    }
    starts = sorted({*names, *(at.at.argument for at in found.unknown if at.at.argument is not None)})
    lone = [line.words[span.index] for span in found.positional]
    if lone or (starts and starts[0] > count):
        raise UsageError(f"flags are expected after --, not {(lone or [line.words[count]])[0]!r}")
    parts = []
    for start, end in pairwise([*starts, len(line.words)]):
        if start in gathered:
            continue
        flag, *values = line.words[start:end]
        name = names.get(start) or flag.partition("=")[0]
        value = " ".join(values) if values else None
        parts.append(Part(kind="flag", name=name, value=value, words=(flag, *values), why=_GIVEN, origin="given"))
    return (*variables, *parts, *_keys(words, engine=engine))


def _keys(words: Sequence[str], *, engine: str) -> tuple[Part, ...]:
    """The speculative keys, wherever they were typed; what cannot be read as JSON is a mistake to tell."""
    request = parse_command(words, engine=engine)
    if engine != "vllm":
        return ()
    broken = [expected for at, expected in request.problems if at.argument is not None]
    if broken and not request.speculative_config and any(speculative.FLAG in word for word in words):
        raise UsageError(f"{speculative.FLAG}: expected {broken[0]}")
    return tuple(
        Part(
            kind="key",
            name=key.replace("-", "_"),
            value=located.value.text if isinstance(located.value, Unresolved) else cast("JsonValue", located.value),
            why=_GIVEN,
            origin="given",
        )
        for key, located in request.speculative_config.items()
    )
