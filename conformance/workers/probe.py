"""Watches a drafter being loaded: which parameters its file fills, and which tensors reach no parameter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors import safe_open

from conformance.workers.protocol import Seen

_POISON = -1234567


class Probe:
    """Poisons every parameter before a load, and looks afterwards what is left of the poison.

    Args:
        model: the drafter's model, just built.
        folder: where its weights lie.
        inside: True if it rides inside the target, whose own tensors do not count then.
    """

    def __init__(self, model: torch.nn.Module, folder: Path, *, inside: bool) -> None:
        self._model, self._folder, self._inside = model, folder, inside
        self._before: dict[str, torch.Tensor] = {}
        met: set[int] = set()
        for name, parameter in model.named_parameters():
            if parameter.device.type == "meta" or parameter.data_ptr() in met:
                continue
            met.add(parameter.data_ptr())
            self._before[name] = parameter.data.clone()
            parameter.data.fill_(float("nan") if parameter.is_floating_point() else _POISON)

    def note(self, seen: Seen) -> None:
        """Write down what the load did, and give the parameters it left alone their first values back."""
        parameters = dict(self._model.named_parameters())
        seen.unfilled, partial = [], {}
        for name, before in self._before.items():
            now = parameters.get(name)
            if now is None or now.shape != before.shape:
                continue
            poisoned = torch.isnan(now.data) if now.is_floating_point() else now.data == _POISON
            left = int(poisoned.sum())
            if left == poisoned.numel():
                seen.unfilled.append(name)
            elif left:
                partial[name] = [left, poisoned.numel()]
            now.data.copy_(torch.where(poisoned, before, now.data))
        seen.partial = partial or None
        seen.dropped = sorted(self._dropped(parameters))

    def _dropped(self, parameters: dict[str, torch.nn.Parameter]) -> Iterator[str]:
        """Tensors of which neither the first nor the last row is a row, or a column, of any parameter."""
        rows: set[bytes] = set()
        vectors: list[bytes] = []
        dtypes: set[torch.dtype] = set()
        for parameter in parameters.values():
            if parameter.device.type == "meta":
                continue
            data = parameter.data.reshape(-1, parameter.shape[-1] if parameter.dim() > 1 else parameter.numel())
            dtypes.add(data.dtype)
            rows.update(map(_raw, data))
            if parameter.dim() == 1:
                vectors.append(_raw(data))  # biases and norms are stacked one after the other
            elif parameter.dim() == 2:
                rows.update(map(_raw, data.t()))
        for name, tensor in self._tensors():
            ends = tensor.reshape(-1, tensor.shape[-1] if tensor.dim() > 1 else tensor.numel())[[0, -1]]
            alike = [
                dtype for dtype in dtypes | {tensor.dtype} if dtype.is_floating_point == tensor.is_floating_point()
            ]
            wanted = [_raw(row.to(dtype)) for dtype in alike for row in ends]
            stacked = tensor.dim() == 1 and any(row in vector for row in wanted for vector in vectors)
            if not stacked and rows.isdisjoint(wanted):
                yield name

    def _tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        first = (
            json.loads((self._folder / "config.json").read_text("utf-8"))["num_hidden_layers"] if self._inside else 0
        )
        for path in sorted(self._folder.glob("*.safetensors")):
            with safe_open(path, "pt") as file:
                for name in file.keys():  # noqa: SIM118 - the handle is no mapping
                    layer = re.search(r"layers\.(\d+)\.", name)
                    own = "mtp" in name or (layer is not None and int(layer[1]) >= first)
                    if own or not self._inside:
                        tensor = file.get_tensor(name)
                        if tensor.numel():
                            yield name, tensor


def _raw(row: torch.Tensor) -> bytes:
    return row.contiguous().view(torch.uint8).numpy().tobytes()
