"""One line of a recipe's tensor table: ``"layers.{0..60}.fc.weight" = "BF16 7168x21504"``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from drafter_lint.errors import UsageError

#: The largest published checkpoints have some 200,000 tensors. Recipes come with bug reports, from strangers.
MAX_NAMES = 500_000

_LINE = re.compile(r"(?P<dtype>[A-Z][A-Z0-9_]*) +(?P<shape>scalar|\d{1,18}(?:x\d{1,18})*)(?: += +(?P<values>.+))?")
_BRACES = re.compile(r"\{(\d{1,18})\.\.(\d{1,18})\}")


@dataclass(frozen=True, slots=True)
class TensorLine:
    """What one line says.

    Attributes:
        dtype: as safetensors names it.
        shape: empty for a scalar.
        values: how its values are written, None where they do not matter (a hole).
    """

    dtype: str
    shape: tuple[int, ...]
    values: str | None = None

    @property
    def elements(self) -> int:
        """How many values the tensor holds."""
        return prod(self.shape)

    @property
    def text(self) -> str:
        """The line, as it is parsed."""
        shape = "x".join(map(str, self.shape)) or "scalar"
        return f"{self.dtype} {shape}" + (f" = {self.values}" if self.values else "")


def parse_line(text: str) -> TensorLine:
    """Read one line.

    Raises:
        UsageError: it is not ``DTYPE 1x2x3``, optionally followed by ``= values``.
    """
    match = _LINE.fullmatch(text)
    if match is None:
        raise UsageError(f"recipe: {text!r} is no tensor; expected 'BF16 7168x21504' or 'I64 32000 = spread(163840)'")
    shape = () if match["shape"] == "scalar" else tuple(int(size) for size in match["shape"].split("x"))
    return TensorLine(match["dtype"], shape, match["values"])


def expand(pattern: str) -> Iterator[str]:
    """Every name a pattern stands for; the last range runs fastest.

    Raises:
        UsageError: it stands for more names than any checkpoint has.
    """
    pieces = _BRACES.split(pattern)
    if len(pieces) == 1:
        yield pattern
        return
    literals = pieces[0::3]
    ranges = [range(int(first), int(last) + 1) for first, last in zip(pieces[1::3], pieces[2::3], strict=True)]
    if prod(map(len, ranges)) > MAX_NAMES:
        raise UsageError(f"recipe: {pattern} stands for more than {MAX_NAMES} names")
    for numbers in product(*ranges):
        yield literals[0] + "".join(f"{number}{literal}" for number, literal in zip(numbers, literals[1:], strict=True))


def literal_head(pattern: str) -> str:
    """The part of a pattern that all its names begin with."""
    return pattern.split("{", 1)[0]
