"""A checkpoint as recognition sees it: config, tensors under canonical names, and what had to be stripped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.checkpoint import Checkpoint, Config, Document, Tensor
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Located

#: Prefixes that trainers and wrappers leave in front of names, stripped as often as they occur.
_WRAPPERS = re.compile(
    r"^(?:module|_orig_mod|_fsdp_wrapped_module|draft_model|eagle_module|dflash_module|logit_head|model)\."
)
_LAYER = re.compile(r"^layers\.(\d+)\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What recognition may look at.

    Attributes:
        checkpoint: the files.
        config: config.json, an empty object if it could not be read.
        readable: False if the tensor table could not be read; then only the config speaks.
        tensors: canonical name (prefixes stripped, ``midlayer.`` as ``layers.0.``) to tensor; empty if unreadable.
        written: stripped name as written (``midlayer.`` kept).
        prefix: the longest prefix that was stripped, "" if none.
    """

    checkpoint: Checkpoint
    config: Config
    readable: bool
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    written: frozenset[str] = frozenset()
    prefix: str = ""

    @property
    def architecture(self) -> Located[str] | None:
        """``architectures[0]``."""
        names = self.config.strings("architectures")
        return Located(names.value[0], self.config.at("architectures", "0")) if names and names.value else None

    @property
    def layers(self) -> int:
        """How many decoder layers the tensor names show."""
        return len({found[1] for name in self.tensors if (found := _LAYER.match(name))})

    def has(self, *names: str) -> bool:
        """True if every canonical name is there."""
        return all(name in self.tensors for name in names)

    def any_with(self, *parts: str) -> bool:
        """True if some canonical name contains one of the parts."""
        return any(part in name for name in self.tensors for part in parts)

    def width(self, name: str) -> int | None:
        """Input features of a linear weight ``[out, in]``."""
        tensor = self.tensors.get(name)
        return tensor.shape[1] if tensor and len(tensor.shape) == 2 else None


def view(checkpoint: Checkpoint) -> View:
    """Look at a checkpoint; parts that cannot be read are left empty."""
    try:
        config = checkpoint.config
    except Unavailable:
        config = Config(Document(root={}, subject=checkpoint.reference.name, role=checkpoint.role))
    try:
        table = checkpoint.tensors
    except Unavailable:
        return View(checkpoint=checkpoint, config=config, readable=False)
    tensors: dict[str, Tensor] = {}
    written: set[str] = set()
    longest = ""
    for name, tensor in table.items():
        bare = strip(name)
        prefix = name[: len(name) - len(bare)]
        longest = max(longest, prefix, key=len)
        written.add(bare)
        tensors[re.sub(r"^midlayer\.", "layers.0.", bare)] = tensor
    return View(
        checkpoint=checkpoint,
        config=config,
        readable=True,
        tensors=tensors,
        written=frozenset(written),
        prefix=longest,
    )


def strip(name: str) -> str:
    """A tensor name without wrapper prefixes."""
    while found := _WRAPPERS.match(name):
        name = name[found.end() :]
    return name
