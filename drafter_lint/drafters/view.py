"""A checkpoint as recognition sees it: config, tensors under canonical names, and what had to be stripped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from drafter_lint.checkpoint import Checkpoint, Config, Document, Tensor
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Located

#: Prefixes that trainers and wrappers leave in front of names, stripped as often as they occur.
_WRAPPERS = re.compile(
    r"^(?:module|_orig_mod|_fsdp_wrapped_module|draft_model|eagle_module|dflash_module|logit_head|model)\."
)
Writer = Literal["", "speculators-eagle", "mistral"]
_MUSE = {"encoder.fc.weight": "fc.weight", "encoder.output_norm_enc.weight": "hidden_norm.weight"}
_MISTRAL = (
    ("eagle_linear.", "fc."),
    ("tok_embeddings.", "embed_tokens."),
    (".attention.wq.", ".self_attn.q_proj."),
    (".attention.wk.", ".self_attn.k_proj."),
    (".attention.wv.", ".self_attn.v_proj."),
    (".attention.wo.", ".self_attn.o_proj."),
    (".feed_forward.w1.", ".mlp.gate_proj."),
    (".feed_forward.w2.", ".mlp.down_proj."),
    (".feed_forward.w3.", ".mlp.up_proj."),
    (".attention_norm.", ".input_layernorm."),
    (".ffn_norm.", ".post_attention_layernorm."),
)
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)|^\d+(?=\.)")
#: Wrappers that put their name wherever they wrap, in the middle of a name too: FSDP, torch.compile, checkpointing.
_INFIXES = ("_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module.")
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
        prefix: the longest prefix that was stripped, else a wrapper's name from inside the names; "" if none.
        stems: every canonical name with ``#`` in place of its numbers: a target of 200,000 tensors has a few dozen.
        files: the names of the files beside each other, weights or not, to their sizes in bytes.
        architecture: ``architectures[0]``.
    """

    checkpoint: Checkpoint
    config: Config
    readable: bool
    tensors: Mapping[str, Tensor] = field(default_factory=dict)
    written: frozenset[str] = frozenset()
    prefix: str = ""
    stems: frozenset[str] = frozenset()
    files: Mapping[str, int] = field(default_factory=dict)
    architecture: Located[str] | None = None

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

    def stem(self, pattern: str) -> str:
        """The first stem a pattern is found in, "" if there is none."""
        return next((stem for stem in sorted(self.stems) if re.search(pattern, stem)), "")

    def indices(self, pattern: str) -> tuple[int, ...]:
        """The numbers the only group of a pattern finds in the canonical names, ascending."""
        compiled = re.compile(pattern)
        return tuple(sorted({int(found[1]) for name in self.tensors if (found := compiled.search(name))}))

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
        files = {path: entry.size for path, entry in checkpoint.source.files.items()}
    except Unavailable:
        files = {}
    try:
        table = checkpoint.tensors
    except Unavailable:
        return View(
            checkpoint=checkpoint, config=config, readable=False, files=files, architecture=_architecture(config)
        )
    tensors: dict[str, Tensor] = {}
    written: set[str] = set()
    longest = ""
    writer = _writer(table)
    for name, tensor in table.items():
        bare, prefix = unwrapped(name)
        longest = max(longest, prefix, key=len)
        written.add(bare)
        tensors[canonical(bare, writer)] = tensor
    return View(
        checkpoint=checkpoint,
        config=config,
        readable=True,
        tensors=tensors,
        written=frozenset(written),
        prefix=longest,
        stems=frozenset(_NUMBER.sub("#", name) for name in tensors),
        files=files,
        architecture=_architecture(config),
    )


def _architecture(config: Config) -> Located[str] | None:
    names = config.strings("architectures")
    return Located(names.value[0], config.at("architectures", "0")) if names and names.value else None


def _writer(names: Iterable[str]) -> Writer:
    """Whose spelling the names are in, where it is not the common one."""
    for name in names:
        if "fusion_fc." in name:
            return "speculators-eagle"
        if "eagle_linear." in name:
            return "mistral"
    return ""


def canonical(bare: str, writer: Writer) -> str:
    """A stripped name as the ``layers.N`` layouts write it."""
    if bare.startswith("midlayer."):
        return f"layers.0.{bare[9:]}"
    if writer == "speculators-eagle":
        # speculators 0.1 to 0.4, models/eagle.py: one decoder layer called transformer, the projection fusion_fc.
        if bare.startswith("transformer."):
            return f"layers.0.{bare[12:]}"
        return f"fc.{bare[10:]}" if bare.startswith("fusion_fc.") else bare
    if writer == "mistral":
        # vllm 0.33.0, model_executor/models/mistral_eagle.py and mistral.py, mistral_mapping.
        for theirs, ours in _MISTRAL:
            bare = bare.replace(theirs, ours)
        return bare
    # Muse-Glimmer's assistant: the DFlash projection and its norm as an encoder's.
    return _MUSE.get(bare, bare)


def strip(name: str) -> str:
    """A tensor name without wrapper prefixes."""
    while found := _WRAPPERS.match(name):
        name = name[found.end() :]
    return name


def unwrapped(name: str) -> tuple[str, str]:
    """A tensor name without wrappers' names before it or inside it, and what was taken away."""
    bare = strip(name)
    prefix = name[: len(name) - len(bare)]
    if "_m" not in bare and "_w" not in bare:
        return bare, prefix
    for infix in _INFIXES:
        if infix in bare:
            bare, prefix = bare.replace(infix, ""), prefix or infix
    return bare, prefix
