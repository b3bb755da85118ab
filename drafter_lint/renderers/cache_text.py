"""What the cache holds, as text or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Protocol

from drafter_lint.renderers.ink import aligned, clean, plain, size
from drafter_lint.renderers.style import Style


class Usage(Protocol):
    """How much is kept: the part of the store's own account that is told."""

    @property
    def entries(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def labels(self) -> Mapping[str, int]: ...


def render(folder: str | None, usage: Usage | None, format_: str, style: Style) -> str:
    """Where it is, how much it holds and of which repositories; ``folder`` is None if nothing is kept."""
    if format_ == "json":
        return _json(folder, usage, style)
    return plain(_lines(folder, usage), style)


def _json(folder: str | None, usage: Usage | None, style: Style) -> str:
    entry = {
        "schema": 1,
        "folder": folder,
        "entries": usage.entries if usage else 0,
        "bytes": usage.bytes if usage else 0,
        "most_bytes": usage.most if usage else 0,
        "repositories": [
            {"endpoint": endpoint, "name": name, "entries": count} for endpoint, name, count in _repositories(usage)
        ],
    }
    return json.dumps(entry, indent=2, ensure_ascii=not style.unicode) + "\n"


def _lines(folder: str | None, usage: Usage | None) -> Iterator[str]:
    if folder is None or usage is None:
        yield "nothing is kept: DRAFTER_LINT_CACHE is empty"
        return
    yield clean(folder)
    entries = f"{usage.entries} {'entry' if usage.entries == 1 else 'entries'}"
    of = "repository" if len(usage.labels) == 1 else "repositories"
    yield f"{entries} of {len(usage.labels)} {of}, {size(usage.bytes)} of at most {size(usage.most)}"
    rows = [(clean(name), f"{count}", clean(endpoint)) for endpoint, name, count in _repositories(usage)]
    yield from (f"  {line}" for line in aligned(rows)) if rows else ()


def _repositories(usage: Usage | None) -> Iterator[tuple[str, str, int]]:
    for label, count in usage.labels.items() if usage else ():
        endpoint, _, name = label.partition(" ")
        yield endpoint, name, count
