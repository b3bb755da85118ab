"""Which files of a folder are the model's weights, as the engines choose them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

MODEL_INDEX = "model.safetensors.index.json"
CONSOLIDATED_INDEX = "consolidated.safetensors.index.json"

_UNOPENED = (".bin", ".pt", ".pth", ".ckpt", ".gguf", ".npz")
# vllm 0.33.0, model_executor/model_loader/weight_utils.py, filter_files_not_needed_for_inference names the first five;
# rng_state is what the same trainer leaves beside them.
_LEFTOVERS = re.compile(r"(?:training_args|optimizer)\.bin|(?:optimizer|scheduler|scaler)\.pt|rng_state.*\.pth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The weight files of a checkpoint before any is opened.

    Attributes:
        safetensors: the files that make up the model if no index says otherwise, in name order.
        index: the index that belongs to them, None if there is none.
        set_aside: safetensors files that are not part of the model (a consolidated copy, an adapter).
        unopened: weight files that are never opened, in name order.
    """

    safetensors: tuple[str, ...]
    index: str | None
    set_aside: tuple[str, ...]
    unopened: tuple[str, ...]


def select(paths: Iterable[str]) -> Selection:
    """Choose the weight files.

    Only the folder itself is looked at: engines glob ``*.safetensors`` without descending (vllm 0.33.0,
    model_executor/model_loader/default_loader.py, DefaultModelLoader._prepare_weights; sglang 0.5.23,
    srt/model_loader/loader.py, the same name).

    A ``consolidated*.safetensors`` beside other files repeats the model in Mistral's own names. The index leaves it
    out, and sglang 0.5.23, srt/model_loader/weight_utils.py, filter_duplicate_safetensors_files drops it even without
    one, so it is set aside here. vllm 0.33.0, DefaultModelLoader._prepare_weights with load format "auto" reads it and
    nothing else; who needs to know finds it in ``set_aside``.
    """
    here = sorted(path for path in paths if "/" not in path)
    present = set(here)
    found = [path for path in here if path.endswith(".safetensors")]
    consolidated = [path for path in found if path.startswith("consolidated")]
    adapters = [path for path in found if path.startswith("adapter_")]
    model = [path for path in found if path not in consolidated and path not in adapters]
    chosen = model or consolidated or adapters
    index = MODEL_INDEX if MODEL_INDEX in present else None
    if index is None and chosen is consolidated and CONSOLIDATED_INDEX in present:
        index = CONSOLIDATED_INDEX
    return Selection(
        safetensors=tuple(chosen),
        index=index,
        set_aside=tuple(path for path in found if path not in chosen),
        unopened=tuple(path for path in here if path.endswith(_UNOPENED) and not _LEFTOVERS.fullmatch(path)),
    )
