"""Effort: how much work one document may ask for, counted and never timed."""

from __future__ import annotations

from drafter_lint.errors import DrafterLintError

# A unit is about the work of one character of a command. No document in fixtures/launch asks for more than
# 8,000 units; two million take about a second.
_BASE = 2_000_000
_EACH_CHARACTER = 4


class TooMuch(DrafterLintError):
    """A document that asks for more work than its size allows."""


def allowed(size: int) -> int:
    """How many units a document of so many characters may ask for."""
    return _BASE + _EACH_CHARACTER * size


class Effort:
    """The work left.

    Attributes:
        left: units that may still be spent.
    """

    def __init__(self, size: int) -> None:
        self.left = allowed(size)

    def spend(self, units: int) -> None:
        """Account for some work that is about to be done.

        Raises:
            TooMuch: nothing is left for it.
        """
        self.left -= units
        if self.left < 0:
            raise TooMuch("it asks for more work than a document of its size may")
