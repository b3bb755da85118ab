"""How access and file rules speak of a part that could not be read: one sentence, and the place it belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.errors import Trouble
from drafter_lint.findings import Location
from drafter_lint.rule import NotChecked
from drafter_lint.scope import Reading


def unread(at: Reading, *troubles: Trouble) -> Iterator[NotChecked]:
    """Not checked, and needed, if the trouble is one of those named: what was looked at, what was seen, what to try."""
    if at.trouble.trouble in troubles:
        yield NotChecked(f"{at.checkpoint.role} {said(at)}", needed=True)


def said(at: Reading) -> str:
    """``owner/name: config.json: there is no such file; name one of its folders …``."""
    hint = f"; {at.trouble.hint}" if at.trouble.hint else ""
    return f"{at.trouble.what}: {at.trouble.detail}{hint}"


def place(at: Reading, label: str = "") -> Location:
    """The file a trouble is about; ``what`` names it behind the subject, and a tensor behind the file."""
    subject, file, tensor = (*at.trouble.what.split(": ", 2), "", "")[:3]
    return Location(role=at.checkpoint.role, subject=subject, file=file, tensor=tensor or None, label=label)


def about_config(at: Reading) -> bool:
    """True if it is config.json that could not be read."""
    return at.trouble.what.endswith(": config.json")
