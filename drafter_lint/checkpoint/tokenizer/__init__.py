"""What the tokenizer files of a checkpoint say, whatever their kind, and how two of them compare."""

from drafter_lint.checkpoint.tokenizer.comparing import (
    Difference,
    Parity,
    Relation,
    compare,
    compare_vocabularies,
    shown_token,
)
from drafter_lint.checkpoint.tokenizer.declared import Part, SpecialIds
from drafter_lint.checkpoint.tokenizer.templates import ChatTemplate
from drafter_lint.checkpoint.tokenizer.tokenizer import Tokenizer
from drafter_lint.checkpoint.tokenizer.vocabulary import AddedToken, Kind, Vocabulary

__all__ = [
    "AddedToken",
    "ChatTemplate",
    "Difference",
    "Kind",
    "Parity",
    "Part",
    "Relation",
    "SpecialIds",
    "Tokenizer",
    "Vocabulary",
    "compare",
    "compare_vocabularies",
    "shown_token",
]
