"""Text from files made inert for where it goes: Markdown, markup, a workflow command, a URI, a SARIF message."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from urllib.parse import quote

from drafter_lint.renderers.ink import clean

_LONG = 4000
# What starts a construct in the middle of a line, GitHub's tables, strikethrough and mathematics included.
_MARKS = re.compile(r"([\\`*_{}\[\]|~$!])")
# What GitHub turns into a link without any mark around it.
_LINKS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
# Mentions and references are found after rendering, in runs of text; a comment ends a run and shows nothing.
_REFERENCES = re.compile(r"([@#])")
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def sound(text: str, limit: int = _LONG) -> str:
    """One line that every encoder accepts: control and format characters, lone surrogates and newlines as escapes."""
    return clean(text, limit)


def markdown(text: str) -> str:
    """Prose that renders as itself: no markup, link, mention, or reference comes out of it."""
    marked = _MARKS.sub(r"\\\1", html.escape(sound(text), quote=False))
    # References before entities would see the "#" of "&#x27;"; quotation marks are left alone for that reason.
    return _LINKS.sub("<!-- -->", _REFERENCES.sub(r"\1<!-- -->", marked))


def code(text: str, *, cell: bool = False) -> str:
    """A code span; in a table's cell, bars stay inside it."""
    shown = sound(text) or " "
    ticks = "`" * (max(map(len, re.findall(r"`+", shown)), default=0) + 1)
    pad = " " if shown.strip() and (shown[0] in "` " or shown[-1] in "` ") else ""
    return f"{ticks}{pad}{shown.replace('|', chr(92) + '|') if cell else shown}{pad}{ticks}"


def fenced(lines: Iterable[str]) -> str:
    """A code block."""
    body = [sound(line.rstrip(), 10_000) for line in lines]
    ticks = "`" * max(3, max((len(run) for line in body for run in re.findall(r"`+", line)), default=0) + 1)
    return "\n".join([f"{ticks}text", *body, ticks])


def markup(text: str) -> str:
    """Text or a quoted attribute of HTML and XML."""
    return html.escape(_NO_XML.sub("\ufffd", sound(text)))


def block(lines: Iterable[str]) -> str:
    """Several lines of HTML or XML text."""
    return "\n".join(markup(line.rstrip()) for line in lines)


def command_data(text: str) -> str:
    """The message of a workflow command; GitHub's runner undoes exactly these (``@actions/core``, ``escapeData``)."""
    return sound(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """A property of a workflow command, which also ends at a colon or comma (``escapeProperty``)."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def log_line(text: str) -> str:
    """A line of a build's log that is no command: GitHub's runner still obeys ``##[command]`` anywhere in a line."""
    return sound(text).replace("##[", "# #[")


def uri(path: str) -> str:
    """A path as a URI reference: absolute paths with their scheme, everything unusual percent-encoded."""
    forward = path.replace("\\", "/")
    if re.match(r"[A-Za-z]:/", forward):
        return f"file:///{forward[:2]}{quote(forward[2:], safe='/', errors='replace')}"
    if forward.startswith("/"):
        return f"file://{quote(forward, safe='/', errors='replace')}"
    return quote(forward, safe="/", errors="replace")


def message(text: str) -> str:
    """A SARIF plain-text message: no embedded link and no placeholder (SARIF 2.1.0, 3.11.5 and 3.11.6)."""
    return _PLACEHOLDER.sub(r"{{\1}}", sound(text)).replace("](", "] (")
