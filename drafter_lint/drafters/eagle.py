"""EAGLE-1/2 and EAGLE-3 drafters: how their layouts are told apart, and the needs they share."""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.checkpoint import Config
from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.fields import by_speculators, layer_config, mask_token, written_ids
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.model import Eagle, Match, WrittenIds
from drafter_lint.drafters.view import View
from drafter_lint.findings import Located

_LAYER0 = "layers.0."
_MLA = (f"{_LAYER0}self_attn.q_a_proj", f"{_LAYER0}self_attn.kv_a_proj_with_mqa", f"{_LAYER0}self_attn.kv_b_proj")
_IDS = "eagle_aux_hidden_state_layer_ids"
#: Architecture names that say which generation a config means; generic names (LlamaForCausalLM) say nothing.
_SPECULATORS = {
    "eagle3": Layout.EAGLE3_SPECULATORS,
    "peagle": Layout.EAGLE3_SPECULATORS,
    "eagle": Layout.EAGLE1_SPECULATORS,
}
_EAGLE1_NAMES = ("EagleLlama", "EagleModel", "EAGLEModel", "ForCausalLMEagle", "EagleQwen", "EagleMistral")


#: What by_config says of fields that other kinds of drafters have as well.
GENERIC = "the config carries EAGLE-3 fields"


def by_tensors(view: View) -> Match | None:
    """The EAGLE layout the tensors show."""
    reasons = _eagle3_reasons(view)
    if reasons:
        return Match(_eagle3_layout(view), tuple(reasons))
    hidden = _hidden_size(view)
    fc = view.tensors.get("fc.weight")
    if fc is None or len(fc.shape) != 2 or not view.any_with(f"{_LAYER0}self_attn.", f"{_LAYER0}mlp."):
        return None
    if fc.shape[1] == 2 * fc.shape[0] and view.width(f"{_LAYER0}self_attn.q_proj.weight") in (
        fc.shape[0],
        hidden,
        None,
    ):
        reasons = [f"fc.weight {list(fc.shape)} joins one hidden state to the embedding", "no hidden_norm"]
        fusion = any(name.startswith("fusion_fc.") for name in view.written)
        return Match(Layout.EAGLE1_SPECULATORS if fusion else Layout.EAGLE1, tuple(reasons))
    return None


def by_config(view: View) -> Match | None:
    """The EAGLE layout the config names, if it names one."""
    config, architecture = view.config, view.architecture
    name = architecture.value if architecture else ""
    kind = config.string("speculators_model_type")
    if kind:
        layout = _SPECULATORS.get(kind.value)
        return Match(layout, (f"speculators_model_type is {kind.value}",)) if layout else None
    if name.endswith("Eagle3Model"):
        return Match(Layout.EAGLE3_DEEPSPEC, (f"architecture {name}",))
    if "Eagle3" in name or name.startswith("PEagle") or "Peagle" in name:
        mla = "Deepseek" in name or bool(config.integer("kv_lora_rank"))
        return Match(Layout.EAGLE3_MLA if mla else Layout.EAGLE3_MIDLAYER, (f"architecture {name}",))
    if any(part in name for part in _EAGLE1_NAMES) or _text(config, "model_type") == "eagle":
        return Match(Layout.EAGLE1, (f"architecture {name}" if name else "model_type eagle",))
    if config.object("eagle_config") or config.has(_IDS) or config.has("draft_vocab_size"):
        return Match(Layout.EAGLE3_MIDLAYER, (GENERIC,))
    return None


def settle(_view: View, shown: Layout | None, named: Layout | None) -> Layout:
    """One layout out of what the tensors show and what the config names; at least one of them is given."""
    if shown and named is Layout.EAGLE3_DEEPSPEC and shown.family == "eagle3":
        return named
    return shown or named or Layout.EAGLE3_MIDLAYER


def build(view: View, layout: Layout) -> Eagle:
    """The typed needs of an EAGLE drafter written in ``layout``."""
    config = view.config
    layer = layer_config(config)
    generation = 1 if layout.family == "eagle1" else 3
    draft_vocab = (
        config.integer("draft_vocab_size")
        or layer.integer("draft_vocab_size")
        or config.integer("truncated_vocab_size")
    )
    eagle = Eagle(
        checkpoint=view.checkpoint,
        layout=layout,
        method="eagle" if generation == 1 else "eagle3",
        title="",
        architecture=view.architecture,
        model_type=config.string("model_type") or layer.string("model_type"),
        claims=claims(view.checkpoint, config),
        generation=1 if generation == 1 else 3,
        attention="mla" if layout is Layout.EAGLE3_MLA or view.any_with(*_MLA) else "gqa",
        layer_config=layer,
        canonical=view.tensors,
        prefix=view.prefix,
        hidden_size=layer.size("hidden_size"),
        target_hidden_size=config.integer("target_hidden_size") or layer.integer("target_hidden_size"),
        num_layers=layer.size("num_hidden_layers"),
        layers_in_file=view.layers,
        fc=view.tensors.get("fc.weight"),
        vocab_size=layer.size("vocab_size"),
        draft_vocab_size=draft_vocab,
        layer_ids=_written_ids(config, layout),
        use_aux_hidden_state=config.boolean("eagle_config", "use_aux_hidden_state"),
        norm_before_residual=config.boolean("norm_before_residual"),
        fc_norm=config.boolean("fc_norm") or config.boolean("use_aux_norm"),
        norm_output=config.boolean("norm_output"),
        norm_before_fc=config.boolean("norm_before_fc"),
        mask_token=mask_token(config),
        parallel=_parallel(view),
        writer=_writer(config, layout),
    )
    return _titled(eagle, readable=view.readable)


