"""Whether a drafter's embedding, or its head, is the target's: a few rows of both, read late and held together.

What an embedding was copied from shows in its rows: a trainer that freezes it leaves the target's own, bit by bit.
Reading from the Hub is bounded: one read of the target's likeliest file to find the matrix, and one of each side's
rows. The first read of a large file takes two requests there, so all of it takes four and less than 200 kB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from drafter_lint.checkpoint import Checkpoint, Tensor
from drafter_lint.checkpoint.once import Once
from drafter_lint.checkpoint.rows import WIDTHS, Row, Rows, cosine, empty, equal, finite, readable
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Location
from drafter_lint.targets import Target

#: Bytes of rows read of one side; two of them and the glimpse of the target's header stay below 200 kB.
SPAN = 48 * 1024
MAX_ROWS = 8
#: Byte-pair vocabularies begin with bytes and go on with frequent pieces: training moves the rows of those, while rows
#: of rare pieces stay the same from one sibling to the next.
_FREQUENT = 1000
#: Below this mean cosine two matrices have nothing to do with each other; rows of relatives are far above it.
_UNRELATED = 0.3

_DRAFTER_EMBEDDING = re.compile(r"(?:^|\.)embed_tokens\.weight$")
_DRAFTER_HEAD = re.compile(r"(?:^|\.)lm_head\.weight$")
_EMBEDDING = re.compile(
    r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings|embed_in|embeddings?|embed)\.weight$"
)
_HEAD = re.compile(r"(?:^|\.)(?:lm_head|output|embed_out)\.weight$")

Kind = Literal["equal", "close", "unrelated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinship:
    """What a few rows say.

    Attributes:
        kind: ``equal``: every row; ``close``: rows of relatives; ``unrelated``: nothing in common; None if they were
            not compared.
        reason: why they were not compared, "" if they were.
        part: which matrix of the drafter: "embedding" or "head".
        ids: the target's ids that the rows stand for.
        cosines: lowest and highest, (1.0, 1.0) for equal rows.
        same_shape: True if both matrices have as many rows.
        drafter: where the drafter's matrix is.
        target: where the target's is.
    """

    kind: Kind | None
    reason: str = ""
    part: Literal["embedding", "head"] = "embedding"
    ids: tuple[int, ...] = ()
    cosines: tuple[float, float] = (1.0, 1.0)
    same_shape: bool = True
    drafter: Location | None = None
    target: Location | None = None


class Lineage:
    """The fingerprint of a pair. Nothing is read before it is asked for, and nothing twice."""

    def __init__(self, drafter: Drafter, target: Target, *, compare: bool = True) -> None:
        self._drafter, self._target = drafter, target
        self._compare = compare
        self._kinship = Once(self._find)

    @property
    def embedding(self) -> Tensor | None:
        """The drafter's own embedding, if it ships one as wide as the target's; knowing that costs nothing."""
        return self._own(_DRAFTER_EMBEDDING)

    @property
    def kinship(self) -> Kinship | None:
        """What the rows say of the drafter's embedding, or of its head if it has no embedding; None without both."""
        return self._kinship()

    def _own(self, name: re.Pattern[str]) -> Tensor | None:
        drafter, target = self._drafter, self._target
        one = drafter.checkpoint.source is target.checkpoint.source
        if one or drafter.method == "draft_model" or not target.hidden_size:
            return None
        try:
            table = drafter.checkpoint.tensors
        except Unavailable:  # told among the troubles
            return None
        named = sorted((table[key] for key in table if name.search(key)), key=lambda tensor: len(tensor.name))
        wide = [tensor for tensor in named if tensor.shape[1:] == (target.hidden_size.value,)]
        return wide[0] if wide else None

    def _find(self) -> Kinship | None:
        own = self._own(_DRAFTER_EMBEDDING)
        if own is not None:
            pair = _Matrices("embedding", own, _EMBEDDING)
        else:
            own = self._own(_DRAFTER_HEAD)
            if own is None:
                return None
            tied = self._target.tie_word_embeddings
            pair = _Matrices("head", own, _EMBEDDING if tied and tied.value else _HEAD)
        if not self._compare:
            return _not_compared("comparing rows was turned off")
        try:
            return self._held_together(pair)
        except Unavailable as trouble:
            return _not_compared(str(trouble))

    def _held_together(self, pair: _Matrices) -> Kinship:
        own, drafter, target = pair.own, self._drafter.checkpoint, self._target.checkpoint
        if not readable(own):
            return _not_compared(f"{own.name} of the drafter is stored as {own.dtype}")
        vocabulary = self._target.vocab_size.value if self._target.vocab_size else own.shape[0]
        count, columns = _size(own)
        ids = _spread(self._targets(pair), rows=own.shape[0], vocabulary=vocabulary, count=count)
        if not ids:
            return _not_compared(f"which ids the rows of {own.name} stand for is not known")
        ours = drafter.rows(own, first=ids[0][0], count=len(ids), columns=columns)
        shown = f"{own.name}[{ids[0][0]}:{ids[-1][0] + 1}]"
        if all(map(empty, ours.values)):
            return _not_compared(f"{shown} of the drafter holds nothing but zeros: there is no data to compare")
        theirs_of = [tensor for tensor in target.glimpse(pair.name) if tensor.shape[1:] == own.shape[1:]]
        if not theirs_of:
            where = "the one read that is spent on finding it" if target.reference.kind == "hub" else "its files"
            return _not_compared(f"the target's {pair.part} does not show in {where}")
        # A layer that predicts several tokens may have a copy of its own, under a longer name.
        other = min(theirs_of, key=lambda tensor: (-tensor.shape[0], len(tensor.name)))
        if not readable(other):
            return _not_compared(f"{other.name} of the target is stored as {other.dtype}")
        if ids[-1][1] >= other.shape[0]:
            return _not_compared(f"{other.name} of the target has {other.shape[0]} rows, too few for id {ids[-1][1]}")
        count, columns = _size(other)
        theirs = target.rows(other, first=ids[0][1], count=min(len(ids), count), columns=columns)
        found = _compared(ours, theirs)
        if found is None:
            return _not_compared(f"the rows of {other.name} of the target hold nothing but zeros, or no numbers")
        kind, cosines = found
        method = self._target.quantization
        if kind != "equal" and method:
            said = f"rows differ (cosines {_range(cosines)}) from a target stored with {method.value}, whose making may"
            return _not_compared(f"{said} have changed them")
        return Kinship(
            kind=kind,
            part=pair.part,
            ids=tuple(target_id for _, target_id in ids[: len(theirs.values)]),
            cosines=cosines,
            same_shape=pair.part == "head" or own.shape == other.shape,
            drafter=_place(drafter, own),
            target=_place(target, other),
        )

    def _targets(self, pair: _Matrices) -> Sequence[int] | None:
        """The target id of every row; None for those that stand for themselves."""
        if pair.part == "embedding":
            return None
        return self._drafter.checkpoint.vocab_map.targets


