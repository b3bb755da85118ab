"""vLLM's ``--speculative-config``: its keys with their places, from JSON, from dotted flags, and from ``--spec-*``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from drafter_lint.findings import Located, Location
from drafter_lint.launch.arguments import Given
from drafter_lint.launch.request import Option, Unresolved
from drafter_lint.launch.words import Line, Span, placeholders, plain

FLAG = "--speculative-config"
# vllm 0.33.0, engine/arg_utils.py, EngineArgs.create_speculative_config
SHORTHAND = {"--spec-method": "method", "--spec-model": "model", "--spec-tokens": "num_speculative_tokens"}

_ESCAPED = re.compile(r"\\.", re.DOTALL)
_BLANK = re.compile(r"[ \t\n\r]*")
_HUMAN = re.compile(r"(\d{1,18})(?:\.(\d{1,9}))?([kmgtKMGT])")
_DECIMAL: Mapping[str, int] = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY: Mapping[str, int] = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key as written, its value, and where the value stands."""

    key: str
    value: object
    place: Span
    spelling: str
    flag: Span


class _BrokenJson(Exception):
    """A value that is no JSON object; says what was expected and from which character on it is not met."""

    def __init__(self, expected: str, position: int) -> None:
        self.position = position
        super().__init__(expected)


def entries(line: Line, given: Sequence[Given], problems: list[tuple[Location, str]]) -> list[Entry]:
    """The keys that count, in the order written.

    Dotted keys are gathered into one object that is handed to argparse after everything else, so they replace a JSON
    value whole instead of joining it (vllm 0.9.2 to 0.33.0, FlexibleArgumentParser.parse_args).
    """
    config = [item for item in given if item.flag.name == FLAG]
    result: list[Entry] = []
    for item in config:
        if not item.keys and item.values:
            result = _from_json(line, item, problems)
    dotted = [item for item in config if item.keys]
    if dotted:
        result = [_from_dotted(line, item) for item in dotted]
    taken = {entry.key.replace("-", "_") for entry in result}
    last = {SHORTHAND[item.flag.name]: item for item in given if item.flag.name in SHORTHAND and item.values}
    for key, item in last.items():
        text = line.text(item.values[0])
        if key not in taken and text not in {"", "None"}:
            value: object = Unresolved(text) if placeholders(text) else text
            result.append(Entry(key=key, value=value, place=item.values[0], spelling=item.spelling, flag=item.place))
    return result


def options(line: Line, found: Sequence[Entry]) -> Iterator[Option]:
    """The keys as options, those of the ``--spec-*`` flags left out: they are options already."""
    for entry in found:
        if not entry.spelling.startswith(("--spec-", "--spec_")):
            yield Option(
                name=entry.key,
                spelling=entry.spelling,
                value=plain(line.text(entry.place)),
                at=line.at(entry.place),
                flag_at=line.at(entry.flag),
            )


def mapping(line: Line, found: Sequence[Entry]) -> dict[str, Located[object]]:
    """The keys as written with located values; the parts of a nested dotted key are joined."""
    result: dict[str, Located[object]] = {}
    for entry in found:
        held = result.get(entry.key)
        value = entry.value
        if held is not None and isinstance(held.value, dict) and isinstance(value, dict):
            value = {**held.value, **value}
        result[entry.key] = Located(value, line.at(entry.place))
    return result


