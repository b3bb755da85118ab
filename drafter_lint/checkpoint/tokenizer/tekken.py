"""The vocabulary of a tekken.json, Mistral's own file: special tokens first, then the ranks.

mistral_common, tokens/tokenizers/tekken.py: id = rank + default_num_special_tokens, and of the ranks only as many as
``default_vocab_size`` leaves room for are used.
"""

from __future__ import annotations

import binascii

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.tokenizer.members import members
from drafter_lint.checkpoint.tokenizer.vocabulary import MAX_TOKENS, Kind, Vocabulary, check_count, index_of
from drafter_lint.errors import Trouble, Unavailable

FILE = "tekken.json"
MAX_BYTES = 64 * 1024 * 1024
Ranks = list[tuple[object, object]]


def read_tekken(data: bytes, *, file: str, what: str) -> Vocabulary:
    """Read a tekken.json. Older ones do not list the special tokens, which then stand in Mistral's library.

    Raises:
        Unavailable: it is none, or over our bounds.
    """
    parts = members(data, ("config", "vocab", "special_tokens"), what=what)
    if "config" not in parts or "vocab" not in parts:
        raise Unavailable(Trouble.MALFORMED, what, "has no config or no vocab")
    config = _built(parts["config"], what=what)
    if not isinstance(config, dict):
        raise Unavailable(Trouble.MALFORMED, what, "its config is no object")
    size = index_of(config.get("default_vocab_size"), what=what)
    specials = index_of(config.get("default_num_special_tokens"), what=what)
    tokens: list[bytes | None] = [None] * size
    for rank, token in _ranked(parts["vocab"], "token_bytes", what=what):
        index = specials + index_of(rank, what=what)
        if index < size:
            tokens[index] = _decoded(token, what=what)
    listed = _ranked(parts["special_tokens"], "token_str", what=what) if "special_tokens" in parts else []
    for rank, text in listed:
        index = index_of(rank, what=what)
        if index < size and isinstance(text, str):
            tokens[index] = text.encode("utf-8", "surrogatepass")
    return Vocabulary(
        file=file,
        kind=Kind.BYTE_LEVEL,
        tokens=tuple(tokens),
        added=frozenset(range(min(specials, size))),
        complete=bool(listed),
    )


def _built(data: bytes, *, what: str) -> object:
    return bounded_json.parse(data, what=what, values=10_000, pairs=bounded_json.unique)


def _ranked(data: bytes, text: str, *, what: str) -> Ranks:
    """The entries of a list, each as its rank and one of its texts: nothing else of it is kept."""

    def entry(pairs: list[tuple[str, object]]) -> tuple[object, object]:
        table = dict(pairs)
        return table.get("rank"), table.get(text)

    values = bounded_json.parse(data, what=what, values=5 * MAX_TOKENS, pairs=entry)
    found = values if isinstance(values, list) else []
    check_count(len(found), what=what)
    if not all(isinstance(value, tuple) for value in found):
        raise Unavailable(Trouble.MALFORMED, what, "an entry is no object")
    return found


def _decoded(token: object, *, what: str) -> bytes:
    try:
        return binascii.a2b_base64(token, strict_mode=True) if isinstance(token, str) else b""
    except (binascii.Error, ValueError):
        raise Unavailable(Trouble.MALFORMED, what, "token_bytes is not base64") from None
