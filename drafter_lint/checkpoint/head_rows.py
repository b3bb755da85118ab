"""A few rows of the head, compared where the map says that neighbours must differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import eq

from drafter_lint.checkpoint.tensors import Tensor
from drafter_lint.checkpoint.vocab_map import VocabMap, named
from drafter_lint.sources.base import Source

HEAD = "lm_head.weight"
#: A row of the widest head published has 32 kB.
MAX_ROW_BYTES = 1024 * 1024
#: Where in the list of neighbours with one offset to look; its ends hold control tokens, whose rows may be untrained.
_LOOKED_AT = ((1, 2), (1, 6), (5, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualRows:
    """Rows of a head that are the same byte for byte, although neighbouring tokens stand in them.

    Attributes:
        head: the tensor.
        offset: the entry of d2t that the first two have in common.
        rows: the first of each two that were read, ascending.
    """

    head: Tensor
    offset: int
    rows: tuple[int, ...]


def read_equal_rows(table: Mapping[str, Tensor], vocab: VocabMap, source: Source) -> EqualRows | None:
    """Two rows of the head in each of three places; None as soon as two of them differ.

    Rows i and i + 1 are read where ``d2t[i] == d2t[i + 1]``: they score tokens t and t + 1. Rows that are all zeros
    tell nothing.

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
    for row in places:
        both = source.read(head.file, head.start + row * width, 2 * width)
        if both[:width] != both[width:] or not any(both):
            return None
    return EqualRows(head=head, offset=offsets[min(places)], rows=tuple(sorted(places)))
