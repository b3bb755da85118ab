"""Everything that is not EAGLE, recognised far enough to be named and never mistaken for something it is not."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.model import Layout, Match, Unsupported
from drafter_lint.drafters.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """A method by its marks: what it is called, and the tensor names or config keys that give it away."""

    method: str
    title: str
    tensors: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    speculators: tuple[str, ...] = ()
    layout: Layout = Layout.OTHER

    def reasons(self, view: View) -> tuple[str, ...]:
        """Why a checkpoint is this; empty if nothing says so."""
        found = [f"tensors named {mark}" for mark in self.tensors if view.any_with(mark)]
        found += [f"config key {key}" for key in self.keys if view.config.has(key)]
        name = view.architecture.value if view.architecture else ""
        found += [f"architecture {name}" for mark in self.architectures if mark in name]
        kind = view.config.string("speculators_model_type")
        found += [f"speculators_model_type is {kind.value}"] if kind and kind.value in self.speculators else []
        return tuple(dict.fromkeys(found))


#: In the order they are asked; the more special marks come first.
OTHERS: tuple[Other, ...] = (
    Other(
        method="",
        title="a LoRA adapter",
        tensors=(".lora_A.", ".lora_B."),
        layout=Layout.NOT_A_DRAFTER,
    ),
    Other(
        method="dspark",
        title="DSpark drafter",
        tensors=("markov_head.", "markov_w1."),
        keys=("dspark_config", "dspark_target_layer_ids"),
        architectures=("DSpark",),
        speculators=("dspark",),
    ),
    Other(
        method="dflash",
        title="DFlash-family drafter",
        tensors=("candidate_selector.", "prefix_gru.", "refiner_head.", "aux_hidden_norms."),
        keys=("dflash_config",),
        architectures=("DFlash", "Domino", "LiLiCorr", "XPress", "MuseGlimmerAssistant"),
        speculators=("dflash", "dflash2", "xpress"),
    ),
    Other(
        method="mtp",
        title="multi-token-prediction layers",
        tensors=("mtp.", "mtp_layers.", "mtp_block.", ".eh_proj.", ".enorm.", ".shared_head.", "pre_projection."),
        architectures=("NextN", "MTP", "Gemma4Assistant"),
        speculators=("mtp",),
    ),
    Other(
        method="eagle",
        title="EAGLE-1/2 drafter in the speculators layout",
        tensors=("fusion_fc.",),
        speculators=("eagle",),
    ),
    Other(
        method="hydra",
        title="Hydra heads",
        tensors=("hydra_mlp.", "hydra_lm_head."),
    ),
    Other(
        method="medusa",
        title="Medusa heads",
        tensors=("medusa_head.", "medusa_heads.", "lm_heads."),
        keys=("medusa_num_heads",),
        architectures=("Medusa",),
    ),
    Other(
        method="mlp_speculator",
        title="MLPSpeculator",
        tensors=("speculator.emb.", "speculator.proj."),
        architectures=("MLPSpeculator",),
    ),
)


def other(view: View) -> tuple[Match, Unsupported] | None:
    """The first method whose marks are there, or a plain language model."""
    for candidate in OTHERS:
        reasons = candidate.reasons(view)
        if reasons:
            return Match(candidate.layout, reasons), _unsupported(
                view, candidate.layout, candidate.method, candidate.title
            )
    if view.has("hidden_norm.weight", "fc.weight"):
        reasons = ("hidden_norm.weight beside fc.weight, outside any layer",)
        return Match(Layout.OTHER, reasons), _unsupported(view, Layout.OTHER, "dflash", "DFlash-family drafter")
    if view.has("embed_tokens.weight") and view.layers and not view.has("fc.weight"):
        title = f"ordinary language model of {view.layers} layer{'s' if view.layers != 1 else ''}"
        match = Match(Layout.OTHER, ("embed_tokens and decoder layers, nothing of a drafting head",))
        return match, _unsupported(view, Layout.OTHER, "draft_model", title)
    return None


def unknown(view: View) -> tuple[Match, Unsupported]:
    """Nothing fits."""
    title = "unknown layout" if view.readable else "unknown layout (tensor names could not be read)"
    return Match(Layout.UNKNOWN, ()), _unsupported(view, Layout.UNKNOWN, "", title)


def _unsupported(view: View, layout: Layout, method: str, title: str) -> Unsupported:
    return Unsupported(
        checkpoint=view.checkpoint,
        layout=layout,
        method=method,
        title=title,
        architecture=view.architecture,
        model_type=view.config.string("model_type"),
        claims=claims(view.checkpoint, view.config),
    )
