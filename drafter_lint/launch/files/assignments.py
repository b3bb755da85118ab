"""Shell assignments: plain variables, arrays and tables, set or appended to."""

from __future__ import annotations

from drafter_lint.launch.files.expand import array_items, element, flat
from drafter_lint.launch.files.grammar import ASSIGNMENT
from drafter_lint.launch.files.quoting import ARRAY, command_words
from drafter_lint.launch.files.traced import Traced
from drafter_lint.launch.files.variables import Variables


def assign(word: Traced, variables: Variables) -> bool:
    """Carry out an assignment; False if the word is none."""
    match = ASSIGNMENT.match(word.text)
    if match is None:
        return False
    name, key, append = match[1], match[2], bool(match[3])
    if array := ARRAY.match(word.text):
        inside = word.cut(array.end(), len(word) - 1)
        raw = _array_words(inside.text)
        pairs = [element(inside.cut(*span)) for span in raw]
        if pairs and all(pairs):
            table = {pair[0]: flat(pair[1], variables) for pair in pairs if pair}
            variables.tables[name] = {**variables.tables.get(name, {}), **table} if append else table
            return True
        held = variables.arrays.get(name, []) if append else []
        variables.arrays[name] = [*held, *array_items(inside, raw, variables)]
        variables.values.pop(name, None)
        return True
    value = flat(word.cut(match.end(), len(word)), variables)
    if key is None:
        variables.assign(name, value, append=append)
    elif name in variables.tables or not key.isdigit():
        variables.tables.setdefault(name, {})[key.strip("\"'")] = value
    elif int(key) <= len(variables.arrays.setdefault(name, [])):
        variables.arrays[name][int(key) : int(key) + 1] = [value]
    return True


def _array_words(text: str) -> list[tuple[int, int]]:
    """The words of an array literal: line ends separate, comments are skipped."""
    words: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        found, end = command_words(text, position)
        words += found
        if text[end : end + 1] == "#":
            line_end = text.find("\n", end)
            end = len(text) if line_end < 0 else line_end
        position = end + 1
    return words