def spelled(value: object) -> object:
    """A decoded value with the dollars that are no variables put back."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(str(key)): spelled(item) for key, item in value.items()}
    return [spelled(item) for item in value] if isinstance(value, list) else value


def _from_json(line: Line, item: Given, problems: list[tuple[Location, str]]) -> list[Entry]:
    span = item.values[0]
    text = line.text(span)
    if text in {"", "None"} or (found := placeholders(text)) == ((0, len(text)),):
        return []
    try:
        members = list(_members(text, found))
    except _BrokenJson as error:
        at = min(span.start + error.position, max(span.end - 1, span.start))
        problems.append((line.at(Span(span.index, at, min(at + 1, span.end))), str(error)))
        return []
    return [
        Entry(
            key=key,
            value=value,
            place=Span(span.index, span.start + start, span.start + end),
            spelling=item.spelling,
            flag=item.place,
        )
        for key, value, start, end in members
    ]


def _from_dotted(line: Line, item: Given) -> Entry:
    span = item.values[0]
    text = line.text(span)
    first, *deeper = item.keys
    value: object
    if (deeper or [first])[-1].endswith("+"):
        value = text.split(",")
        first, deeper = (first, [*deeper[:-1], deeper[-1][:-1]]) if deeper else (first[:-1], deeper)
    elif placeholders(text):
        value = Unresolved(text)
    else:
        value = dotted_value(text)
    for key in reversed(deeper):
        value = {key: value}
    return Entry(key=first, value=value, place=span, spelling=item.spelling, flag=item.place)


def dotted_value(text: str) -> object:
    """The value behind a dotted flag: JSON, a number like 16k, or the text itself."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        number = human_integer(text)
        return text if number is None else number
    return value


def human_integer(text: str) -> int | None:
    """An integer as vLLM reads "8192", "32k" (thousands), "32K" (1024 each), "25.6k"; None if it is none.

    vllm 0.33.0, engine/arg_utils.py, human_readable_int.
    """
    if match := _HUMAN.fullmatch(text):
        whole, part, unit = match.groups()
        if unit in _BINARY:
            return None if part else int(whole) * _BINARY[unit]
        fraction = int(part or 0) * _DECIMAL[unit] // int("1" + "0" * len(part or ""))
        return int(whole) * _DECIMAL[unit] + fraction
    try:
        return int(text)
    except ValueError:
        return None


def _members(text: str, gaps: Sequence[tuple[int, int]]) -> Iterator[tuple[str, object, int, int]]:
    """The members of a JSON object: key, value, and where the value stands.

    Every gap is filled with as many characters as it has, so that places stay right.
    """
    decoder = json.JSONDecoder()
    filled = _filled(text, gaps)
    if filled.lstrip().startswith("{{") and filled.rstrip().endswith("}}"):
        filled = filled.replace("{{", " {", 1)[::-1].replace("}}", " }", 1)[::-1]  # braces doubled for str.format
    position = _expect(filled, 0, "{", "a JSON object")
    if filled[(end := _skip(filled, position)) : end + 1] == "}":
        position = end + 1
    else:
        while True:
            key, position = _decode(decoder, filled, position)
            if not isinstance(key, str):
                raise _BrokenJson("a key in double quotes", position - 1)
            start = _skip(filled, _expect(filled, position, ":", "':' after the key"))
            value, position = _decode(decoder, filled, start)
            if any(gap < position and stop > start for gap, stop in gaps):
                value = Unresolved(text[start:position])
            yield key, value, start, position
            following = _skip(filled, position)
            position = following + 1
            if filled[following : following + 1] == "}":
                break
            _expect(filled, following, ",", "',' or '}'")
    if (end := _skip(filled, position)) != len(filled):
        raise _BrokenJson("nothing after the JSON object", end)


def _filled(text: str, gaps: Sequence[tuple[int, int]]) -> str:
    quoted = False
    result: list[str] = []
    position = 0
    for start, end in gaps:
        if start < position:
            continue
        before = text[position:start]
        quoted ^= _ESCAPED.sub("", before).count('"') % 2 == 1
        width = end - start
        result += [before, "x" * width if quoted else '"' + "x" * (width - 2) + '"']
        position = end
    return "".join(result) + text[position:]


def _decode(decoder: json.JSONDecoder, text: str, position: int) -> tuple[object, int]:
    start = _skip(text, position)
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _BrokenJson(f"JSON ({error.msg} at character {error.pos + 1})", error.pos) from error
    except (ValueError, RecursionError) as error:
        raise _BrokenJson("JSON of ordinary size and depth", start) from error
    return value, end


def _expect(text: str, position: int, character: str, what: str) -> int:
    start = _skip(text, position)
    if text[start : start + 1] != character:
        raise _BrokenJson(f"{what} at character {start + 1}", start)
    return start + 1


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position
