"""A small change to a recipe: values of config.json, tensors, other files; what it does not name stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, ValidationError

from drafter_lint.errors import UsageError
from drafter_lint.recipe.build import WHOLE, expanded, values_in
from drafter_lint.recipe.document import FileName
from drafter_lint.recipe.lines import TensorLine, expand, literal_head, parse_line
from drafter_lint.recipe.values import referenced, written

_JSON = "json:"


class Patch(BaseModel):
    """What a patch may say. The steps are taken in the order of these attributes.

    Attributes:
        name: the Hub id it stands for from now on.
        config: the whole text of config.json.
        no_config: True leaves config.json out.
        set: JSON pointer to new value, parents made as needed; a string that starts with ``json:`` holds JSON, which
            is how a null is written ("json:null"). A last ``-`` appends to a list.
        remove: JSON pointers of members to leave out.
        rename: first part of a tensor's name to what takes its place.
        prefix: put before every tensor's name.
        drop: names of tensors to leave out; ``*`` matches anything.
        tensors: lines of tensors to add or replace.
        drop_files: files to leave out: weights, text or opaque ones.
        text: other small files to add or replace.
        opaque: files of which only the size is known, to add or replace.
        truncate: files to cut, to a size in bytes.
        words: the size of the generated tokenizer.
        first_word: the number of its first word.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str | None = None
    config: str | None = None
    no_config: bool = False
    set: dict[str, JsonValue] = Field(default_factory=dict)
    remove: list[str] = Field(default_factory=list)
    rename: dict[str, str] = Field(default_factory=dict)
    prefix: str = ""
    drop: list[str] = Field(default_factory=list)
    tensors: dict[str, str] = Field(default_factory=dict)
    drop_files: list[FileName] = Field(default_factory=list)
    text: dict[FileName, str] = Field(default_factory=dict)
    opaque: dict[FileName, NonNegativeInt] = Field(default_factory=dict)
    truncate: dict[FileName, NonNegativeInt] = Field(default_factory=dict)
    words: int | None = None
    first_word: NonNegativeInt | None = None


