"""The vocabulary of a tokenizer.json, as the tokenizers library writes it."""

from __future__ import annotations

from collections.abc import Mapping

from drafter_lint.checkpoint import bounded_json
from drafter_lint.checkpoint.tokenizer.members import members
from drafter_lint.checkpoint.tokenizer.vocabulary import (
    MAX_TOKENS,
    AddedToken,
    Kind,
    Vocabulary,
    by_id,
    canonical,
    check_count,
    index_of,
    kind_of,
)
from drafter_lint.errors import Trouble, Unavailable

FILE = "tokenizer.json"
#: Gemma 3's, the largest published, has 33 MB.
MAX_BYTES = 64 * 1024 * 1024
#: Values a part may hold: Unigram lists a piece and its score for each token; an added token has up to eight members.
_IN_OBJECT, _IN_LIST, _IN_ADDED = MAX_TOKENS + 100_000, 3 * MAX_TOKENS, 1_000_000
#: Parts that say how the model's tokens are written.
_WRITERS = ("normalizer", "pre_tokenizer", "decoder")
_WANTED = (*_WRITERS, "added_tokens", "model/type", "model/vocab")


def read_tokenizer_json(data: bytes, *, file: str, what: str) -> Vocabulary:
    """Read a tokenizer.json.

    Raises:
        Unavailable: it is none, or over our bounds.
    """
    parts = members(data, _WANTED, what=what)
    if "model/vocab" not in parts:
        raise Unavailable(Trouble.MALFORMED, what, "has no model with a vocabulary")
    bound = _IN_OBJECT if parts["model/vocab"].startswith(b"{") else _IN_LIST
    tokens = _tokens(bounded_json.table(parts["model/vocab"], what=what, values=bound), what=what)
    kind = _kind(parts) or kind_of(token for token in tokens if token is not None)
    listed = parts.get("added_tokens", b"[]")
    added = _added(bounded_json.parse(listed, what=what, values=_IN_ADDED, pairs=bounded_json.unique), what=what)
    made = Vocabulary(file=file, kind=kind, tokens=canonical(tokens, kind))
    return made.overlaid(added)


def _tokens(vocabulary: object, *, what: str) -> list[str | None]:
    if isinstance(vocabulary, dict):
        return by_id(vocabulary, what=what)
    if not isinstance(vocabulary, list):
        raise Unavailable(Trouble.MALFORMED, what, "its vocabulary is neither an object nor a list")
    check_count(len(vocabulary), what=what)
    tokens: list[str | None] = []
    for entry in vocabulary:  # Unigram: a piece and its score
        if not isinstance(entry, list) or not entry or not isinstance(entry[0], str):
            raise Unavailable(
                Trouble.MALFORMED, what, f"entry {len(tokens)} of its vocabulary is no piece with a score"
            )
        tokens.append(entry[0])
    return tokens


def _kind(parts: Mapping[str, bytes]) -> Kind | None:
    """What the file says of how its tokens are written; None if it says nothing."""
    written = b" ".join(parts.get(key, b"") for key in _WRITERS)
    model = parts.get("model/type", b"")
    if model == b'"WordPiece"':
        return Kind.WORDPIECE
    if b'"ByteLevel"' in written:
        return Kind.BYTE_LEVEL
    spaced = b'"Metaspace"' in written or "\u2581".encode() in written or rb"\u2581" in written
    if spaced or model == b'"Unigram"':
        return Kind.SENTENCEPIECE
    return Kind.PLAIN if model == b'"WordLevel"' else None


def _added(value: object, *, what: str) -> dict[int, AddedToken]:
    added: dict[int, AddedToken] = {}
    for entry in value if isinstance(value, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("content"), str):
            raise Unavailable(Trouble.MALFORMED, what, "an added token has no content")
        added[index_of(entry.get("id"), what=what)] = AddedToken(entry["content"], special=entry.get("special") is True)
    return added
