"""The words of a command: where each stands, which part of it is a value, and what a shell or template left open."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from drafter_lint.findings import Located, Location

Locate = Callable[[int], Location]
# The place of a part of a word: its index, and from which character up to which.
Place = Callable[[int, int, int], Location]

_PLACEHOLDER = re.compile(
    r"""
      \$\(\( .{0,200}? \)\)                    # $((N + 1)); bounded, as every opening is tried
    | \$\( [^()]* \)                           # $(MODEL), a Kubernetes variable or a command
    | \$\{ (?: [^{}] | \{[^{}]{0,200}\} ){0,200} \}  # ${MODEL:-x}
    | \$ (?: [A-Za-z_]\w* | [0-9@*] )          # $MODEL, $1
    | \{\{ -? \s* [.$A-Za-z_] [^{}]* \}\}      # {{ .ModelPath }}
    | (?<!\ufdd0) \{ [A-Za-z_] [\w.]* \}                   # {tensor_parallel}
    | __ [A-Z] [A-Z0-9_]* __                   # __IMAGE__
    """,
    re.VERBOSE | re.DOTALL,
)
_ANGLED = re.compile(r"<<?[A-Za-z_][\w .:/-]*>>?")
# Stands for a dollar that nobody replaces (single quotes, a backslash) while a command is read; no text has it.
_LITERAL_DOLLAR = "\ufdd0"
_PROTECTED = re.compile(r"\$(?=\w|\{(?!\{))")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_SECRET_FLAG = re.compile(r"--[\w-]*(?:api[-_]key|hf[-_]token|password)$")
_HUB_TOKEN = re.compile(r"hf_[A-Za-z0-9]{16,}")
_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
ASSIGNMENT = re.compile(r"(?:--env=)?([A-Za-z_]\w*)=")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one word: from ``start`` up to, not including, ``end``."""

    index: int
    start: int
    end: int


class Line:
    """A command's words, and the place of every part of them.

    Without ``locate`` the places are in the command written on one line, quoted as a shell needs it. With it, a word's
    own place is asked for and narrowed to the part where the source text shows it; ``place`` knows every part's.
    """

    def __init__(self, words: Sequence[str], locate: Locate | None = None, place: Place | None = None) -> None:
        self.words = tuple(words)
        self._locate = locate
        self._place = place
        quoted = [shlex.quote(word) for word in self.words]
        self._text = " ".join(quoted).translate(_LINE_BREAKS)
        self._starts: list[int] = []
        position = 0
        for word in quoted:
            self._starts.append(position)
            position += len(word) + 1

    def whole(self, index: int) -> Span:
        """All of a word."""
        return Span(index, 0, len(self.words[index]))

    def text(self, span: Span) -> str:
        """The characters of a span."""
        return self.words[span.index][span.start : span.end]

    def at(self, span: Span) -> Location:
        """The place of a span."""
        if self._place is not None:
            return self._place(span.index, span.start, span.end)
        if self._locate is not None:
            return self._narrowed(self._locate(span.index), span)
        start, end = self._offset(span.index, span.start), self._offset(span.index, span.end)
        if start == end and start:
            start -= 1  # nothing stands behind "--flag=": the "=" is what can be pointed at
        return Location(
            role="launch",
            subject="command line",
            argument=span.index,
            text=self._text,
            column=self._starts[span.index] + start + 1,
            width=max(end - start, 1),
        )

    def located(self, span: Span) -> Located[str]:
        """The characters of a span, as they are to be shown, with their place."""
        return Located(plain(self.text(span)), self.at(span))

    def _offset(self, index: int, position: int) -> int:
        """Where a character of a word stands in its quoted form; shlex.quote writes ' as '"'"'."""
        word = self.words[index]
        if shlex.quote(word) == word:
            return position
        return 1 + position + 4 * word.count("'", 0, position)

    def _narrowed(self, place: Location, span: Span) -> Location:
        if place.text is None or place.column is None or span == self.whole(span.index):
            return place
        shown = place.text[place.column - 1 :][: place.width]
        part = self.text(span)
        # The characters before the span are the best hint where it starts; quoting may have moved it to the right.
        for wanted in (part, part.strip('"')):
            found = shown.find(wanted, span.start) if wanted else -1
            if found < 0 and wanted:
                found = shown.find(wanted)
            if found >= 0:
                return Location(
                    role=place.role,
                    subject=place.subject,
                    file=place.file,
                    line=place.line,
                    column=place.column + found,
                    width=len(wanted),
                    pointer=place.pointer,
                    argument=place.argument,
                    text=place.text,
                    label=place.label,
                )
        return place


def placeholders(text: str) -> tuple[tuple[int, int], ...]:
    """The parts of a word that a shell, a template or a reader was to fill in, as (start, end).

    ``<target_model>`` counts outside JSON only, where ``<think>`` is a token and no gap.
    """
    found = [match.span() for match in _PLACEHOLDER.finditer(text)]
    if not text.lstrip().startswith(("{", "[")):
        found += [match.span() for match in _ANGLED.finditer(text)]
    return tuple(sorted(found))


def protected(text: str) -> str:
    """Quoted text whose dollars are no variables; ``${{ … }}`` and ``$(…)``, which others fill in, stay gaps."""
    return _PROTECTED.sub(_LITERAL_DOLLAR, text)


def plain(text: str) -> str:
    """The same with its dollars back."""
    return text.replace(_LITERAL_DOLLAR, "$")


def masked(words: Sequence[str]) -> tuple[str, ...]:
    """The words with every secret replaced by asterisks of the same length: they end up in reports."""
    result: list[str] = []
    for index, word in enumerate(words):
        start = len(word)
        if match := ASSIGNMENT.match(word):
            start = match.end() if _SECRET_NAME.search(match[1]) else start
        elif _SECRET_FLAG.match(word.partition("=")[0]):
            start = len(word.partition("=")[0]) + 1
        elif index and _SECRET_FLAG.match(words[index - 1]) and not word.startswith("-"):
            start = 0
        if start < len(word) and not placeholders(word[start:]):
            word = word[:start] + "*" * (len(word) - start)  # noqa: PLW2901
        result.append(_HUB_TOKEN.sub(lambda token: "*" * len(token[0]), word))
    return tuple(result)
