"""A vocabulary: which token each id stands for, in one form for all kinds of tokenizer files."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from drafter_lint.errors import Trouble, Unavailable

#: The largest published vocabularies hold about 262,000 tokens.
MAX_TOKENS = 280_000
#: Ids stand for places in a table, so the highest one bounds memory.
MAX_ID = 2_000_000
_SPACE = "\u2581"


class Kind(StrEnum):
    """How the tokens of a file are written, which decides whether two files can be compared."""

    BYTE_LEVEL = "byte-level"  # GPT-2's alphabet, tiktoken, tekken: every token is a string of bytes
    SENTENCEPIECE = "sentencepiece"  # text with U+2581 for a space, and <0x0A> for single bytes
    WORDPIECE = "wordpiece"  # text, "##" inside a word
    PLAIN = "plain"  # text, nothing more is known

    @property
    def in_bytes(self) -> bool:
        """True if a token is the bytes it stands for in a text: such kinds can be compared with each other."""
        return self in {Kind.BYTE_LEVEL, Kind.SENTENCEPIECE}

    def comparable(self, other: Kind) -> bool:
        """True if tokens of the two kinds can be held against each other."""
        return self is other or (self.in_bytes and other.in_bytes)


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token put on top of the trained vocabulary, by its literal text."""

    text: str
    special: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The tokens of one checkpoint.

    Attributes:
        file: the file it was read from.
        kind: how that file writes tokens.
        tokens: by id; the bytes a token stands for, None where the id stands for nothing.
        added: ids of tokens that are not trained: special ones, and those added by name.
        complete: False if the file cannot hold special tokens and no other file names them, so that ids without a
            token may still have one.
    """

    file: str
    kind: Kind
    tokens: tuple[bytes | None, ...]
    added: frozenset[int] = frozenset()
    complete: bool = True

    @property
    def count(self) -> int:
        """How many ids stand for a token."""
        return len(self.tokens) - self.tokens.count(None)

    def token(self, index: int) -> bytes | None:
        """The token of an id; None for a hole and for an id past the end."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def overlaid(self, added: Mapping[int, AddedToken]) -> Vocabulary:
        """The vocabulary with tokens that other files of the checkpoint name."""
        if not added:
            return self
        tokens = list(self.tokens) + [None] * (max(added) + 1 - len(self.tokens))
        for index, token in added.items():
            tokens[index] = literal(token.text, self.kind)
        return replace(self, tokens=tuple(tokens), added=self.added | added.keys(), complete=True)


def literal(text: str, kind: Kind) -> bytes:
    """The bytes of a token that is written as it is."""
    plain = text.replace(_SPACE, " ") if kind is Kind.SENTENCEPIECE else text
    return plain.encode("utf-8", "surrogatepass")


def _alphabet() -> str:
    """For each byte the character that stands for it in GPT-2's alphabet: itself if printable, else one from U+0100."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return "".join(chr(byte if byte in printable else next(others)) for byte in range(256))


ALPHABET = _alphabet()
_FROM_ALPHABET = codecs.charmap_build(ALPHABET)
_BYTE_PIECES = {f"<0x{byte:02X}>": bytes((byte,)) for byte in range(256)}


def from_alphabet(text: str) -> bytes:
    """The bytes of a token in GPT-2's alphabet; of a token with other characters, the text itself."""
    try:
        return codecs.charmap_encode(text, "strict", _FROM_ALPHABET)[0]
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def from_piece(text: str) -> bytes:
    """The bytes of a SentencePiece piece."""
    return _BYTE_PIECES.get(text) or text.replace(_SPACE, " ").encode("utf-8", "surrogatepass")


def kind_of(tokens: Iterable[str]) -> Kind:
    """How tokens are written, told from themselves where no file says it."""
    known = frozenset(tokens)
    if known.issuperset(ALPHABET):
        return Kind.BYTE_LEVEL
    if "<0x0A>" in known or sum(token.startswith(_SPACE) for token in known) > len(known) // 10:
        return Kind.SENTENCEPIECE
    if "[UNK]" in known and any(token.startswith("##") for token in known):
        return Kind.WORDPIECE
    return Kind.PLAIN


def canonical(tokens: list[str | None], kind: Kind) -> tuple[bytes | None, ...]:
    """Tokens by id in the form all kinds share."""
    if kind is Kind.BYTE_LEVEL:
        return tuple(None if token is None else from_alphabet(token) for token in tokens)
    if kind is Kind.SENTENCEPIECE:
        return tuple(None if token is None else from_piece(token) for token in tokens)
    return tuple(None if token is None else token.encode("utf-8", "surrogatepass") for token in tokens)


def by_id(vocabulary: Mapping[str, object], *, what: str) -> list[str | None]:
    """Tokens by id, from a table of tokens to ids.

    Raises:
        Unavailable: a value is no id, or the table is over our bounds.
    """
    check_count(len(vocabulary), what=what)
    if not set(map(type, vocabulary.values())) <= {int}:
        for value in vocabulary.values():
            index_of(value, what=what)
    indices = [value for value in vocabulary.values() if isinstance(value, int)]
    for edge in (min(indices, default=0), max(indices, default=0)):
        index_of(edge, what=what)
    tokens: list[str | None] = [None] * (max(indices, default=-1) + 1)
    for token, index in zip(vocabulary, indices, strict=True):
        tokens[index] = token
    return tokens


def index_of(value: object, *, what: str) -> int:
    """A value as an id.

    Raises:
        Unavailable: it is none, or over our bound.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unavailable(Trouble.MALFORMED, what, f"{str(value)[:40]!r} stands where a token id belongs")
    if value > MAX_ID:
        raise Unavailable(Trouble.TOO_LARGE, what, f"a token id of {str(value)[:40]}, over the bound of {MAX_ID}")
    return value


def check_count(count: int, *, what: str) -> None:
    """Raise :class:`Unavailable` for more tokens than we read."""
    if count > MAX_TOKENS:
        raise Unavailable(Trouble.TOO_LARGE, what, f"{count} tokens, over the bound of {MAX_TOKENS}")
