"""How a shell reads characters: where a word ends, and which quotes, escapes and templates stand in it."""

from __future__ import annotations

import re

from drafter_lint.errors import DrafterLintError

# Text a template engine or a reader fills in; a shell would see redirections, groups and blanks in it.
TEMPLATE = re.compile(
    r"\$\{\{[^{}\n]*\}\}"  # ${{ env.MODEL }}
    r"|\{\{-?[^{}\n]*\}\}"  # {{ .ModelPath }}
    r"|<<[A-Za-z_][\w.-]*>>"  # <<global_vars.model>>
    r"|<[A-Za-z_](?:[\w .:/|-]*[\w.:/])?>"  # <target_model>
)
SKIPPED = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
ARRAY = re.compile(r"([A-Za-z_]\w*)\+?=\(")
_PAIRS = {"(": ")", "{": "}"}
_ENDS = frozenset(" \t\r\f\v\n;&|()<>")
_REDIRECTION = re.compile(r"&?(?:<<<|<<-?|>>|[<>]\|?)&?")


class Unclosed(DrafterLintError):
    """A quote or bracket without its end."""


def single(text: str, at: int) -> int:
    """Behind the single quote that closes the one at ``at``."""
    end = text.find("'", at + 1)
    if end < 0:
        raise Unclosed("a single quote is not closed")
    return end + 1


def double(text: str, at: int) -> int:
    """Behind the double quote that closes the one at ``at``."""
    position = at + 1
    while position < len(text):
        character = text[position]
        if character == '"':
            return position + 1
        if character == "\\":
            position += 2
        elif character == "$" and text[position + 1 : position + 2] in _PAIRS:
            position = bracket(text, position + 1)
        elif character == "`":
            position = backtick(text, position)
        else:
            position += 1
    raise Unclosed("a double quote is not closed")


def ansi(text: str, at: int) -> int:
    """Behind the quote that closes ``$'`` with its quote at ``at``."""
    position = at + 1
    while position < len(text):
        if text[position] == "'":
            return position + 1
        position += 2 if text[position] == "\\" else 1
    raise Unclosed("a single quote is not closed")


def backtick(text: str, at: int) -> int:
    """Behind the backtick that closes the one at ``at``."""
    end = text.find("`", at + 1)
    if end < 0:
        raise Unclosed("a backtick is not closed")
    return end + 1


def bracket(text: str, at: int) -> int:
    """Behind the bracket that closes the one at ``at``, quotes inside respected."""
    opening, closing = text[at], _PAIRS[text[at]]
    depth, position = 0, at
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 2
            continue
        if character in "'\"":
            position = single(text, position) if character == "'" else double(text, position)
            continue
        if character == "#" and opening == "(" and text[position - 1].isspace():
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
            continue
        depth += (character == opening) - (character == closing)
        position += 1
        if depth == 0:
            return position
    raise Unclosed(f"{opening} is not closed")


def word_end(text: str, at: int) -> int:
    """Where the word that starts at ``at`` ends."""
    position = at
    if match := ARRAY.match(text, at):
        return bracket(text, match.end() - 1)
    while position < len(text):
        character = text[position]
        if (template := TEMPLATE.match(text, position)) and not text.startswith("<<<", position):
            position = template.end()
        elif character in _ENDS:
            break
        else:
            position = part_end(text, position)
    return min(position, len(text))


def part_end(text: str, at: int) -> int:
    """Behind the character at ``at``, or behind what it opens: a quote, an escape, ``$(…)``, ``${…}``."""
    character = text[at]
    if character == "\\":
        return at + (3 if text.startswith("\r\n", at + 1) else 2)
    if character == "'":
        return single(text, at)
    if character == '"':
        return double(text, at)
    if character == "`":
        return backtick(text, at)
    if character == "$" and text[at + 1 : at + 2] == "'":
        return ansi(text, at + 1)
    if character == "$" and text[at + 1 : at + 2] in _PAIRS:
        return bracket(text, at + 1)
    return at + 1


def command_words(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """The words of the simple command at ``at``, redirections left out, and where it ends.

    Raises:
        Unclosed: it never ends.
    """
    words: list[tuple[int, int]] = []
    position = at
    while position < len(text):
        if match := SKIPPED.match(text, position):
            position = match.end()
            continue
        character = text[position]
        template = TEMPLATE.match(text, position)
        redirection = None if template and not text.startswith("<<<", position) else _REDIRECTION.match(text, position)
        if redirection and not (character == "&" and len(redirection[0]) == 1):
            if words and words[-1][1] == position and text[words[-1][0] : position].isdigit():
                words.pop()  # the number of a stream: 2>
            position = redirection.end()
            blank = SKIPPED.match(text, position)
            position = blank.end() if blank else position
            inner = text[position : position + 1] == "("
            position = bracket(text, position) if inner else word_end(text, position)
        elif character == "#" or (character in _ENDS and not template):
            break
        else:
            end = max(word_end(text, position), position + 1)
            words.append((position, end))
            position = end
    return words, min(position, len(text))


def plain_words(text: str) -> list[tuple[int, int]]:
    """The words of text that is cut up as a shell would but run by none (compose, systemd).

    Raises:
        Unclosed: a quote is not closed.
    """
    words: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        start = position
        while position < len(text) and not text[position].isspace():
            template = TEMPLATE.match(text, position)
            position = template.end() if template else part_end(text, position)
        words.append((start, min(position, len(text))))
    return words