@dataclass(frozen=True, slots=True)
class _Matrices:
    part: Literal["embedding", "head"]
    own: Tensor
    name: re.Pattern[str]


def _not_compared(reason: str) -> Kinship:
    return Kinship(kind=None, reason=reason)


def _place(checkpoint: Checkpoint, tensor: Tensor) -> Location:
    return Location(
        role=checkpoint.role,
        subject=checkpoint.subject,
        file=tensor.file,
        tensor=tensor.name,
        shape=tensor.shape,
    )


def _size(tensor: Tensor) -> tuple[int, int]:
    """How many rows, and how many columns of each, fit the span."""
    width, columns = WIDTHS[tensor.dtype], tensor.shape[1]
    return max(1, min(MAX_ROWS, SPAN // (columns * width))), min(columns, SPAN // width)


def _spread(targets: Sequence[int] | None, *, rows: int, vocabulary: int, count: int) -> tuple[tuple[int, int], ...]:
    """The row and the id of ``count`` neighbours on both sides, so that each side is read at once; () for none.

    They begin at the first frequent piece, of a small vocabulary at a quarter of it.
    """
    frequent = min(_FREQUENT, vocabulary // 4)
    if targets is None:
        first = min(frequent, max(rows - count, 0))
        return tuple((row, row) for row in range(first, min(first + count, rows)))
    ids = targets[:rows]
    start = next((row for row, target in enumerate(ids) if target >= frequent), 0)
    for size in range(min(count, len(ids)), 0, -1):
        for row in range(start, len(ids) - size + 1):
            if 0 <= ids[row] < vocabulary and ids[row + size - 1] == ids[row] + size - 1:
                return tuple((row + step, ids[row] + step) for step in range(size))
    return ()


def _compared(ours: Rows, theirs: Rows) -> tuple[Kind, tuple[float, float]] | None:
    """What the rows say, with the lowest and the highest cosine; None if there is nothing in them."""
    # Of a row in four bytes fewer values were read, and of such rows fewer.
    common = min(len(ours.values[0]), len(theirs.values[0]))
    both = [(one[:common], other[:common]) for one, other in zip(ours.values, theirs.values, strict=False)]
    pairs: list[tuple[Row, Row]] = [pair for pair in both if not any(map(empty, pair)) and all(map(finite, pair))]
    if not pairs:
        return None
    if all(equal(one, other, dtypes=(ours.dtype, theirs.dtype)) for one, other in pairs):
        return "equal", (1.0, 1.0)
    cosines = [cosine(one, other) for one, other in pairs]
    kind: Kind = "unrelated" if sum(cosines) / len(cosines) < _UNRELATED else "close"
    return kind, (min(cosines), max(cosines))


def _range(cosines: tuple[float, float]) -> str:
    return " to ".join(dict.fromkeys(f"{value:.4f}" for value in cosines))
