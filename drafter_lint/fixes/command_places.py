"""Where the words of a command can be changed in its document: guesses, each to be proved by reading what it makes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.findings import JsonValue, Location
from drafter_lint.fixes.config_text import Replaced
from drafter_lint.launch import LaunchRequest

# Words that mean themselves in a shell, in YAML, in JSON strings and in a Dockerfile.
_SAFE = re.compile(r"[\w@%+./,:=-]+", re.ASCII)
_MARK = r"(?:\\*[\"'])?"
_CLOSING = re.compile(r"\\*[\"']")
# The key in front of a value: its own quotation marks, what separates them, and the mark the value opens with.
_KEYED = r"(?P<q>%s)%s(?P=q)(?P<sep>\s*[:=]\s*)(?P<v>%s)$"
_ANY_KEY = r"[A-Za-z][\w-]*"
_ITEM = re.compile(r"(?P<lead>[ \t]*-[ \t]+)(?P<q>[\"']?)")
_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
# Ends inside an expansion or a template's gap.
_OPEN = re.compile(r"(?:\$\{[^}\n]*|\$\(\([^)\n]*|\{\{[^}\n]*)\Z")
_ANCHORS = 8
_REACH = 400


@dataclass(frozen=True, slots=True)
class Placed:
    """The whole document with a change, and the index in the command where it was made."""

    text: str
    index: int


@dataclass(frozen=True, slots=True)
class _Seen:
    """A word of the command, or its value's part, as it stands in the document."""

    index: int
    start: int
    end: int


def members(word: str) -> dict[str, JsonValue] | None:
    """The members of the JSON object a word ends in, None if it ends in none."""
    start = word.find("{")
    if start < 0:
        return None
    try:
        found = json.loads(word[start:])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def replacements(text: str, request: LaunchRequest, *, index: int, value: str) -> Iterator[Placed]:
    """Ways to put another word in place of the one at an index."""
    word = request.argv[index]
    old, new = members(word), members(value)
    if old is not None and new is not None:
        for made in _members_changed(text, request, index=index, old=old, new=new):
            yield Placed(made, index)
        return
    for seen in _seen(text, request):
        part = text[seen.start : seen.end]
        head = word[: len(word) - len(part)]
        if seen.index != index or not part or not word.endswith(part) or not value.startswith(head):
            continue
        if head and not head.endswith("="):
            continue
        after = value[len(head) :]
        yield Placed(Replaced(seen.start, seen.end, after).of(text), index)
        if not _SAFE.fullmatch(after):
            yield Placed(Replaced(seen.start, seen.end, shlex.quote(after)).of(text), index)


def additions(text: str, request: LaunchRequest, values: tuple[str, ...]) -> Iterator[Placed]:
    """Ways to add words to the command: behind its last word, else behind an earlier one whose place is known."""
    if not all(value and value.isprintable() for value in values):
        return
    anchors = sorted(_seen(text, request), key=lambda seen: (-seen.index, -seen.end))
    for seen in anchors[:_ANCHORS]:
        if _OPEN.search(text, max(text.rfind("\n", 0, seen.end) + 1, seen.end - _REACH), seen.end):
            continue  # ${PORT:-8000}: what is added to a default is gone where the variable is set
        for made in _behind(text, seen, values):
            yield Placed(made.of(text), seen.index + 1)


