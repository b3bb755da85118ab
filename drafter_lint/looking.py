"""One checkpoint looked at by itself, as a drafter and as a target, without opening every file of a large one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from drafter_lint.checkpoint import Checkpoint, TensorTable
from drafter_lint.checkpoint.selection import Selection, select
from drafter_lint.drafters import Drafter, Eagle, Recognition
from drafter_lint.drafters.recognise import recognise
from drafter_lint.errors import Unavailable
from drafter_lint.sources.narrowed import Narrowed
from drafter_lint.targets import Target, read_target

#: Drafters come in one file, draft language models in a few; beyond, only the first and the last header are read. Of a
#: target with 64 files and 208,216 tensors all headers together have 54 MB.
MAX_FILES = 4
#: Layers from which on a checkpoint is a model, whatever rides inside it.
_MODEL_LAYERS = 9

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a checkpoint is.

    Attributes:
        checkpoint: its files; of a large one, those that are looked at.
        recognition: what it was taken for as a drafter.
        target: what it offers as a target, None if its config could not be read.
        tensors: its tensors, None if they could not be read.
        files: how many weight files it has.
        sampled: the weight files whose headers were read; () if those of all were.
        unopened: weight files that are never opened (.bin, .pt, .gguf).
        troubles: what could not be read.
    """

    checkpoint: Checkpoint
    recognition: Recognition
    target: Target | None
    tensors: TensorTable | None
    files: int
    sampled: tuple[str, ...]
    unopened: tuple[str, ...]
    troubles: tuple[Unavailable, ...]

    @property
    def drafter(self) -> Drafter:
        """The drafter it was taken for."""
        return self.recognition.drafter

    @property
    def is_model(self) -> bool:
        """True if this is a whole model: it has no drafting head, or only one that rides inside it."""
        drafter = self.drafter
        if isinstance(drafter, Eagle):
            return False
        layers = self.target.num_layers.value if self.target and self.target.num_layers else 0
        if drafter.method in {"", "mtp"} or self.sampled:
            return layers >= _MODEL_LAYERS
        return drafter.method == "draft_model"

    @property
    def title(self) -> str:
        """One phrase for a person."""
        if self.is_model and self.target and self.target.hidden_size:
            return self.target.title
        return self.drafter.title


def look(checkpoint: Checkpoint) -> Look:
    """Look at a checkpoint; total: what cannot be read is named, the rest is still understood."""
    selection = _selection(checkpoint)
    weights = selection.safetensors
    sampled = (weights[0], weights[-1]) if len(weights) > MAX_FILES else ()
    if sampled:
        # The index goes as well: it names files that are now out of sight, and may be larger than both headers.
        hidden = {path for path in checkpoint.source.files if path.endswith(".safetensors.index.json")}
        hidden.update(set(weights) - set(sampled))
        checkpoint = Checkpoint(checkpoint.reference, Narrowed(checkpoint.source, hidden), role=checkpoint.role)
    target, no_target = _tried(lambda: read_target(checkpoint))
    tensors, no_tensors = _tried(lambda: checkpoint.tensors)
    _, no_map = (None, None) if sampled else _tried(lambda: checkpoint.vocab_map)
    troubles = {str(trouble): trouble for trouble in (no_target, no_tensors, no_map) if trouble}
    return Look(
        checkpoint=checkpoint,
        recognition=recognise(checkpoint),
        target=target,
        tensors=tensors,
        files=len(weights),
        sampled=sampled,
        unopened=selection.unopened,
        troubles=tuple(troubles.values()),
    )


def _tried(read: Callable[[], T]) -> tuple[T | None, Unavailable | None]:
    try:
        return read(), None
    except Unavailable as trouble:
        return None, trouble


def _selection(checkpoint: Checkpoint) -> Selection:
    try:
        return select(checkpoint.source.files)
    except Unavailable:  # told when the files are read
        return select(())
