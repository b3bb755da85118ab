"""The vocabulary of a tiktoken file: a line for each token, its bytes in base64 and its rank, which is its id."""

from __future__ import annotations

import binascii
import re

from drafter_lint.checkpoint.tokenizer.vocabulary import Kind, Vocabulary, check_count, index_of
from drafter_lint.errors import Trouble, Unavailable

MAX_BYTES = 32 * 1024 * 1024
_FIRST = re.compile(rb"\s*[A-Za-z0-9+/]+=*[ \t]+\d+[ \t]*(?:\r?\n|\Z)")


def looks_like_ranks(start: bytes) -> bool:
    """True if a file begins as a tiktoken file does; Llama 3's original one is called tokenizer.model."""
    return _FIRST.match(start) is not None


def read_ranks(data: bytes, *, file: str, what: str) -> Vocabulary:
    """Read a tiktoken file. It holds no special tokens: those stand in code, or in tokenizer_config.json.

    Raises:
        Unavailable: a line does not follow the form, or the file is over our bounds.
    """
    check_count(data.count(b"\n"), what=what)
    words = data.split()
    check_count(len(words) // 2, what=what)
    table: dict[int, bytes] = {}
    try:
        for encoded, rank in zip(words[::2], words[1::2], strict=True):
            # int() would take a sign, underscores, and thousands of digits.
            index = int(rank) if len(rank) < 10 and rank.isdigit() else -1
            table[index_of(index, what=what)] = binascii.a2b_base64(encoded, strict_mode=True)
    except (binascii.Error, ValueError):
        raise Unavailable(Trouble.MALFORMED, what, "a line is not a token in base64 and a rank") from None
    tokens: list[bytes | None] = [None] * (max(table, default=-1) + 1)
    for index, token in table.items():
        tokens[index] = token
    return Vocabulary(file=file, kind=Kind.BYTE_LEVEL, tokens=tuple(tokens), complete=False)