def read_patch(table: Mapping[str, object]) -> Patch:
    """A patch from a TOML table.

    Raises:
        UsageError: the table has keys or values a patch does not know.
    """
    try:
        return Patch.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(f"patch: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def patched_config(config: str | None, patch: Patch) -> str | None:
    """The text of config.json after a patch; as it was written if no value of it changes.

    Raises:
        UsageError: there is nothing to change, or a pointer leads nowhere.
    """
    if patch.no_config:
        return None
    text = config if patch.config is None else patch.config
    if not patch.set and not patch.remove:
        return text
    try:
        root: JsonValue = json.loads(text or "")
    except json.JSONDecodeError as error:
        raise UsageError(f"patch: config.json cannot be changed by pointer: {error}") from error
    for pointer, value in patch.set.items():
        _set(root, pointer, _json_value(value))
    for pointer in patch.remove:
        _remove(root, pointer)
    return json.dumps(root, indent=2, ensure_ascii=False) + "\n"


def patched_tensors(tensors: Mapping[str, Mapping[str, str]], patch: Patch) -> dict[str, dict[str, str]]:
    """The tensor lines of every file after a patch.

    New tensors go to the first file. A mask written as ``matches(d2t)`` keeps its values when the patch replaces or
    drops d2t.

    Raises:
        UsageError: a tensor to rename or drop is not there.
    """
    files = {file: dict(lines) for file, lines in tensors.items() if file not in patch.drop_files}
    for old, new in patch.rename.items():
        _rename(files, old, new)
    if patch.prefix:
        files = {
            file: {patch.prefix + pattern: line for pattern, line in lines.items()} for file, lines in files.items()
        }
    if patch.drop or patch.tensors:
        files = {file: _masks_kept(lines, (*patch.drop, *patch.tensors)) for file, lines in files.items()}
    for glob in patch.drop:
        if not _drop(files, glob):
            raise UsageError(f"patch: there is no tensor {glob!r} to drop")
    for pattern, line in patch.tensors.items():
        parse_line(line)
        _put(files, pattern, line)
    return files


def _json_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and value.startswith(_JSON):
        try:
            parsed: JsonValue = json.loads(value.removeprefix(_JSON))
        except json.JSONDecodeError as error:
            raise UsageError(f"patch: {value!r}: {error}") from error
        return parsed
    return value


def _tokens(pointer: str) -> list[str]:
    if not pointer.startswith("/"):
        raise UsageError(f"patch: {pointer!r} is no JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def _set(root: JsonValue, pointer: str, value: JsonValue) -> None:
    *parents, last = _tokens(pointer)
    node = root
    for token in parents:
        node = node.setdefault(token, {}) if isinstance(node, dict) else _item(node, token, pointer)
    if isinstance(node, dict):
        node[last] = value
    elif isinstance(node, list) and last == "-":
        node.append(value)
    elif isinstance(node, list) and last.isdecimal() and int(last) < len(node):
        node[int(last)] = value
    else:
        raise UsageError(f"patch: {pointer} leads nowhere")


def _remove(root: JsonValue, pointer: str) -> None:
    *parents, last = _tokens(pointer)
    node = root
    for token in parents:
        node = _item(node, token, pointer)
    _item(node, last, pointer)
    if isinstance(node, dict):
        del node[last]
    elif isinstance(node, list):
        del node[int(last)]


def _item(node: JsonValue, token: str, pointer: str) -> JsonValue:
    if isinstance(node, dict) and token in node:
        return node[token]
    if isinstance(node, list) and token.isdecimal() and int(token) < len(node):
        return node[int(token)]
    raise UsageError(f"patch: {pointer} is not in config.json")


def _sift(lines: Mapping[str, str], begin: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, str, bool]]:
    """Every line and whether its name is wanted; a pattern is spelt out only if it is wanted in part.

    Args:
        lines: the lines of one file.
        begin: what every wanted name begins with; patterns that cannot begin so are not looked into.
        wanted: decides about one name.
    """
    for pattern, line in lines.items():
        head = literal_head(pattern)
        if not (head.startswith(begin) or begin.startswith(head)):
            yield pattern, line, False
            continue
        answers = [(name, wanted(name)) for name in expand(pattern)]
        if len({answer for _, answer in answers}) == 1:
            yield pattern, line, answers[0][1]
        else:
            yield from ((name, line, answer) for name, answer in answers)


def _rename(files: dict[str, dict[str, str]], old: str, new: str) -> None:
    found = False
    for file, lines in files.items():
        renamed: dict[str, str] = {}
        for pattern, line, hit in _sift(lines, old, lambda name: name.startswith(old)):
            found = found or hit
            names = [pattern] if not hit or pattern.startswith(old) else expand(pattern)
            renamed.update({(new + name.removeprefix(old) if hit else name): line for name in names})
        files[file] = renamed
    if not found:
        raise UsageError(f"patch: no tensor's name starts with {old!r}")


def _drop(files: dict[str, dict[str, str]], glob: str) -> bool:
    found = False
    for file, lines in files.items():
        sifted = list(_sift(lines, glob.split("*", 1)[0], lambda name: fnmatchcase(name, glob)))
        found = found or any(hit for _, _, hit in sifted)
        files[file] = {name: line for name, line, hit in sifted if not hit}
    return found


def _put(files: dict[str, dict[str, str]], pattern: str, line: str) -> None:
    """Add a line, or put it in the place of what it names."""
    holder = next((file for file, lines in files.items() if pattern in lines), None)
    if holder is None:
        for name in expand(pattern):
            known = next((file for file, lines in files.items() if name in expanded(lines)), None)
            if known is not None:
                holder = known
                _drop(files, name)
    files.setdefault(holder or next(iter(files), WHOLE), {})[pattern] = line


def _masks_kept(lines: dict[str, str], touched: Sequence[str]) -> dict[str, str]:
    kept = dict(lines)
    for name, text in lines.items():
        line = parse_line(text)
        other = line.values and referenced(line.values)
        if other and any(fnmatchcase(known, glob) for glob in touched for known in (other, f"*.{other}")):
            kept[name] = TensorLine(line.dtype, line.shape, written(values_in(expanded(lines), name))).text
    return kept
