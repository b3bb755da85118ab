"""YAML and JSON documents as tables, lists and leaves, every character of a scalar traced to where it is written."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from drafter_lint.launch.files.effort import Effort, TooMuch
from drafter_lint.launch.files.traced import Traced, joined

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node, ScalarNode

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "e": "\x1b", "a": "\a", "v": "\v"}
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}
_JSON_STRING = r'"(?:[^"\\\n]|\\.)*"'
_JSON_STRINGS = re.compile(rf"\[\s*(?:{_JSON_STRING}\s*(?:,\s*{_JSON_STRING}\s*)*)?\]")
_GAP = re.compile(r"\$\{\{[^{}\n]*\}\}|\{\{-?[^{}\n]*-?\}\}|<<[A-Za-z_][\w.-]*>>|\{%[^\n]*?%\}")
_GAP_LINE = re.compile(r"^[ \t]*(?:\{\{-?[^\n]*-?\}\}|\{%[^\n]*%\})[ \t]*$", re.MULTILINE)
_SEPARATOR = re.compile(r"^---[^\n]*$", re.MULTILINE)
_MAX_DEPTH = 60
# The parser looks at every open bracket for every token (ruamel.yaml 0.19.1, scanner.py, stale_possible_simple_keys).
_MAX_BRACKETS = 200
_DOCUMENT, _CHARACTER = 800, 4  # what parsing costs, in units of effort
_MAX_JSON = 200_000  # characters of a value written as JSON: a value may hold another one many times
_MAX_NODES = 50_000  # with aliases written out; a document of aliases to aliases stops here


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar: its decoded text, and "text", "number", "boolean" or "null"."""

    text: Traced
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping, in the order written; merged keys come first and lose against its own."""

    entries: tuple[tuple[Traced, Value], ...]

    def get(self, *names: str) -> Value | None:
        """The value of the first of some keys that is there."""
        for name in names:
            for key, value in reversed(self.entries):
                if key.text == name:
                    return value
        return None

    def text(self, *names: str) -> Traced | None:
        """The same, if it is a scalar that is not null."""
        value = self.get(*names)
        return value.text if isinstance(value, Leaf) and value.kind != "null" else None


Value = Leaf | Items | Table


def load(text: Traced, effort: Effort) -> Iterator[Value]:
    """The documents of a YAML or JSON stream; what cannot be parsed is left out."""
    shown = _GAP_LINE.sub(lambda match: "#" + " " * (len(match[0]) - 1) if match[0] else "", text.text)
    shown = _GAP.sub(lambda match: "x" * len(match[0]), shown).replace("\t", " ")
    shown = re.sub(
        r"[^\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff|\u2028|\u2029", " ", shown
    )
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(shown))]
    ends = [*(match.start() for match in _SEPARATOR.finditer(shown)), len(shown)]
    for start, end in zip(starts, ends, strict=True):
        effort.spend(_DOCUMENT + _CHARACTER * (end - start))
        # A document at a time: one that does not parse hides no other. Offsets stay those of the stream.
        node = _composed(shown[start:end])
        if node is not None:
            yield _Document(text.cut(start, end), shown[start:end]).value(node, frozenset())


def strings(text: Traced) -> list[Traced] | None:
    """The elements of a JSON list of strings, as Docker's exec form has them; None if it is none."""
    match = _JSON_STRINGS.fullmatch(text.text.strip())
    if match is None:
        return None
    found: list[Traced] = []
    for item in re.finditer(_JSON_STRING, text.text):
        decoded = _double(text.text, item.start() + 1, item.end() - 1)
        found.append(text.pick("".join(character for character, _ in decoded), [index for _, index in decoded]))
    return found


def to_json(value: Value) -> Traced:
    """A value as JSON text whose strings and numbers are still traced.

    Raises:
        TooMuch: it would be very long.
    """
    waiting, length = [value], 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, Leaf):
            length += len(item.text)
        else:
            waiting += item.items if isinstance(item, Items) else (part for _, part in item.entries)
        length += 4
        if length > _MAX_JSON:
            raise TooMuch("one of its values repeats itself too often")
    return _json(value)


def _json(value: Value) -> Traced:
    if isinstance(value, Table):
        members = [joined([_quoted(key), Traced.stand_in(": "), _json(item)]) for key, item in value.entries]
        return joined([Traced.stand_in("{"), joined(members, ", "), Traced.stand_in("}")])
    if isinstance(value, Items):
        return joined([Traced.stand_in("["), joined(map(_json, value.items), ", "), Traced.stand_in("]")])
    if value.kind == "text":
        return _quoted(value.text)
    if value.kind == "boolean":
        truth = is_true(value)
        return Traced.stand_in("true" if truth else "false", value.text.extent())
    return Traced.stand_in("null", value.text.extent()) if value.kind == "null" else value.text


def is_true(value: Value | None) -> bool:
    """True for a boolean leaf that says so."""
    return isinstance(value, Leaf) and value.kind == "boolean" and value.text.text.lower() in {"true", "yes", "on"}


def _quoted(text: Traced) -> Traced:
    parts: list[Traced] = [Traced.stand_in('"')]
    for index, character in enumerate(text.text):
        if character in '"\\':
            parts.append(Traced.stand_in("\\"))
        shown = max(character, " ")
        parts.append(text.cut(index, index + 1).retyped(shown))
    return joined([*parts, Traced.stand_in('"')])


def _brackets(text: str) -> int:
    """How many brackets are open at most."""
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest


def _composed(text: str) -> Node | None:
    from ruamel.yaml import YAML  # noqa: PLC0415 - a plain check must not pay for it

    if not text.strip() or _brackets(text) > _MAX_BRACKETS:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            node: Node | None = YAML(typ="safe", pure=True).compose(text)
        except RecursionError:
            return None
        except Exception:  # noqa: BLE001 - the parser raises more than its own errors on text that is no YAML
            return None
    return node


@dataclass(slots=True)
class _Document:
    """A document as written, and as the parser saw it, with gaps covered; both have the same characters' places."""

    text: Traced
    shown: str
    nodes: int = 0

    def scalar(self, node: ScalarNode) -> Traced:
        """A scalar's decoded text, with the gaps in it as written."""
        start, end = node.start_mark.index, node.end_mark.index
        value, shown = str(node.value), self.shown
        if not node.style and shown[start:end] == value:
            return self.text.cut(start, end)
        indexes: list[int] | None
        if node.style in {"|", ">"}:
            indexes = _block(shown, start, end, value)
        elif node.style == '"':
            decoded = _double(shown, start + shown[start:end].find('"') + 1, end - 1)
            value, indexes = "".join(character for character, _ in decoded), [index for _, index in decoded]
        else:
            quoted = shown[start:end].find("'") + 1 if node.style else 0
            indexes = _aligned(shown, start + quoted, end, value)
        if indexes is None:
            return Traced.stand_in(value, self.text.cut(start, end).extent())
        raw = self.text.text
        written = (
            raw[index] if raw[index] != shown[index] else character
            for index, character in zip(indexes, value, strict=True)
        )
        return self.text.pick("".join(written), indexes)

    def value(self, node: Node, above: frozenset[int]) -> Value:
        """A node as a value; an alias inside its own anchor is nothing.

        Raises:
            TooMuch: there are very many of them.
        """
        from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode  # noqa: PLC0415

        self.nodes += 1
        if self.nodes > _MAX_NODES:
            raise TooMuch(f"its aliases written out, it holds more than {_MAX_NODES} values")
        if id(node) in above or len(above) > _MAX_DEPTH:
            return Leaf(Traced("", ()), "null")
        inside = above | {id(node)}
        if isinstance(node, ScalarNode):
            kind = str(node.tag).rpartition(":")[2]
            kinds = {"int": "number", "float": "number", "bool": "boolean", "null": "null"}
            return Leaf(self.scalar(node), kinds.get(kind, "text"))
        if isinstance(node, SequenceNode):
            return Items(tuple(self.value(item, inside) for item in node.value))
        if not isinstance(node, MappingNode):
            return Leaf(Traced("", ()), "null")
        merged: list[tuple[Traced, Value]] = []
        own: list[tuple[Traced, Value]] = []
        for key, item in node.value:
            value = self.value(item, inside)
            if isinstance(key, ScalarNode) and key.value == "<<":
                for part in value.items if isinstance(value, Items) else (value,):
                    merged += part.entries if isinstance(part, Table) else ()
            elif isinstance(key, ScalarNode):
                own.append((self.scalar(key), value))
        names = {key.text for key, _ in own}
        return Table((*(entry for entry in merged if entry[0].text not in names), *own))


def _block(raw: str, start: int, end: int, value: str) -> list[int] | None:
    """Where the characters of a literal or folded block stand."""
    header = raw.find("\n", start)
    return _aligned(raw, header + 1, end, value) if header >= 0 else [] if not value else None


def _aligned(raw: str, start: int, end: int, value: str) -> list[int] | None:
    """Where the characters of a scalar stand, if it only lost indentation, line ends and doubled quotes."""
    indexes: list[int] = []
    position = start
    for character in value:
        if character in " \n\t":
            if position < end and raw[position] == "\n" and character == " ":
                indexes.append(position)  # a folded line end
                position += 1
                continue
            while position < end and raw[position] != character and raw[position] in " \t\r\n" and character == "\n":
                position += 1
            indexes.append(min(position, end - 1))
            position += position < end and raw[position] in " \n\t\r"
            continue
        while position < end and raw[position] in " \t\r\n":
            position += 1
        if position >= end or raw[position] != character:
            return None
        indexes.append(position)
        position += 2 if character == "'" and raw.startswith("''", position) and raw[start - 1] == "'" else 1
    return indexes


def _double(raw: str, start: int, end: int) -> list[tuple[str, int]]:
    """The characters of a double-quoted scalar, and where each stands."""
    found: list[tuple[str, int]] = []
    position = start
    while position < end:
        character = raw[position]
        if character == "\\" and position + 1 < end:
            name = raw[position + 1]
            digits = raw[position + 2 : position + 2 + _HEXADECIMAL.get(name, 0)]
            if name in "\r\n":
                position += 2
                while position < end and raw[position] in " \t\r\n":
                    position += 1
                continue
            if digits and re.fullmatch(r"[0-9a-fA-F]+", digits) and int(digits, 16) < 0x110000:
                found.append((chr(int(digits, 16)), position))
                position += 2 + len(digits)
                continue
            found.append((_ESCAPES.get(name, name), position + (name not in _ESCAPES)))
            position += 2
        elif character == "\n":
            while found and found[-1][0] in " \t\r":
                found.pop()
            blank = re.compile(r"[ \t\r\n]*").match(raw, position, end)
            stop = blank.end() if blank else position + 1
            breaks = raw.count("\n", position, stop) - 1
            found += [("\n", position)] * breaks or [(" ", position)]
            position = stop
        else:
            found.append((character, position))
            position += 1
    return found


def sequence(value: Value | None) -> Sequence[Value]:
    """The elements of a list; nothing for anything else."""
    return value.items if isinstance(value, Items) else ()
