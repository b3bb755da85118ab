"""A document with launch commands under change: an edit counts only if reading the document again proves it.

A document may be a shell script, a manifest, a Dockerfile or a program. No edit is trusted for its form: the changed
document, read as it is read for a check, must hold the command with exactly the words intended, and every other command
as it was.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from drafter_lint.errors import UsageError
from drafter_lint.findings import AddArguments, ReplaceArgument
from drafter_lint.fixes.change import CannotEdit
from drafter_lint.fixes.command_places import Placed, additions, members, replacements
from drafter_lint.launch import LaunchRequest, parse_command
from drafter_lint.launch.files import LaunchCommand, find_commands

_OVERLAPS = "overlaps with another fix of the same words; run again after it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words of one command under change.

    Attributes:
        line: where it started when it was checked.
        checked: its words then.
        argv: its words now.
        origin: for each word now, its index then; None for one that was added.
        replaced: what was put in place of words, by their index then.
        added: what was added.
    """

    line: int | None
    checked: tuple[str, ...]
    argv: tuple[str, ...]
    origin: tuple[int | None, ...]
    replaced: Mapping[int, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()

    @classmethod
    def of(cls, command: LaunchCommand) -> Words:
        """A command as written."""
        argv = command.request.argv
        return cls(line=command.source.line, checked=argv, argv=argv, origin=tuple(range(len(argv))))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchDocument:
    """A document under change; each edit makes a new one.

    Attributes:
        file: its path, which decides how it is read.
        text: as it is now.
        variables: what the user says unknown variables are.
        commands: the words of every command, in the order written.
    """

    file: str
    text: str
    variables: Mapping[str, str]
    commands: tuple[Words, ...]

    @classmethod
    def read(cls, text: str, *, file: str, variables: Mapping[str, str]) -> LaunchDocument:
        """A document as written."""
        found = find_commands(text, file=file, variables=variables).commands
        return cls(file=file, text=text, variables=variables, commands=tuple(map(Words.of, found)))

    def after(
        self, edits: Iterable[ReplaceArgument | AddArguments], *, line: int | None, argv: Sequence[str]
    ) -> LaunchDocument:
        """The document with some edits of the command that starts on a line and consists of ``argv``.

        Raises:
            CannotEdit: there is no such command, or one of the edits cannot be placed beyond doubt.
        """
        mine = [n for n, words in enumerate(self.commands) if words.line == line and words.checked == tuple(argv)]
        if len(mine) != 1:
            raise CannotEdit(
                "the file does not hold the command as it was checked" if not mine else "it is there twice"
            )
        document, number = self, mine[0]
        more: list[str] = []
        for edit in edits:
            if isinstance(edit, AddArguments):
                more += edit.values
            else:
                document = document.replacing(number, edit)
        return document.adding(number, tuple(more)) if more else document

    def replacing(self, number: int, edit: ReplaceArgument) -> LaunchDocument:
        """With another word in place of one of a command's."""
        words = self.commands[number]
        if (done := words.replaced.get(edit.index)) is not None:
            if alike(done, edit.value):
                return self
            raise CannotEdit(_OVERLAPS)
        if edit.index not in words.origin:
            raise CannotEdit("the command has no such word")
        index = words.origin.index(edit.index)
        argv = (*words.argv[:index], edit.value, *words.argv[index + 1 :])
        wanted = replace(words, argv=argv, replaced={**words.replaced, edit.index: edit.value})
        tried = replacements(self.text, self._request(number), index=index, value=edit.value)
        return self._first(tried, number, wanted=lambda _: wanted)

    def adding(self, number: int, values: tuple[str, ...]) -> LaunchDocument:
        """With more words in a command."""
        words = self.commands[number]
        if values == words.added:
            return self
        if words.added:
            raise CannotEdit(_OVERLAPS)
        request = self._request(number)

        def wanted(index: int) -> Words | None:
            argv = (*words.argv[:index], *values, *words.argv[index:])
            if not _only_adds(request, argv, values):
                return None
            origin = (*words.origin[:index], *(None for _ in values), *words.origin[index:])
            return replace(words, argv=argv, origin=origin, added=values)

        return self._first(additions(self.text, request, values), number, wanted=wanted)

    def _first(self, tried: Iterable[Placed], number: int, *, wanted: Callable[[int], Words | None]) -> LaunchDocument:
        before = self._found()
        for placed in tried:
            words = wanted(placed.index)
            if words is None or not _sound(self.file, self.text, placed.text):
                continue
            commands = (*self.commands[:number], words, *self.commands[number + 1 :])
            after = find_commands(placed.text, file=self.file, variables=self.variables).commands
            if len(after) == len(before) and all(map(_same, before, after, commands)):
                return replace(self, text=placed.text, commands=commands)
        raise CannotEdit("where the words belong in this file is not beyond doubt")

    def _found(self) -> tuple[LaunchCommand, ...]:
        return find_commands(self.text, file=self.file, variables=self.variables).commands

    def _request(self, number: int) -> LaunchRequest:
        return self._found()[number].request


def alike(one: str, other: str) -> bool:
    """True if two words mean the same: the same characters, or the same JSON behind the same beginning."""
    if one == other:
        return True
    mine, theirs = members(one), members(other)
    same_start = one.partition("{")[0] == other.partition("{")[0]
    return mine is not None and theirs is not None and same_start and json.dumps(mine) == json.dumps(theirs)


def _same(before: LaunchCommand, after: LaunchCommand, words: Words) -> bool:
    request, was = after.request, before.request
    same_words = len(request.argv) == len(words.argv) and all(map(alike, request.argv, words.argv))
    return (
        same_words
        and after.engine == before.engine
        and {name: item.value for name, item in request.environment.items()}
        == {name: item.value for name, item in was.environment.items()}
        and (after.version and after.version.value) == (before.version and before.version.value)
        and after.unresolved == before.unresolved
        and len(after.lost) <= len(before.lost)
    )


def _only_adds(before: LaunchRequest, argv: tuple[str, ...], values: tuple[str, ...]) -> bool:
    """True if the longer command says all it said, and the added words besides."""
    try:
        after = parse_command(argv, engine=before.engine)
        more = parse_command(values, engine=before.engine)
    except UsageError:
        return False
    said = {name: option.value for name, option in before.options.items()}
    added = {name: option.value for name, option in more.options.items()}
    return (
        {name: option.value for name, option in after.options.items()} == {**said, **added}
        and len(after.unknown) == len(before.unknown) + len(more.unknown)
        and len(after.problems) == len(before.problems) + len(more.problems)
    )


def _sound(file: str, before: str, after: str) -> bool:
    """False if a document of a strict kind was well formed and no longer is."""
    name = file.lower()
    if name.endswith((".json", ".ipynb")):
        return _parses_json(after) or not _parses_json(before)
    return not name.endswith(".py") or _parses_python(after) or not _parses_python(before)


def _parses_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _parses_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True