def _seen(text: str, request: LaunchRequest) -> list[_Seen]:
    """Every part of the command whose place is known, each once."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    found: dict[_Seen, None] = {}
    for at in _locations(request):
        if at.line is None or at.column is None or at.width is None or at.argument is None:
            continue
        start = starts[at.line - 1] + at.column - 1
        part = text[start : start + at.width]
        if part and request.argv[at.argument].endswith(part):
            found[_Seen(at.argument, start, start + at.width)] = None
    return list(found)


def _locations(request: LaunchRequest) -> Iterator[Location]:
    for option in request.options.values():
        yield option.at
        yield option.flag_at
    for located in (request.target, request.drafter, request.method, *request.unknown):
        if located is not None:
            yield located.at


def _members_changed(
    text: str, request: LaunchRequest, *, index: int, old: dict[str, JsonValue], new: dict[str, JsonValue]
) -> Iterator[str]:
    """The document with some members of a JSON object changed or added, everything else as it is written."""
    if not old.keys() <= new.keys():
        return
    spans = _member_spans(text, request, index=index, old=old)
    changes: list[Replaced] = []
    for key, value in new.items():
        if key not in old or json.dumps(value) == json.dumps(old[key]):
            continue
        written = _inside(value, like=old[key])
        if key not in spans or written is None:
            return
        changes.append(Replaced(*spans[key], written))
    more = {key: value for key, value in new.items() if key not in old}
    if not more:
        yield _with(text, changes)
        return
    for key in reversed(old):
        if key in spans:
            for added in _member_behind(text, spans[key], key, more):
                yield _with(text, [*changes, added])


def _member_spans(
    text: str, request: LaunchRequest, *, index: int, old: dict[str, JsonValue]
) -> dict[str, tuple[int, int]]:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    spans: dict[str, tuple[int, int]] = {}
    for key, value in old.items():
        located = request.speculative_config.get(key)
        at = located.at if located else None
        if at is None or at.argument != index or at.line is None or at.column is None or not at.width:
            continue
        start = starts[at.line - 1] + at.column - 1
        part = text[start : start + at.width]
        mark = _CLOSING.match(part)
        if isinstance(value, str) and mark and part != mark[0] and part.endswith(mark[0]):
            start, part = start + mark.end(), part[mark.end() : len(part) - mark.end()]
        if part == (value if isinstance(value, str) else json.dumps(value)):
            spans[key] = (start, start + len(part))
    return spans


def _inside(value: JsonValue, *, like: JsonValue) -> str | None:
    """A value as it is written where another one stands, inside its quotation marks if it has some."""
    if isinstance(value, str) != isinstance(like, str):
        return None
    written = value if isinstance(value, str) else json.dumps(value)
    return written if _SAFE.fullmatch(written) else None


def _member_behind(text: str, span: tuple[int, int], key: str, more: dict[str, JsonValue]) -> Iterator[Replaced]:
    start, end = span
    found = re.search(_KEYED % (_MARK, re.escape(key), _MARK), text[max(0, start - _REACH) : start])
    if found is None:
        return
    mark, separator, opened = found["q"], found["sep"], found["v"]
    if opened and text.startswith(opened, end):
        end += len(opened)
    if not all(_SAFE.fullmatch(f"{name}{value}") for name, value in more.items()):
        return
    quote = mark or opened
    pairs = [
        f"{mark}{name}{mark}{separator}{f'{quote}{value}{quote}' if isinstance(value, str) else json.dumps(value)}"
        for name, value in more.items()
    ]
    begin = start - len(found[0])
    if (indent := _leads(text, begin)) is not None:
        between = "" if not mark and ":" in separator else ","
        newline = _newline(text)
        yield Replaced(end, end, "".join(f"{between}{newline}{indent}{pair}" for pair in pairs))
    yield Replaced(end, end, "".join(f", {pair}" for pair in pairs))


def _behind(text: str, seen: _Seen, values: tuple[str, ...]) -> Iterator[Replaced]:
    """Ways to write words behind one that stands in the document."""
    for style in (_as_items, _as_elements, _as_keys, _as_shell_words):
        yield from style(text, seen, values)


def _as_items(text: str, seen: _Seen, values: tuple[str, ...]) -> Iterator[Replaced]:
    """More items of a YAML list, one a line."""
    begin, stop = text.rfind("\n", 0, seen.start) + 1, _line_end(text, seen.end)
    item = _ITEM.match(text, begin)
    if item is None or item.end() > seen.start or text[seen.end : stop].strip("\"' \t\r"):
        return
    stop = len(text[:stop].rstrip(" \t\r"))
    lead = re.sub(r"[^\s-]", " ", item["lead"])
    mark = item["q"]
    if all(_SAFE.fullmatch(value) for value in values):
        yield Replaced(stop, stop, "".join(f"{_newline(text)}{lead}{_yaml(value, mark)}" for value in values))


def _yaml(word: str, mark: str) -> str:
    """A word as a YAML string, in its neighbour's marks, or in some where it would be read as another thing."""
    plain = word.startswith("--") or (word[0].isalpha() and word.lower() not in _YAML_WORDS)
    return f"{mark}{word}{mark}" if mark or plain else f'"{word}"'


