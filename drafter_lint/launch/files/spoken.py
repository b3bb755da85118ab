"""Words cut and judged: whether they start an engine, hand a script to a shell, or merely speak of one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drafter_lint.launch.command import find_program
from drafter_lint.launch.files.quoting import Unclosed, plain_words
from drafter_lint.launch.files.traced import Traced

# Modules that start an engine inside and hand its flags on, beside flags of their own (ai-dynamo).
_PASSING = re.compile(r"dynamo\.(?P<engine>sglang|vllm)(?:\.(?:main|worker))*")
ASSIGNED = re.compile(r"([A-Za-z_]\w*)=")
# Words in front of an engine's name that speak of it without starting it.
_TALK = {
    "echo", "printf", "grep", "egrep", "pgrep", "pkill", "killall", "sed", "awk", "cat", "log", "logger", "which",
    "info", "warn", "error", "die", "usage", "pip", "pip3", "test", "[", "[[", "alias", "complete", "man", "ls", ":",
    "curl", "git", "trap", "read", "local", "export", "apt-get", "help", "print", "find", "ps", "type",
}  # fmt: skip
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_SHELL_FLAG = re.compile(r"-[a-z]*c")
_PROSE = re.compile(r"[,:;]$|^\[|^(?:INFO|WARNING|ERROR|DEBUG)\b")


def plain(text: Traced) -> list[Traced]:
    """Text cut into words with its quotes taken off, nothing expanded; none if a quote is not closed."""
    try:
        return [unquoted(text.cut(*span)) for span in plain_words(text.text)]
    except Unclosed:
        return []


def unquoted(word: Traced) -> Traced:
    """A word without its quotes; ``$`` and templates stay as they are."""
    kept: list[int] = []
    quote, position = "", 0
    text = word.text
    while position < len(text):
        character = text[position]
        if quote:
            if character == quote:
                quote = ""
            elif character == "\\" and quote == '"' and text[position + 1 : position + 2] in {'"', "\\", "$", "`"}:
                position += 1
                kept.append(position)
            else:
                kept.append(position)
        elif character in "'\"":
            quote = character
        elif character == "\\" and position + 1 < len(text):
            position += 1
            if text[position] != "\n":
                kept.append(position)
        else:
            kept.append(position)
        position += 1
    return word.pick("".join(text[index] for index in kept), kept)


def starts_engine(words: Sequence[Traced]) -> bool:
    """True if the words start an engine and do not merely speak of one."""
    texts = [word.text for word in words]
    if not texts or is_talk(texts):
        return False
    return find_program(texts) is not None or script_at(texts) is not None or passed_on(texts) is not None


def passed_on(texts: Sequence[str]) -> tuple[str, int] | None:
    """The engine a wrapper's module starts, and the index of the first word behind the module."""
    for index in range(1, len(texts)):
        if texts[index - 1] == "-m" and (match := _PASSING.fullmatch(texts[index])):
            return match["engine"], index + 1
    return None


def is_talk(texts: Sequence[str]) -> bool:
    """True for words that speak of an engine: an echo, a search for its process, a line of a log."""
    if first_word(texts) in _TALK:
        return True
    program = find_program(texts)
    before = texts[: program.before] if program is not None else ()
    return any(_PROSE.search(text) for text in before if not ASSIGNED.match(text) and not text.startswith("-"))


def first_word(texts: Sequence[str]) -> str:
    for text in texts:
        if not ASSIGNED.match(text) and text not in {
            "sudo",
            "exec",
            "command",
            "time",
            "nohup",
            "!",
            "env",
            "then",
            "do",
        }:
            return text.rpartition("/")[2]
    return ""


def script_at(texts: Sequence[str]) -> int | None:
    """The index of the word a shell is told to run: ``bash -lc "…"``."""
    for index, text in enumerate(texts):
        if _SHELLS.fullmatch(text.rpartition("=")[2]):
            for ahead in range(index + 1, len(texts) - 1):
                if _SHELL_FLAG.fullmatch(texts[ahead]):
                    return ahead + 1 if texts[ahead + 1] != "--" else ahead + 2 if ahead + 2 < len(texts) else None
            return None
    return None
