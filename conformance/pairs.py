"""A constructed pair on disk: the folder of a truth case, its holes filled with values."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from shutil import copytree

from conformance.truth import TruthCase
from conformance.weights import Weights, offsets
from drafter_lint.recipe import Recipe
from drafter_lint.recipe.lines import TensorLine

_INTEGERS = {"I64": "q", "I32": "i"}
_WEIGHTS = frozenset({"BF16", "F16", "F32"})


class PairWriter:
    """Writes pairs below one folder. A target is made once and copied for every case that shares it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pairs = count()
        self._targets: dict[tuple[int, str | None], Path] = {}

    def write(self, case: TruthCase) -> Path:
        """Write target and drafter as the engines are to find them; returns the folder that holds both.

        Its name says nothing of the case, for engines take hints from every part of a path.
        """
        folder = (self._folder / f"pair-{next(self._pairs)}").resolve()
        key = (id(case.target), case.built.state)
        if key not in self._targets:
            self._targets[key] = case.target.write(self._folder / f"target-{len(self._targets)}")
            _fill(case, case.target, folder=self._targets[key], of_target=True)
        copytree(self._targets[key], folder / "target")
        if not case.drafter_is_target:
            drafter = case.drafter.write(folder / case.drafter_folder)
            _fill(case, case.drafter, folder=drafter, of_target=False)
        return folder


def _fill(case: TruthCase, recipe: Recipe, *, folder: Path, of_target: bool) -> None:
    for file in recipe.tensors:
        lines = recipe.table(file)
        weights = Weights(case, lines, of_target)
        path = folder / file
        size = path.stat().st_size
        with path.open("r+b") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header: Mapping[str, Mapping[str, list[int]]] = json.loads(stream.read(length))
            for name, line in lines.items():
                if line.values is not None and line.dtype not in _WEIGHTS:
                    continue  # a map or its mask; what a recipe says of a weight only stands in for it
                start = 8 + length + header[name]["data_offsets"][0]
                stream.seek(start)
                # A file that was cut short stays as short.
                stream.write(_bytes(weights, name, line)[: max(0, size - start)])


def _bytes(weights: Weights, name: str, line: TensorLine) -> bytes:
    if line.dtype in _INTEGERS:
        return array(_INTEGERS[line.dtype], offsets(line.elements)).tobytes()
    return encoded(weights.values(name), line.dtype)


def encoded(values: Iterable[float], dtype: str) -> bytes:
    """Numbers as a safetensors file holds them.

    Raises:
        ValueError: no constructed pair has weights of such a dtype.
    """
    singles = array("f", values)
    if dtype == "F32":
        return singles.tobytes()
    if dtype == "BF16":
        # The upper half of a single, rounded to even.
        words = memoryview(singles).cast("B").cast("I")
        return array("H", [(word + 0x7FFF + (word >> 16 & 1)) >> 16 for word in words]).tobytes()
    if dtype == "F16":
        return struct.pack(f"<{len(singles)}e", *singles)
    raise ValueError(f"no weights of dtype {dtype} are made")
