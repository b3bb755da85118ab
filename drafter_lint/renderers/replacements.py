"""A fix as text edits of files of the checkout: all of it, or nothing where a place or a quotation is in doubt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.findings import (
    AddArguments,
    Edit,
    Finding,
    JsonValue,
    Location,
    RemoveConfig,
    ReplaceArgument,
    SetConfig,
    SetTensor,
)
from drafter_lint.renderers.artifacts import Place, place_of
from drafter_lint.report import Check

# Words that mean themselves in a shell, in YAML, in JSON strings and in a Dockerfile.
_SAFE = re.compile(r"[\w@%+./,:=-]+", re.ASCII)
_MEMBER = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*:\s*(?P<value>[^\s,][^,]*),\s*')


@dataclass(frozen=True, slots=True)
class Replacement:
    """``text`` in place of ``width`` characters at a place's column; the line with its end where ``whole_line``."""

    place: Place
    line: int
    column: int
    width: int
    text: str
    whole_line: bool = False


def replacements(finding: Finding, check: Check) -> tuple[Replacement, ...]:
    """The edits of a finding's fix, none if one of them cannot be placed."""
    made: list[Replacement] = []
    for edit in finding.fix.edits if finding.fix else ():
        replacement = _replacement(edit, finding, check)
        if replacement is None:
            return ()
        made.append(replacement)
    return tuple(made)


def _replacement(edit: Edit, finding: Finding, check: Check) -> Replacement | None:
    if isinstance(edit, ReplaceArgument):
        return _argument(edit, finding, check)
    if isinstance(edit, AddArguments):
        return _addition(edit, check)
    if isinstance(edit, SetTensor):  # no text
        return None
    return _config(edit, finding, check)


def _argument(edit: ReplaceArgument, finding: Finding, check: Check) -> Replacement | None:
    """Another word in place of the one at an index, in the quotation marks it stands in."""
    argv = check.request.argv if check.request else ()
    word = argv[edit.index] if 0 <= edit.index < len(argv) else ""
    for at in _in_command(finding, check):
        if at.argument != edit.index or not word:
            continue
        seen = _span(at)
        bare, mark = _unquoted(seen)
        before, after = word, edit.value
        if bare != word and word.endswith(f"={bare}"):  # the place is the value's alone
            flag = word[: len(word) - len(bare)]
            if not edit.value.startswith(flag):
                continue
            before, after = bare, edit.value[len(flag) :]
        if bare == before and (text := _quoted(after, mark)) is not None:
            return _over(at, check, text)
    return None


def _addition(edit: AddArguments, check: Check) -> Replacement | None:
    """More words behind the last flag that shares a line with its value, as only a command line has it."""
    if check.request is None or not all(_SAFE.fullmatch(value) for value in edit.values):
        return None
    options = check.request.options.values()
    ends = [option.at for option in options if _follows(option.flag_at, option.at)]
    last = max(ends, key=lambda at: (at.argument or 0, at.line or 0, at.column or 0), default=None)
    if last is None or not (place := place_of(last, check)):
        return None
    column = (last.column or 1) + (last.width or 0)
    return Replacement(place, place.line, column, 0, f" {' '.join(edit.values)}")


def _follows(flag: Location, value: Location) -> bool:
    if not (flag.file and value.file == flag.file and value.line == flag.line and flag.argument != value.argument):
        return False
    if value.text is None or flag.column is None or value.column is None or not flag.width or not value.width:
        return False
    around = value.text[value.column - 2 : value.column - 1 + value.width + 1]
    between = value.text[flag.column - 1 + flag.width : value.column - 1]
    return between == " " and '"' not in around and "'" not in around


def _config(edit: SetConfig | RemoveConfig, finding: Finding, check: Check) -> Replacement | None:
    """Another value of a key that stands on one line, or that line taken away where a comma ends it."""
    if not check.drafter.path:
        return None
    for at in finding.locations:
        place = place_of(at, check)
        if at.role != "drafter" or at.pointer != edit.pointer or at.line is None or at.text is None or not place:
            continue
        if place.at is None:  # a recipe: its lines are not those of config.json
            continue
        if isinstance(edit, SetConfig):
            return _over(at, check, json.dumps(edit.value)) if _is_json(_span(at)) else None
        member = _MEMBER.fullmatch(at.text)
        if member and at.column == member.start("value") + 1 and _is_json(member["value"].strip()):
            return Replacement(place, at.line, 1, len(at.text), "", whole_line=True)
    return None


def _is_json(text: str) -> bool:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return False
    return not isinstance(value, dict)


def _in_command(finding: Finding, check: Check) -> Iterator[Location]:
    request = check.request
    options = request.options.values() if request else ()
    for at in (*finding.locations, *(at for option in options for at in (option.at, option.flag_at))):
        if at.role == "launch" and at.file and at.line is not None:
            yield at


def _over(at: Location, check: Check, text: str) -> Replacement | None:
    place = place_of(at, check)
    if place is None or at.line is None or at.column is None or not at.width:
        return None
    return Replacement(place, at.line, at.column, at.width, text)


def _span(at: Location) -> str:
    if at.text is None or at.column is None or not at.width:
        return ""
    return at.text[at.column - 1 : at.column - 1 + at.width]


def _unquoted(text: str) -> tuple[str, str]:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]:
        return text[1:-1], text[0]
    return text, ""


def _quoted(text: str, mark: str) -> str | None:
    """In the marks that were there; None where the text would not mean itself inside them."""
    special = {"'": "'\\", '"': '"\\$`'}.get(mark)
    if special is None:
        return text if _SAFE.fullmatch(text) else None
    return None if any(char in special or not char.isprintable() for char in text) else f"{mark}{text}{mark}"