def _as_elements(text: str, seen: _Seen, values: tuple[str, ...]) -> Iterator[Replaced]:
    """More elements of a bracketed list: an exec form, a JSON list, a Python list."""
    closing = _CLOSING.match(text, seen.end)
    if closing is None or not re.compile(r"\s*[\],]").match(text, closing.end()):
        return
    mark = closing[0]
    quoted = [f"{mark}{value}{mark}" for value in values if _SAFE.fullmatch(value)]
    if len(quoted) != len(values):
        return
    opened = text.rfind(mark, 0, seen.start)
    if (indent := _leads(text, opened)) is not None:
        yield Replaced(closing.end(), closing.end(), "".join(f",{_newline(text)}{indent}{word}" for word in quoted))
    yield Replaced(closing.end(), closing.end(), "".join(f", {word}" for word in quoted))


def _as_keys(text: str, seen: _Seen, values: tuple[str, ...]) -> Iterator[Replaced]:
    """More keyword arguments of a Python call, or keys of a configuration file."""
    found = re.search(_KEYED % (_MARK, _ANY_KEY, _MARK), text[max(0, seen.start - _REACH) : seen.start])
    pairs = [(name, value) for name, value in zip(values[::2], values[1::2], strict=False) if name.startswith("--")]
    if found is None or 2 * len(pairs) != len(values) or not all(map(_SAFE.fullmatch, values)):
        return
    mark, separator, opened = found["q"], found["sep"], found["v"]
    end = seen.end + (len(opened) if opened and text.startswith(opened, seen.end) else 0)
    dashes = "-" in found[0].partition(separator)[0]
    quote = opened or mark or ('"' if "=" in separator else "")
    written = [
        f"{mark}{name[2:] if dashes else name[2:].replace('-', '_')}{mark}{separator}"
        + (value if value.isdecimal() else f"{quote}{value}{quote}")
        for name, value in pairs
    ]
    if (indent := _leads(text, seen.start - len(found[0]))) is not None:
        between = "" if not mark and ":" in separator else ","
        yield Replaced(end, end, "".join(f"{between}{_newline(text)}{indent}{pair}" for pair in written))
    yield Replaced(end, end, "".join(f", {pair}" for pair in written))


def _as_shell_words(text: str, seen: _Seen, values: tuple[str, ...]) -> Iterator[Replaced]:
    """More words of a shell command: on a line of their own where every flag has one, else on the same line."""
    words = shlex.join(values)
    closing = _CLOSING.match(text, seen.end)
    ends = dict.fromkeys(filter(None, (closing.end() if closing else None, seen.end)))
    begin = text.rfind("\n", 0, seen.start) + 1
    line = text[begin : seen.start]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    if line[len(indent) :].startswith("-") or not line[len(indent) :]:
        newline = _newline(text)
        above = text[text.rfind("\n", 0, max(begin - 1, 0)) + 1 : max(begin - 1, 0)].rstrip()
        joins = (f" \\{newline}", newline) if above.endswith("\\") else (newline,)
        for end in ends:
            yield from (Replaced(end, end, f"{join}{indent}{words}") for join in joins)
    for end in ends:
        yield Replaced(end, end, f" {words}")


def _leads(text: str, at: int) -> str | None:
    """The indentation in front of a character, None if something else stands before it on its line."""
    lead = text[text.rfind("\n", 0, at) + 1 : at]
    return lead if at >= 0 and not lead.strip(" \t") else None


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _with(text: str, changes: list[Replaced]) -> str:
    for change in sorted(changes, key=lambda item: (item.start, item.end), reverse=True):
        text = change.of(text)
    return text
