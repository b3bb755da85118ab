"""A command written as shell text, cut into words; nothing is expanded and nothing is run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drafter_lint.errors import UsageError
from drafter_lint.launch.command import assignments, find_program, shell_script

# Text a template engine or a reader fills in; a shell would see redirections and blanks in it.
_TEMPLATE = re.compile(r"<<?[A-Za-z_][\w .:/-]*>>?|\{\{[^{}\n]*\}\}")
_CLOSERS = {"{": "}", "(": ")"}


@dataclass(slots=True)
class _Reader:
    """Where the cutting stands: the commands so far, the words of this one, the characters of this word."""

    text: str
    position: int = 0
    commands: list[list[str]] = field(default_factory=lambda: [[]])
    word: list[str] | None = None
    skip_next: bool = False

    def add(self, characters: str) -> None:
        if self.word is None:
            self.word = []
        self.word.append(characters)

    def end_word(self) -> None:
        if self.word is not None:
            if not self.skip_next:
                self.commands[-1].append("".join(self.word))
            self.skip_next = False
            self.word = None

    def end_command(self) -> None:
        self.end_word()
        self.skip_next = False
        if self.commands[-1]:
            self.commands.append([])


def split_command(text: str) -> tuple[str, ...]:
    """The words of the engine's command in some shell text; of the first command when none starts an engine.

    Continued lines are joined, comments and redirections dropped, pipes and ``;`` end a command, and what earlier
    commands ``export`` is put in front.

    Raises:
        UsageError: a quote is not closed.
    """
    commands = split_commands(text)
    exported: list[str] = []
    for words in commands:
        if find_program(words) is not None or shell_script(words) is not None:
            return (*exported, *words)
        if words[0] == "export":
            exported += [words[1 + index] for index, _, _ in assignments(words[1:])]
    return commands[0] if commands else ()


def split_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Every command in some shell text, as words; empty ones left out.

    Raises:
        UsageError: a quote is not closed.
    """
    reader = _Reader(text)
    while reader.position < len(text):
        _step(reader)
    reader.end_command()
    commands = [words[1:] if words[0] == "$" else words for words in reader.commands if words]
    return tuple(tuple(words) for words in commands if words)


def _step(reader: _Reader) -> None:
    text, at = reader.text, reader.position
    character = text[at]
    reader.position += 1
    if character in "\\'\"$`" or _TEMPLATE.match(text, at):
        _quoted(reader, character, at)
    elif character == "#" and reader.word is None:
        end = text.find("\n", at)
        reader.position = len(text) if end < 0 else end
    elif character in "<>":
        _redirection(reader)
    elif character in "\n;&|()":
        reader.end_command()
    elif character.isspace():
        reader.end_word()
    else:
        reader.add(character)


def _quoted(reader: _Reader, character: str, at: int) -> None:
    """Take characters that do not stand for themselves, or that a template engine replaces."""
    text = reader.text
    if character == "\\":
        newline = re.compile(r"\r?\n").match(text, at + 1)
        reader.position = newline.end() if newline else at + 2
        if not newline:
            reader.add(text[at + 1 : at + 2])
    elif character == "'":
        reader.position = _find(text, "'", at + 1) + 1
        reader.add(text[at + 1 : reader.position - 1])
    elif character == '"':
        _double_quoted(reader)
    else:
        if match := _TEMPLATE.match(text, at):
            reader.position = match.end()
        elif character == "`":
            reader.position = _find(text, "`", at + 1) + 1
        elif text[at + 1 : at + 2] in _CLOSERS:
            reader.position = _closing(text, at + 1)
        reader.add(text[at : reader.position])


def _redirection(reader: _Reader) -> None:
    if reader.word is not None and "".join(reader.word).isdigit():
        reader.word = None  # the number of a stream: 2>
    reader.end_word()
    while reader.text[reader.position : reader.position + 1] in {"<", ">", "&", "|"}:
        reader.position += 1
    reader.skip_next = True


def _double_quoted(reader: _Reader) -> None:
    text, at = reader.text, reader.position
    reader.add("")
    while text[at : at + 1] != '"':
        if at >= len(text):
            raise UsageError("a double quote in the command is not closed")
        if text[at] == "\\" and text[at + 1 : at + 2] in {"$", "`", '"', "\\", "\n"}:
            reader.add(text[at + 1].strip("\n"))
            at += 2
        elif text[at] == "$" and text[at + 1 : at + 2] in _CLOSERS:
            end = _closing(text, at + 1)
            reader.add(text[at:end])
            at = end
        else:
            reader.add(text[at])
            at += 1
    reader.position = at + 1


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one at ``at``; the end of the text if none does."""
    depth = 0
    for position in range(at, len(text)):
        if text[position] == text[at]:
            depth += 1
        elif text[position] == _CLOSERS[text[at]]:
            depth -= 1
            if depth == 0:
                return position + 1
    return len(text)


def _find(text: str, quote: str, start: int) -> int:
    end = text.find(quote, start)
    if end < 0:
        raise UsageError(f"a quote in the command is not closed: {quote}")
    return end
