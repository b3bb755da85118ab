"""What lies beside drafters and is none: adapters, token maps, training state; and GGUF files, which are not read."""

from __future__ import annotations

import re

from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.fields import layer_config
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.model import Unsupported
from drafter_lint.drafters.view import View

_LORA = re.compile(r"\.lora_(?:A|B|embedding_A|embedding_B|magnitude_vector)\b")
#: What trainers leave: torch and DeepSpeed optimizers, TorchSpec's and SpecForge's state, distributed checkpoints.
_STATE = re.compile(
    r"(?:optimizer|scheduler|scaler|training_state|trainer_state|rng_state.*)\.(?:pt|pth|bin|json)"
    r"|(?:.*/)?zero_.*|latest|.*\.distcp|(?:.*/)?bf16_zero_.*|training_args\.bin"
)
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".ckpt", ".npz")


def adapter(view: View) -> tuple[str, ...]:
    """A LoRA adapter: all its tensors are low-rank factors, or there is nothing but an adapter's files."""
    factors = [name for name in view.tensors if _LORA.search(name)]
    others = [name for name in view.tensors if not _LORA.search(name)]
    if factors and not any(re.search(r"(?:^|\.)(?:fc|lm_head|layers\.\d{1,9}\..*proj)\.weight$", n) for n in others):
        return (f"tensors named {factors[0]}",)
    weights = [name for name in view.files if name.endswith(_WEIGHTS)]
    if "adapter_config.json" in view.files and all("adapter" in name for name in weights):
        return ("adapter_config.json and no weights but the adapter's",)
    return ()


def token_map(view: View) -> tuple[str, ...]:
    """FR-Spec: a list of frequent token ids, as a pickled file or as one tensor of one dimension."""
    weights = sorted(name for name in view.files if name.endswith(_WEIGHTS) and not _STATE.fullmatch(name))
    if weights and all(re.fullmatch(r"freq_\d+\.pt", name) for name in weights):
        return (f"no weights but {', '.join(weights[:3])}",)
    tensors = list(view.tensors.values())
    if tensors and all(tensor.dtype in ("I64", "I32") and len(tensor.shape) == 1 for tensor in tensors):
        return (f"no tensors but lists of ids: {', '.join(tensor.shown for tensor in tensors[:3])}",)
    return ()


def training_state(view: View) -> tuple[str, ...]:
    """An optimizer's or a trainer's folder."""
    weights = [name for name in view.files if name.endswith((*_WEIGHTS, ".distcp")) or _STATE.fullmatch(name)]
    if weights and all(_STATE.fullmatch(name) for name in weights) and not view.tensors:
        return (f"no weights but {', '.join(sorted(weights)[:3])}",)
    if view.tensors and all(re.search(r"(?:^|\.)exp_avg(?:_sq)?(?:\.|$)", name) for name in view.tensors):
        return (f"tensors named {next(iter(view.tensors))}",)
    return ()


def gguf(view: View) -> tuple[str, ...]:
    """llama.cpp's container, and nothing else to read."""
    names = sorted(name for name in view.files if name.endswith(".gguf"))
    others = [name for name in view.files if name.endswith(".safetensors")]
    return (f"file {names[0]}",) if names and not others else ()


def something(view: View, layout: Layout, *, method: str = "", title: str) -> Unsupported:
    """A checkpoint that is named and no further understood."""
    return Unsupported(
        checkpoint=view.checkpoint,
        layout=layout,
        method=method,
        title=title,
        layer_config=layer_config(view.config),
        architecture=view.architecture,
        model_type=view.config.string("model_type"),
        claims=claims(view.checkpoint, view.config),
        canonical=view.tensors,
        prefix=view.prefix,
    )


#: Methods of which no more than a name is published.
NAMED_ONLY = Known(
    layout=Layout.OTHER,
    build=lambda view, layout: something(view, layout, method="edsd", title="EDSD drafter"),
    architectures=(r"^Edsd",),
)
