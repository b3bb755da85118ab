"""What the files of a checkpoint say, without opinion: config, tensor table, vocabulary map, tokenizer."""

from drafter_lint.checkpoint.checkpoint import Checkpoint
from drafter_lint.checkpoint.config import Config
from drafter_lint.checkpoint.document import Document, Problem, Span
from drafter_lint.checkpoint.head_rows import EqualRows
from drafter_lint.checkpoint.tensors import IndexDisagreement, Tensor, TensorTable
from drafter_lint.checkpoint.tokenizer import Tokenizer
from drafter_lint.checkpoint.vocab_map import VocabMap

__all__ = [
    "Checkpoint",
    "Config",
    "Document",
    "EqualRows",
    "IndexDisagreement",
    "Problem",
    "Span",
    "Tensor",
    "TensorTable",
    "Tokenizer",
    "VocabMap",
]
