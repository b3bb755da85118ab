"""The tensors a drafter cannot do without, whichever engine runs it and whatever that engine shares with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from drafter_lint.drafters import BlockDrafter, DraftModel, Eagle
from drafter_lint.drafters.layout import Layout

#: Names under which one and the same part is published, fused or not; the first is the one that is told.
_FUSED = {
    "q_proj": ("q_proj", "qkv_proj", "q_b_proj", "qkv"),
    "k_proj": ("k_proj", "qkv_proj", "kv_b_proj", "qkv"),
    "v_proj": ("v_proj", "qkv_proj", "kv_b_proj", "qkv"),
    "gate_proj": ("gate_proj", "gate_up_proj"),
    "up_proj": ("up_proj", "gate_up_proj"),
}
_LAYER = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "post_attention_layernorm",
)


def missing_core(drafter: Eagle | BlockDrafter | DraftModel) -> tuple[str, ...]:
    """Canonical names of core tensors that the file lacks; () if its tensors could not be read.

    Embedding and head are not among them: engines share the target's. Layers the config declares and the file lacks
    altogether are not either: another rule counts them.
    """
    if not drafter.canonical:
        return ()
    if isinstance(drafter, Eagle):
        core = _core(drafter)
    else:
        core = _block(drafter) if isinstance(drafter, BlockDrafter) else _model(drafter)
    there = frozenset(_parts(drafter.canonical))
    return tuple(name for name in core if not _present(there, name))


#: What a head on the DFlash backbone cannot be without, by layout.
_HEADS: dict[Layout, tuple[str, ...]] = {
    Layout.DSPARK: ("markov_head.markov_w1.weight", "markov_head.markov_w2.weight"),
    Layout.DSPARK_SPECULATORS: ("markov_head.markov_w1.weight", "markov_head.markov_w2.weight"),
    Layout.DSPARK_DEEPSPEC: ("markov_head.markov_w1.weight", "markov_head.markov_w2.weight"),
    Layout.DSPARK_MODELOPT: ("markov_w1.weight", "markov_w2.weight"),
    Layout.DOMINO: ("prefix_gru.weight_ih_l0", "prefix_gru.weight_hh_l0", "embed_proj.0.weight", "embed_proj.2.weight"),
}


def _block(drafter: BlockDrafter) -> Iterator[str]:
    if drafter.container == "target":
        return
    yield from ("fc.weight", "hidden_norm.weight", "norm.weight")
    for layer in range(drafter.layers_in_file):
        # Other attention than the published one has other names: linear attention, fused projections.
        usual = drafter.attention == "gqa" and drafter.layout is not Layout.DFLASH_LAGUNA
        parts = (*_LAYER, "input_layernorm") if usual else ("input_layernorm", "post_attention_layernorm")
        yield from (f"layers.{layer}.{part}.weight" for part in parts)
    yield from _HEADS.get(drafter.layout, ())
    if drafter.confidence_head and drafter.confidence_head.value and drafter.variant == "DSpark":
        # sglang 0.5.23, srt/models/dspark.py, load_weights: raises if the head is on and its weights are not there.
        bare = drafter.layout is Layout.DSPARK_MODELOPT
        yield "confidence_proj.weight" if bare else "confidence_head.proj.weight"


def _model(drafter: DraftModel) -> Iterator[str]:
    """A language model has an embedding; a head only if it says that the two are not one."""
    names = tuple(drafter.canonical)
    if not any(re.search(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings|embedding)\.", n) for n in names):
        yield "embed_tokens.weight"
    in_layers = any(re.search(r"(?:^|\.)(?:layers|h)\.\d+\..*norm", n) for n in names)
    if in_layers and not any(re.search(r"^(?:(?!layers\.|h\.).)*(?:norm|ln_f)\w*\.weight$", n) for n in names):
        yield "norm.weight"
    tied = drafter.tie_word_embeddings
    if tied and not tied.value and not any(re.search(r"(?:^|\.)(?:lm_head|output|embed_out)\.", n) for n in names):
        yield "lm_head.weight"


def _core(drafter: Eagle) -> Iterator[str]:
    config = drafter.checkpoint.config
    states = drafter.generation == 1 or drafter.use_aux_hidden_state is None or drafter.use_aux_hidden_state.value
    if states:
        yield "fc.weight"
    for layer in range(drafter.layers_in_file):
        yield from (f"layers.{layer}.{part}.weight" for part in _LAYER)
    if drafter.generation == 1:
        return
    if drafter.parallel:
        # vllm 0.33.0, model_executor/models/llama_eagle3.py, load_weights: raises if it is not there.
        yield "mask_hidden"
    # Model-Optimizer exports leave out what their own switches turn off.
    if states:
        yield "layers.0.hidden_norm.weight"
    for switch, name in (
        ("use_input_layernorm_in_first_layer", "layers.0.input_layernorm.weight"),
        ("use_last_layernorm", "norm.weight"),
    ):
        on = config.boolean("eagle_config", switch)
        if on is None or on.value:
            yield name


def _parts(names: Iterable[str]) -> Iterator[str]:
    """Every name, and what it is a part of: "a.b.weight", "a.b", "a"."""
    for name in names:
        yield name
        yield from (name[: dot.start()] for dot in re.finditer(r"\.", name))


def _present(there: frozenset[str], name: str) -> bool:
    """True if the part is there under any of its names, quantised or not."""
    owner, _, part = name.removesuffix(".weight").rpartition(".")
    if owner.endswith("mlp") and f"{owner}.experts" in there:
        return True
    return any(f"{owner}.{spelling}".lstrip(".") in there for spelling in _FUSED.get(part, (part,)))


def told_as_missing(drafter: Eagle, parameter: str) -> bool:
    """True if an engine's parameter is unfilled only because a core tensor is missing, which tensor-missing tells."""
    name = parameter.removeprefix("model.").replace("midlayer.", "layers.0.")
    owner, _, part = name.removesuffix(".weight").rpartition(".")
    return any(
        name == missing or (part in _FUSED.get(stem, ()) and owner == place)
        for missing in missing_core(drafter)
        for place, _, stem in (missing.removesuffix(".weight").rpartition("."),)
    )
