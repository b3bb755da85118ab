"""Fixes carried out: which files change and how, what is left to a person, and the writing itself."""

from drafter_lint.fixes.change import FileChange, Fixes, FixFailed, Left, Proposal, TensorChange, TextChange, diff
from drafter_lint.fixes.planning import plan_fixes
from drafter_lint.fixes.writing import apply

__all__ = [
    "FileChange",
    "FixFailed",
    "Fixes",
    "Left",
    "Proposal",
    "TensorChange",
    "TextChange",
    "apply",
    "diff",
    "plan_fixes",
]
