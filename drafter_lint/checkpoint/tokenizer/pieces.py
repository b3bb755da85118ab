"""The vocabulary of a SentencePiece model: the pieces of its protobuf message, read without a protobuf library.

sentencepiece_model.proto: field 1 of ModelProto is a piece, with its text in field 1 and its type in field 3.
"""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint.tokenizer.vocabulary import Kind, Vocabulary, check_count, from_piece
from drafter_lint.errors import Trouble, Unavailable

MAX_BYTES = 32 * 1024 * 1024
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_PIECES, _TEXT, _TYPE = 1, 1, 3
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED = 1, 2, 3, 4


def read_pieces(data: bytes, *, file: str, what: str) -> Vocabulary:
    """Read a tokenizer.model.

    Raises:
        Unavailable: it is no such message, or over our bounds.
    """
    tokens: list[bytes | None] = []
    added: set[int] = set()
    try:
        for place, (number, start, end) in enumerate(_fields(data, 0, len(data))):
            check_count(place, what=what)
            if number != _PIECES:
                continue
            text, kind = b"", _NORMAL
            for field, first, last in _fields(data, start, end):
                if field == _TEXT:
                    text = data[first:last]
                elif field == _TYPE:
                    kind = first
            if kind in {_UNKNOWN, _CONTROL, _USER_DEFINED}:
                added.add(len(tokens))
            tokens.append(from_piece(text.decode()))
    except (IndexError, UnicodeDecodeError, ValueError):
        raise Unavailable(Trouble.MALFORMED, what, "no SentencePiece model: its fields do not add up") from None
    if not tokens:
        raise Unavailable(Trouble.MALFORMED, what, "no SentencePiece model: it holds no pieces")
    return Vocabulary(file=file, kind=Kind.SENTENCEPIECE, tokens=tuple(tokens), added=frozenset(added))


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Field number with where its bytes begin and end; with its value in the place of both if it is a number."""
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _varint(data, at - 1)
        wire = tag & 7
        if wire == _BYTES:
            size = data[at]
            at += 1
            if size > 127:
                size, at = _varint(data, at - 1)
            first, at = at, at + size
            found = (tag >> 3, first, at)
        elif wire == _VARINT:
            value, at = _varint(data, at)
            found = (tag >> 3, value, value)
        elif wire in {_FIXED32, _FIXED64}:
            first, at = at, at + (4 if wire == _FIXED32 else 8)
            found = (tag >> 3, first, at)
        else:
            raise ValueError(wire)
        if at > end:
            raise ValueError(at)
        yield found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError(at)
