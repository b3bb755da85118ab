"""A checkpoint written as text, and back: fixtures, bug reports, and what ``record`` prints."""

from drafter_lint.recipe.recipe import Recipe, misread
from drafter_lint.recipe.record import record

__all__ = ["Recipe", "misread", "record"]
