"""The vocabulary of a vocab.json: an object of tokens and ids; the merges.txt beside it says nothing of ids."""

from __future__ import annotations

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.tokenizer.vocabulary import MAX_TOKENS, Vocabulary, by_id, canonical, kind_of
from drafter_lint.errors import Trouble, Unavailable

FILE = "vocab.json"
MAX_BYTES = 32 * 1024 * 1024


def read_vocab_json(data: bytes, *, file: str, what: str) -> Vocabulary:
    """Read a vocab.json.

    Raises:
        Unavailable: it is none, or over our bounds.
    """
    table = bounded_json.parse(data, what=what, values=MAX_TOKENS + 100_000, pairs=bounded_json.unique)
    if not isinstance(table, dict):
        raise Unavailable(Trouble.MALFORMED, what, "is no object of tokens and ids")
    kind = kind_of(table)
    return Vocabulary(file=file, kind=kind, tokens=canonical(by_id(table, what=what), kind))
