"""Small tokenizer files of every kind, written from one table of tokens; nothing of anybody's real ones."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence

from drafter_lint.checkpoint import Checkpoint, Tokenizer
from drafter_lint.checkpoint.tokenizer.vocabulary import ALPHABET
from drafter_lint.reference import Reference
from drafter_lint.sources.memory import MemorySource

Json = Mapping[str, object]
#: A byte-level vocabulary: all bytes in GPT-2's order, then merged tokens.
BYTES: tuple[bytes, ...] = (*(bytes((ALPHABET.index(char),)) for char in sorted(ALPHABET)), b" the", b" foo", b"\n\n")
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6


def tokenizer(files: Mapping[str, bytes | str], name: str = "example/model") -> Tokenizer:
    """The tokenizer of a checkpoint in memory."""
    content = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    source = MemorySource(name, content)
    return Checkpoint(Reference(spelling=name, kind="hub", name=name), source, role="drafter").tokenizer


def alphabet(token: bytes) -> str:
    """Bytes in GPT-2's alphabet."""
    return "".join(ALPHABET[byte] for byte in token)


def byte_level(tokens: Sequence[bytes], *added: str, first: int | None = None, **parts: object) -> str:
    """A tokenizer.json of byte-level BPE; added tokens follow the others, or start at ``first``."""
    start = len(tokens) if first is None else first
    return json.dumps({
        "version": "1.0",
        "added_tokens": [added_token(start + place, text) for place, text in enumerate(added)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]},
        "decoder": {"type": "ByteLevel"},
        "model": {
            "type": "BPE",
            "vocab": {alphabet(token): place for place, token in enumerate(tokens)},
            "merges": [["a", "b"], ["]", "}"]],
        },
    } | parts)  # fmt: skip


def added_token(index: int, text: str, *, special: bool = True) -> Json:
    """An entry of added_tokens."""
    return {"id": index, "content": text, "special": special, "normalized": False}


def ranks(tokens: Sequence[bytes]) -> bytes:
    """A tiktoken file."""
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))


def tekken(tokens: Sequence[bytes], *specials: str, size: int | None = None, listed: bool = True) -> str:
    """A tekken.json with its special tokens first; older ones do not list them."""
    config = {"default_vocab_size": size or len(tokens) + len(specials), "default_num_special_tokens": len(specials)}
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": token.decode(errors="replace")}
        for rank, token in enumerate(tokens)
    ]
    special = [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(specials)]
    return json.dumps({"config": config, "vocab": vocab} | ({"special_tokens": special} if listed else {}))


def pieces(table: Sequence[tuple[str, int]]) -> bytes:
    """A SentencePiece model, as its protobuf message is written: pieces, then a trainer specification nobody reads."""
    made = b""
    for text, kind in table:
        encoded = text.encode()
        body = b"\x0a" + varint(len(encoded)) + encoded + b"\x15\x00\x00\x80\x3f"
        body += b"" if kind == NORMAL else b"\x18" + varint(kind)
        made += b"\x0a" + varint(len(body)) + body
    return made + b"\x12\x03\x18\xac\x02"


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes((*made, value))
