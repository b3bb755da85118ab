"""Two vocabularies by id: whether an id means the same token in both, and how they part where it does not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from drafter_lint.checkpoint.tokenizer.tokenizer import Tokenizer
from drafter_lint.checkpoint.tokenizer.vocabulary import Vocabulary

#: How many examples are kept of each way to part.
SHOWN = 5
#: What reserved names begin with.
_OPENING = b"<["
#: The part of the ids that differ which must have moved by one distance for the whole to count as shifted.
_MOVED = 0.8
#: How many of the ids that differ are looked for on the other side.
_SAMPLE = 500
#: Names of ids nobody has given a meaning yet: <|reserved_special_token_5|>, <unused12>, [PAD151936], <extra_id_0>.
_RESERVED = re.compile(
    rb"[<\[][^A-Za-z]*(?:reserved|unused|extra|pad|dummy|special|control|place[^A-Za-z]*holder)[^>\]]*\d[^>\]A-Za-z]*[>\]]",
    re.IGNORECASE,
)


class Relation(StrEnum):
    """How two vocabularies stand to each other, ids that one of them merely reserves left aside."""

    EQUAL = "equal"  # the same token under every id
    PADDED = "padded"  # the same, but for ids that are holes, reserved, or past the end in one of them
    SUPERSET = "superset"  # no id means two things, and at least one of the two has tokens the other lacks
    SHIFTED = "shifted"  # the same tokens under ids that lie a constant apart
    DIFFERENT = "different"  # ids mean different things
    INCOMPARABLE = "not comparable"  # the files write tokens in ways of which neither can be turned into the other


@dataclass(frozen=True, slots=True)
class Difference:
    """An id and what it stands for on either side; None where it stands for nothing."""

    id: int
    left: bytes | None
    right: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """What comparing two vocabularies by id shows.

    Attributes:
        relation: the verdict.
        common: ids that stand for a token on both sides.
        differing: of those, ids whose tokens are not the same.
        trained: of those that differ, ids that neither side added on top of its trained vocabulary.
        left_only: ids that stand for a token on the left and for nothing, or a reserved name, on the right.
        right_only: the other way round.
        shift: what to add to a left id to find its token on the right, 0 unless shifted.
        first: the first ids that differ, of trained tokens if any of those does.
        first_only: the first ids that only one side has.
    """

    relation: Relation
    common: int = 0
    differing: int = 0
    trained: int = 0
    left_only: int = 0
    right_only: int = 0
    shift: int = 0
    first: tuple[Difference, ...] = ()
    first_only: tuple[Difference, ...] = ()


def compare(left: Tokenizer, right: Tokenizer) -> Parity:
    """Compare the tokenizers of two checkpoints; files of the same content are not read where their ids are known.

    Raises:
        Unavailable: one of them ships no tokenizer, or it cannot be read.
    """
    if left.same_files(right):
        return Parity(relation=Relation.EQUAL)
    return compare_vocabularies(left.vocabulary, right.vocabulary)


def compare_vocabularies(left: Vocabulary, right: Vocabulary) -> Parity:
    """Compare two vocabularies by id."""
    if not left.kind.comparable(right.kind):
        return Parity(relation=Relation.INCOMPARABLE)
    ours, theirs = left.tokens, right.tokens
    apart = 0
    differing: list[int] = []
    only: tuple[list[int], list[int]] = ([], [])
    # 150,000 ids and more: what can be told at a glance is not looked at closely.
    for index, (a, b) in enumerate(zip_longest(ours, theirs)):
        if a == b:
            continue
        apart += 1
        if a and b and a[0] not in _OPENING and b[0] not in _OPENING:
            differing.append(index)
            continue
        ours_means, theirs_means = _means(a), _means(b)
        if ours_means and theirs_means:
            differing.append(index)
        elif (ours_means and not _silent(right, index)) or (theirs_means and not _silent(left, index)):
            only[0 if ours_means else 1].append(index)
    spare = len(differing) + len(only[0]) + len(only[1]) < apart
    added = left.added | right.added
    trained = [index for index in differing if index not in added]
    shift = _shift(differing, left, right) if differing else 0

    def examples(indices: list[int]) -> tuple[Difference, ...]:
        return tuple(Difference(index, left.token(index), right.token(index)) for index in indices[:SHOWN])

    return Parity(
        relation=_relation(differing=bool(differing), only=any(only), spare=spare, shift=shift),
        common=sum(a is not None and b is not None for a, b in zip(ours, theirs, strict=False)),
        differing=len(differing),
        trained=len(trained),
        left_only=len(only[0]),
        right_only=len(only[1]),
        shift=shift,
        first=examples(trained or differing),
        first_only=examples(sorted(only[0] + only[1])),
    )


def shown_token(token: bytes | None) -> str:
    """A token for a message: quoted, at most 40 characters, bytes that are no text escaped."""
    if token is None:
        return "nothing"
    text = token.decode(errors="backslashreplace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _means(token: bytes | None) -> bool:
    """True if an id with this token stands for something: it is neither a hole nor reserved."""
    return token is not None and not (token[:1] in {b"<", b"["} and len(token) < 64 and _RESERVED.fullmatch(token))


def _silent(side: Vocabulary, index: int) -> bool:
    """True if a side cannot say what an id means: its file holds no special tokens, and nothing else stands there."""
    return not side.complete and side.token(index) is None


def _relation(*, differing: bool, only: bool, spare: bool, shift: int) -> Relation:
    if differing:
        return Relation.SHIFTED if shift else Relation.DIFFERENT
    if only:
        return Relation.SUPERSET
    return Relation.PADDED if spare else Relation.EQUAL


def _shift(differing: list[int], left: Vocabulary, right: Vocabulary) -> int:
    """The distance by which most of the tokens that differ have moved; 0 if there is none.

    If most have moved by one distance, so have most of a sample; the distance is then counted over all of them.
    """
    if len(differing) <= SHOWN:
        return 0
    sample = {left.tokens[index]: index for index in differing[:: max(1, len(differing) // _SAMPLE)]}
    moved = Counter(place - sample[token] for place, token in enumerate(right.tokens) if token in sample)
    (distance, _), *_ = moved.most_common(1) or [(0, 0)]
    times = sum(left.tokens[index] == right.token(index + distance) for index in differing)
    return distance if times >= _MOVED * len(differing) else 0