def _eagle3_reasons(view: View) -> list[str]:
    """Why the tensors are an EAGLE-3 head; empty if they are not."""
    fc = view.tensors.get("fc.weight")
    projection = view.width(f"{_LAYER0}self_attn.q_proj.weight") or view.width(f"{_LAYER0}self_attn.q_a_proj.weight")
    hidden = _hidden_size(view)
    reasons = []
    if any(name.startswith("midlayer.") for name in view.written):
        reasons.append("tensors named midlayer.*")
    if view.has(f"{_LAYER0}hidden_norm.weight"):
        reasons.append("layers.0.hidden_norm.weight, the norm of the fused states")
    if hidden and projection == 2 * hidden:
        reasons.append(f"the first layer's attention takes 2H = {projection}")
    if not reasons and fc is not None and len(fc.shape) == 2 and fc.shape[1] >= 3 * fc.shape[0] and view.layers:
        reasons.append(f"fc.weight {list(fc.shape)} joins several hidden states")
    # A top-level hidden_norm is the block drafters' mark (DFlash and its kin), whatever else fits.
    return [] if view.has("hidden_norm.weight") else reasons


def _eagle3_layout(view: View) -> Layout:
    if by_speculators(view.config):
        return Layout.EAGLE3_SPECULATORS
    if view.any_with(*_MLA):
        return Layout.EAGLE3_MLA
    midlayer = any(name.startswith("midlayer.") for name in view.written)
    return Layout.EAGLE3_MIDLAYER if midlayer else Layout.EAGLE3_LAYERS


def _hidden_size(view: View) -> int | None:
    """H: from the fc's rows where there is one, else as declared."""
    fc = view.tensors.get("fc.weight")
    if fc is not None and len(fc.shape) == 2:
        return fc.shape[0]
    declared = layer_config(view.config).integer("hidden_size")
    return declared.value if declared else None


def _parallel(view: View) -> bool:
    """P-EAGLE: a learned state for the positions that have none, or a config that says so."""
    if view.has("mask_hidden"):
        return True
    kind, name = view.config.string("speculators_model_type"), view.architecture
    said = (kind is not None and kind.value == "peagle") or (name is not None and name.value.startswith("PEagle"))
    return said or bool((switch := view.config.boolean("parallel_drafting")) and switch.value)


def _written_ids(config: Config, layout: Layout) -> tuple[WrittenIds, ...]:
    if layout is Layout.EAGLE3_DEEPSPEC:
        return written_ids(config, "target_layer_ids")
    top, nested = config.integers(_IDS), config.integers("eagle_config", _IDS)
    found = [WrittenIds(top, "top-level")] if top and top.value else []
    return tuple(found + ([WrittenIds(nested, "nested")] if nested and nested.value else []))


def _writer(config: Config, layout: Layout) -> str:
    if layout is Layout.EAGLE3_DEEPSPEC:
        return "DeepSpec"
    if config.has("speculators_version") or config.has("speculators_model_type"):
        return "speculators"
    if config.has("_torchspec_version"):
        return "TorchSpec"
    return "ModelOpt" if config.has("eagle_config", "next_layer_regular") else ""


def _titled(eagle: Eagle, *, readable: bool) -> Eagle:
    layers = eagle.layers_in_file if readable else eagle.num_layers.value if eagle.num_layers else 0
    parts = [eagle.variant + (" (MLA)" if eagle.attention == "mla" else "")]
    parts += [f"{layers} layer{'s' if layers != 1 else ''}"] if layers else []
    if eagle.fc is not None and len(eagle.fc.shape) == 2:
        times = f" = {eagle.states} x {eagle.state_width}" if eagle.states and eagle.generation == 3 else ""
        parts.append(f"fc takes {eagle.fc.shape[1]}{times}")
    if eagle.draft_vocab_size:
        suffix = " (d2t)" if "d2t" in eagle.canonical else ""
        parts.append(f"draft vocabulary {eagle.draft_vocab_size.value}{suffix}")
    return replace(eagle, title=", ".join(parts))


def _text(config: Config, key: str) -> str:
    value: Located[str] | None = config.string(key)
    return value.value if value else ""
