"""The geometry of a constructed pair: tokens lie on circles, so that "the next token" is a rotation of the state."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Vector: TypeAlias = list[float]
Matrix: TypeAlias = list[list[float]]


@dataclass(frozen=True)
class Circles:
    """A token is one point on ``(hidden - 2) / 2`` circles at once, each with a frequency of its own.

    Feature 0 is the same for every token, feature 1 is not used, then follow a cosine and a sine a circle. Every point
    has the length sqrt(hidden), so an RMS norm without weights leaves it as it is.

    Attributes:
        hidden: the width of the state; even.
        vocabulary: how many tokens there are.
    """

    hidden: int = 64
    vocabulary: int = 512

    @cached_property
    def frequencies(self) -> Vector:
        """Radians a token, one a circle: different ones, or two tokens would be alike."""
        steps = random.Random(1234).sample(range(1, self.vocabulary // 2), (self.hidden - 2) // 2)  # noqa: S311 - no secret
        return [2 * math.pi * step / self.vocabulary for step in steps]

    @cached_property
    def radius(self) -> float:
        """Of every circle, and the value of feature 0."""
        return math.sqrt(self.hidden / (len(self.frequencies) + 1))

    def signs(self, seed: int) -> Vector:
        """A pattern of +1 and -1 for the weight of a norm: a norm that is not loaded, or passed by, then shows.

        The first two features keep their sign: feature 0 drives every gate.
        """
        draw = random.Random(seed)  # noqa: S311 - no secret
        return [1.0, 1.0, *(draw.choice((-1.0, 1.0)) for _ in range(self.hidden - 2))]

    def point(self, token: int) -> Vector:
        """The state that stands for a token."""
        values = [self.radius, 0.0]
        for frequency in self.frequencies:
            angle = frequency * token
            values += [self.radius * math.cos(angle), self.radius * math.sin(angle)]
        return values

    def points(self, first: int, count: int) -> Matrix:
        """The points of ``count`` tokens in order."""
        return [self.point(token) for token in range(first, first + count)]

    def rotation(self, tokens: int) -> Matrix:
        """The matrix that turns every point into the one so many tokens on."""
        rows = [[0.0] * self.hidden for _ in range(self.hidden)]
        rows[0][0] = rows[1][1] = 1.0
        for circle, frequency in enumerate(self.frequencies):
            at, angle = 2 + 2 * circle, frequency * tokens
            rows[at][at] = rows[at + 1][at + 1] = math.cos(angle)
            rows[at + 1][at] = math.sin(angle)
            rows[at][at + 1] = -math.sin(angle)
        return rows


def scaled_rows(matrix: Matrix, factors: Vector) -> Matrix:
    """Every row times its factor: what a diagonal matrix on the left does."""
    return [[factor * value for value in row] for row, factor in zip(matrix, factors, strict=True)]


def scaled_columns(matrix: Matrix, factors: Vector) -> Matrix:
    """Every column times its factor: what a diagonal matrix on the right does."""
    return [[value * factor for value, factor in zip(row, factors, strict=True)] for row in matrix]


def beside(*blocks: Matrix) -> Matrix:
    """Matrices of as many rows, one to the right of the other."""
    return [[value for row in rows for value in row] for rows in zip(*blocks, strict=True)]
