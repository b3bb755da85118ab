"""How a text is drawn: colour, width, characters, and how much of it."""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """What the terminal can show and how much the user wants to see.

    Attributes:
        color: use ANSI colours.
        width: columns to wrap at.
        unicode: False to keep to ASCII.
        quiet: findings only.
        verbose: every check that could not run and all evidence, in full.
    """

    color: bool = False
    width: int = 100
    unicode: bool = True
    quiet: bool = False
    verbose: bool = False
