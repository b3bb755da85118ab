"""systemd units: the commands of ``ExecStart=``, which no shell reads."""

from __future__ import annotations

import re

from drafter_lint.launch.files import commands, spoken
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables

_VARIABLE = re.compile(r"\$\$|\$\{(\w+)\}|\$(\w+)")


def search(scan: Scan, text: Traced, variables: Variables) -> None:
    """Find the commands of a unit."""
    inner = variables.copy()
    lines = list(_settings(text))
    for key, value in lines:
        if key == "Environment":
            for word in spoken.plain(value):
                name, equals, _ = word.text.partition("=")
                if equals:
                    inner.assign(name, word.cut(len(name) + 1, len(word)))
                    inner.exported.add(name)
    for key, value in lines:
        if key in {"ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload"}:
            body = value.cut(len(value.text) - len(value.text.lstrip("@-:+!")), len(value))
            words = [_filled(word, inner) for word in spoken.plain(body)]
            if words:
                commands.read(scan, words, inner, image=None, start=body)


def _settings(text: Traced) -> list[tuple[str, Traced]]:
    """The unit's ``Key=value`` lines; continued ones joined, comment lines dropped even inside them."""
    found: list[tuple[str, Traced]] = []
    parts: list[Traced] = []
    position = 0
    for line in text.text.splitlines(keepends=True):
        body = line.rstrip()
        piece = text.cut(position, position + len(body))
        position += len(line)
        if body.lstrip().startswith(("#", ";")) or (not body and not parts):
            continue
        continued = body.endswith("\\")
        parts.append(piece.cut(0, len(body) - 1) if continued else piece)
        if not continued:
            whole = joined(parts, " ")
            key, equals, _ = whole.text.partition("=")
            if equals:
                found.append((key.strip(), whole.cut(len(key) + 1, len(whole)).strip()))
            parts = []
    return found


def _filled(word: Traced, variables: Variables) -> Traced:
    """``$VAR`` and ``${VAR}`` from the unit's own environment; ``$$`` is a dollar."""
    parts: list[Traced] = []
    position = 0
    for match in _VARIABLE.finditer(word.text):
        parts.append(word.cut(position, match.start()))
        name = match[1] or match[2]
        whole = word.cut(*match.span())
        value = variables.value(name) if name else whole.cut(0, 1)
        parts.append(whole if value is None else value.standing_at(whole.extent()) if name else value)
        position = match.end()
    return joined([*parts, word.cut(position, len(word))])
