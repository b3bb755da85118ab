"""A few rows of the head, compared where the map says that neighbours must differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import eq

from drafter_lint.checkpoint.rows import WIDTHS as FLOATS
from drafter_lint.checkpoint.tensors import Tensor
from drafter_lint.checkpoint.vocab_map import VocabMap, named
from drafter_lint.sources.base import Source

HEAD = "lm_head.weight"
#: A row of the widest head published has 32 kB.
MAX_ROW_BYTES = 1024 * 1024
#: Where in the list of neighbours with one offset to look; its ends hold control tokens, whose rows may be untrained.
_LOOKED_AT = ((1, 2), (1, 6), (5, 6))


#: A norm scales every state that reaches the head, so it holds no zeros; one of the widest has 64 kB.
_NORM, _NORM_BYTES = "norm.weight", 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualRows:
    """Rows of a head that are the same byte for byte, although neighbouring tokens stand in them.

    Attributes:
        head: the tensor.
        offset: the entry of d2t that the first two have in common.
        rows: the first of each two that were read, ascending.
        zeros: True if they hold nothing but zeros, in a file that does hold weights.
    """

    head: Tensor
    offset: int
    rows: tuple[int, ...]
    zeros: bool = False


def read_equal_rows(table: Mapping[str, Tensor], vocab: VocabMap, source: Source) -> EqualRows | None:
    """Two rows of the head in each of three places; None as soon as two of them differ.

    Rows i and i + 1 are read where ``d2t[i] == d2t[i + 1]``: they score tokens t and t + 1. Rows that are all zeros
    tell nothing if the final norm is zeros too: the file holds no weights, as a stand-in does not.

    Raises:
        Unavailable: the head cannot be read.
    """
    head, offsets = named(table, HEAD), vocab.d2t
    if head is None or offsets is None or len(head.shape) != 2 or head.shape[0] != len(offsets):
        return None
    width = (head.end - head.start) // head.shape[0]
    equal = tuple(compress(count(), map(eq, offsets, islice(offsets, 1, None))))
    if not equal or not 0 < width <= MAX_ROW_BYTES:
        return None
    places = tuple(dict.fromkeys(equal[len(equal) * part // whole] for part, whole in _LOOKED_AT))
    zeros = None
    for row in places:
        both = source.read(head.file, head.start + row * width, 2 * width)
        empty = not any(both)
        if both[:width] != both[width:] or zeros not in {None, empty}:
            return None
        if empty and zeros is None and not _holds_weights(table, source):
            return None
        zeros = empty
    return EqualRows(head=head, offset=offsets[min(places)], rows=tuple(sorted(places)), zeros=bool(zeros))


def _holds_weights(table: Mapping[str, Tensor], source: Source) -> bool:
    norm = named(table, _NORM)
    if norm is None or norm.dtype not in FLOATS or len(norm.shape) != 1:
        return False
    return any(source.read(norm.file, norm.start, min(norm.end - norm.start, _NORM_BYTES)))
