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
        head, equals, inline = flag.partition("=")
        name = names.get(start) or head
        value = inline if equals else " ".join(values) if values else None
        parts.append(Part(kind="flag", name=name, value=value, words=(flag, *values), why=_GIVEN, origin="given"))
    return (*variables, *parts, *_keys(words, engine=engine))


def _keys(words: Sequence[str], *, engine: str) -> tuple[Part, ...]:
    """The speculative keys, wherever they were typed.

    Raises:
        UsageError: they cannot be read, or one holds a variable: what it stands for cannot be checked.
    """
    request = parse_command(words, engine=engine)
    if engine != "vllm":
        return ()
    parts = []
    for key, located in request.speculative_config.items():
        if isinstance(located.value, Unresolved):
            raise UsageError(f"{speculative.FLAG}: {key} holds a variable; write the value itself")
        value = cast("JsonValue", located.value)
        counted = request.num_speculative_tokens
        if key == "num_speculative_tokens" and counted is not None:
            value = counted.value  # --spec-tokens is text until it stands in JSON
        parts.append(Part(kind="key", name=key.replace("-", "_"), value=value, why=_GIVEN, origin="given"))
    given = request.options.get(speculative.FLAG)
    broken = [expected for at, expected in request.problems if given and at.argument == given.at.argument]
    if not parts and broken:
        raise UsageError(f"{speculative.FLAG}: expected {broken[0]}")
    return tuple(parts)
