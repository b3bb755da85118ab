"""The values of a constructed pair: right by construction, for what ``[built]`` of its truth case says.

Every target layer rotates the state by :data:`STEP` tokens through its MLP, so the states after different layers can be
told apart, and the target's greedy continuation of token x is x+1, x+2, ... The drafter's ``fc`` undoes the rotations
of the layers it was built for, its layer rotates by one token a draft step, its head is the target's. Attention is all
but zero everywhere. A tensor's part is read from the end of its name, whatever stands before it.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from zlib import crc32

from conformance.circles import Circles, Matrix, Vector, beside, scaled_columns, scaled_rows
from conformance.truth import Built, TruthCase
from drafter_lint.recipe.lines import TensorLine

STEP = 3
LAYERS = 8
#: The rotation of the whole target.
TURN = STEP * LAYERS
#: What goes into the SiLU of every gate.
_GATE = 8.0
_OPENED = _GATE / (1 + math.exp(-_GATE))
#: Tokens the second half of a reduced vocabulary lies ahead of its place.
_GAP = 37
#: Values of tensors that should do nothing, and the trace that makes any two tensors tell apart.
_FAINT, _TRACE, _LOUD = 3e-4, 1.5e-4, 0.15
_LAYER = re.compile(r"(?:^|\.)(?:layers|mtp_layers|blocks|lm_heads|fc_norm)\.(\d+)\.")
_INNER_NORMS = frozenset({"q_norm", "k_norm", "q_a_layernorm", "kv_a_layernorm", "enorm", "token_layernorm"})


@dataclass(frozen=True)
class Weights:
    """Makes the values of every tensor of one checkpoint.

    Attributes:
        case: what the pair is.
        lines: the tensors, by name.
        of_target: True for the target (prediction layers inside it included), False for the drafter.
    """

    case: TruthCase
    lines: Mapping[str, TensorLine]
    of_target: bool
    circles: Circles = field(default_factory=Circles)

    def values(self, name: str) -> Iterator[float]:
        """The values of one tensor in row-major order, with the trace that tells it from any other."""
        shape = self.lines[name].shape
        draw = random.Random(crc32(f"{self.of_target} {name}".encode()))  # noqa: S311 - no secret
        part = self._part(name)
        if isinstance(part, float):
            yield from (part * (2 * draw.random() - 1) for _ in range(math.prod(shape)))
        elif len(shape) == 1:
            for value in _fitted(part[0], shape[0]):
                yield value * (1 + draw.choice((0, 2**-7)))
        else:
            for row in range(shape[0]):
                for value in _fitted(part[row] if row < len(part) else [], math.prod(shape[1:])):
                    yield value + _TRACE * (2 * draw.random() - 1)

    def _part(self, name: str) -> Matrix | float:
        """What a tensor should hold; a vector is a matrix of one row, a number is the strength of noise."""
        *_, last = stem = name.removesuffix(".weight").split(".")
        if name.endswith(".bias") or ("self_attn" in stem and last not in _INNER_NORMS):
            return _FAINT
        if last in _INNER_NORMS:
            return [[1.0] * self.lines[name].shape[0]]
        if self.of_target:
            return self._target(name, last)
        if "lm_heads" in stem:
            return self._head(range(self.circles.vocabulary), ahead=1 + _layer(name))
        boundaries = self.case.built.boundaries
        if boundaries is None:
            return self._plain(name, last)
        return self._eagle1(name, last) if boundaries == [LAYERS] else self._eagle3(name, last, boundaries)

    # -- the target, and prediction layers inside it

    def _target(self, name: str, last: str) -> Matrix | float:
        vocabulary = self.circles.vocabulary
        inner = "mtp_layers" in name or _layer(name) >= LAYERS
        match last:
            case "embed_tokens":
                return self.circles.points(0, vocabulary)
            case "lm_head" | "head":
                return self._head(range(vocabulary), ahead=0)
            case "norm" | "final_layernorm" | "hnorm":
                return [self._signs]
            case "hidden_layernorm":
                after = self.case.built.state == "after the final norm"
                return [self._signs if after else self._ones]
            case "input_proj":
                return beside(self._identity, self._nothing)
            case "eh_proj":
                return beside(self._nothing, self._identity)
            case "gate":
                return _FAINT
            case "gate_proj" | "up_proj" | "down_proj":
                # A routed and a shared expert do half of it each.
                share = 0.5 if "expert" in name else 1.0
                return self._mlp(last, tokens=1 if inner else STEP, share=share)
            case _:
                return [self._ones] if last.endswith("layernorm") else _LOUD

    # -- drafters

    def _eagle3(self, name: str, last: str, boundaries: Sequence[int]) -> Matrix | float:
        built = self.case.built
        normed = bool(built.norm_before_residual)
        match last:
            case "embed_tokens":
                return self.circles.points(0, self.lines[name].shape[0])
            case "lm_head":
                return 0.0 if built.lm_head == "zeros" else self._head(self._drafted(name), ahead=0)
            case "norm":
                return [_product(self._signs, self._other_signs) if normed else self._signs]
            case "hidden_norm":
                # Without norm_before_residual it stands before the attention alone, and an engine that takes the
                # residual after it is found out by the pattern.
                return [self._other_signs if normed else self._signs]
            case "input_layernorm":
                return [self._ones]
            case "post_attention_layernorm":
                return [self._signs]
            case "fc":
                return self._projection(boundaries, built)
            case "input_norm":
                return [self._signs * len(boundaries)]
            case "gate_proj" | "up_proj" | "down_proj":
                return self._eagle3_mlp(last, first=_layer(name) == 0, normed=normed)
            case _:
                return [self._signs] if "fc_norm" in name or "aux_norm" in name else _LOUD

    def _eagle3_mlp(self, which: str, *, first: bool, normed: bool) -> Matrix:
        """Behind a norm with a pattern; layers after the first leave the state as it is."""
        mlp = self._mlp(which, tokens=1 if first else 0)
        if which == "up_proj":
            return scaled_columns(mlp, self._signs)
        return self._out_of_norm(mlp) if which == "down_proj" and normed and first else mlp

    def _projection(self, boundaries: Sequence[int], built: Built) -> Matrix:
        """``fc``: the mean of the captured states, each turned to where the target ends."""
        blocks = [
            [[value / len(boundaries) for value in row] for row in self.circles.rotation(TURN - STEP * boundary)]
            for boundary in boundaries
        ]
        if built.norm_before_residual:
            blocks = [scaled_rows(block, self._other_signs) for block in blocks]
        if built.state_norm in ("fc_norm", "input_norm"):
            blocks = [scaled_columns(block, self._signs) for block in blocks]
        return beside(*blocks)

    def _out_of_norm(self, down: Matrix) -> Matrix:
        """With norm_before_residual: from a residual without the pattern to one with it."""
        width = self.circles.hidden
        turned = scaled_rows(self.circles.rotation(1), self._other_signs)
        less = [
            [(value - (row == column)) / _OPENED for column, value in enumerate(turned[row])] for row in range(width)
        ]
        return [row + wide[width:] for row, wide in zip(less, down, strict=True)]

    def _eagle1(self, name: str, last: str) -> Matrix | float:
        """Takes the state behind the final norm, so it works under the pattern of that norm, and ends without one."""
        match last:
            case "embed_tokens":
                return self.circles.points(0, self.lines[name].shape[0])
            case "fc":
                return beside(self._nothing, self._identity)
            case "lm_head":
                return self._head(self._drafted(name), ahead=0)
            case "down_proj" | "gate_proj" | "up_proj":
                mlp = self._mlp(last, tokens=1)
                width = self.circles.hidden
                if last != "down_proj":
                    return mlp
                inner = scaled_columns(scaled_rows([row[:width] for row in mlp], self._signs), self._signs)
                return [row + wide[width:] for row, wide in zip(inner, mlp, strict=True)]
            case _:
                return [self._ones] if "norm" in last else _LOUD

    def _plain(self, name: str, last: str) -> Matrix | float:
        """A language model of its own; of a block drafter only loading is observed, so it may be one too."""
        rows = self.lines[name].shape[0]
        match last:
            case "embed_tokens":
                return self.circles.points(0, rows)
            case "lm_head":
                return self.circles.points(-1, rows)
            case "gate_proj" | "up_proj" | "down_proj":
                return self._mlp(last, tokens=0)
            case "fc":
                return beside(*[self._identity] * (self.lines[name].shape[1] // self.circles.hidden))
            case _:
                return [self._ones] if "norm" in last else _LOUD

    # -- pieces

    def _mlp(self, which: str, *, tokens: int, share: float = 1.0) -> Matrix:
        """A gated MLP that adds (rotation - 1) x to a residual x; its gate is open alike for every token."""
        width = self.circles.hidden
        if which == "gate_proj":
            return [[_GATE / self.circles.radius, *[0.0] * (width - 1)] for _ in range(2 * width)]
        if which == "up_proj":
            return self._identity + [[0.0] * width for _ in range(width)]
        rotation = self.circles.rotation(tokens)
        return [
            [share * (rotation[row][column] - (row == column)) / _OPENED for column in range(width)] + [0.0] * width
            for row in range(width)
        ]

    def _head(self, tokens: Sequence[int], *, ahead: int) -> Matrix:
        """Rows that score highest where the state, under the pattern of the final norm, is that of the token before."""
        return [_product(self.circles.point(token - 1 - ahead + TURN), self._signs) for token in tokens]

    def _drafted(self, name: str) -> Sequence[int]:
        """The target token of every row of a drafter's head."""
        rows, vocabulary = self.lines[name].shape[0], self.circles.vocabulary
        if rows >= vocabulary:
            return [row % vocabulary for row in range(rows)]
        if any(key.endswith(("d2t", "draft_id_to_target_id")) for key in self.lines) or rows == vocabulary // 2:
            return [*range(rows // 2), *range(rows // 2 + _GAP, rows + _GAP)]
        return range(rows)

    @cached_property
    def _signs(self) -> Vector:
        return self.circles.signs(1)

    @cached_property
    def _other_signs(self) -> Vector:
        return self.circles.signs(2)

    @cached_property
    def _ones(self) -> Vector:
        return [1.0] * self.circles.hidden

    @cached_property
    def _identity(self) -> Matrix:
        return self.circles.rotation(0)

    @cached_property
    def _nothing(self) -> Matrix:
        return [[0.0] * self.circles.hidden for _ in range(self.circles.hidden)]


def offsets(rows: int) -> list[int]:
    """The map of a reduced vocabulary: what to add to a draft token's id."""
    return [0] * (rows // 2) + [_GAP] * (rows - rows // 2)


def _layer(name: str) -> int:
    found = _LAYER.search(name)
    return int(found[1]) if found else 0


def _product(left: Vector, right: Vector) -> Vector:
    return [one * other for one, other in zip(left, right, strict=True)]


def _fitted(row: Vector, length: int) -> Vector:
    """A row cut, or filled up with zeros, to a length: how a drafter of another width comes to be."""
    return row[:length] + [0.0] * (length - len(row))
