"""Block drafters: DFlash and the heads that stand on its backbone, in every layout that is published."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.family import BlockDrafter, Variant
from drafter_lint.drafters.fields import by_speculators, count, flag, layer_config, layers_said, mask_token, written_ids
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.view import View

_FUSED = r"(?:^|\.)mtp\.#\."
VARIANTS: Final[dict[Layout, Variant]] = {
    Layout.DFLASH: "DFlash",
    Layout.DFLASH_SPECULATORS: "DFlash",
    Layout.DFLASH_DEEPSPEC: "DFlash",
    Layout.DFLASH_LAGUNA: "DFlash",
    Layout.DFLASH_MUSE: "DFlash",
    Layout.DFLARE: "DFlare",
    Layout.LILICORR: "LiLiCorr",
    Layout.DFLASH2: "DFlash-2",
    Layout.DFLASH2_SPECULATORS: "DFlash-2",
    Layout.DOMINO: "Domino",
    Layout.XPRESS_SPECULATORS: "XPress",
    Layout.DSPARK: "DSpark",
    Layout.DSPARK_SPECULATORS: "DSpark",
    Layout.DSPARK_DEEPSPEC: "DSpark",
    Layout.DSPARK_MODELOPT: "DSpark",
    Layout.DSPARK_FUSED: "DSpark",
}
#: Heads whose tensors are told by name: a config that names one over tensors without it is at odds with them.
_HEADS = ("DSpark", "Domino", "DFlash-2", "XPress")
_SPECULATORS: dict[Variant, Layout] = {
    "DFlash": Layout.DFLASH_SPECULATORS,
    "DFlash-2": Layout.DFLASH2_SPECULATORS,
    "DSpark": Layout.DSPARK_SPECULATORS,
    "XPress": Layout.XPRESS_SPECULATORS,
}


def build(view: View, layout: Layout) -> BlockDrafter:
    """The needs of a block drafter written in ``layout``."""
    config = view.config
    layer = layer_config(config)
    fused = layout is Layout.DSPARK_FUSED
    architecture = view.architecture.value if view.architecture else ""
    latent = bool(view.stem(r"\.(?:kv_b_proj|kv_a_proj_with_mqa)\.")) or "MLA" in architecture
    latent = latent or bool(layer.integer("kv_lora_rank"))
    drafter = BlockDrafter(
        checkpoint=view.checkpoint,
        layout=layout,
        # DeepSpec's DFlash drafters are of its DSpark class, and engines run them by the method of the class.
        method="dspark" if VARIANTS[layout] == "DSpark" or layout is Layout.DFLASH_DEEPSPEC else "dflash",
        title="",
        architecture=view.architecture,
        model_type=config.string("model_type") or layer.string("model_type"),
        claims=claims(view.checkpoint, config),
        layer_config=layer,
        canonical=view.tensors,
        prefix=view.prefix,
        hidden_size=layer.size("hidden_size"),
        vocab_size=layer.size("vocab_size") or config.size("vocab_size"),
        num_layers=config.size("n_mtp_layers") if fused else layer.size("num_hidden_layers"),
        layers_in_file=len(view.indices(r"(?:^|\.)mtp\.(\d{1,9})\.")) if fused else view.layers,
        writer=_writer(view),
        variant=VARIANTS[layout],
        container="target" if fused else "alone",
        attention="mla" if latent else "gqa",
        fc=view.tensors.get("fc.weight"),
        target_hidden_size=config.integer("target_hidden_size") or layer.integer("target_hidden_size"),
        draft_vocab_size=config.integer("draft_vocab_size"),
        layer_ids=written_ids(config, "aux_hidden_state_layer_ids", "target_layer_ids", "dspark_target_layer_ids"),
        counts="inputs" if by_speculators(view.config) else "outputs",
        num_target_layers=config.integer("num_target_layers"),
        block_size=count(config, "block_size", "dspark_block_size"),
        mask_token=mask_token(config),
        sample_from_anchor=flag(config, "sample_from_anchor"),
        markov_rank=count(config, "markov_rank", "dspark_markov_rank"),
        confidence_head=flag(config, "enable_confidence_head", "use_confidence_head"),
    )
    return _titled(drafter)


def settle(view: View, shown: Layout | None, named: Layout | None) -> Layout:
    """One layout out of what the tensors show and what the config names; at least one of them is given."""
    layout = shown or named or Layout.DFLASH
    variant = VARIANTS[layout]
    if layout is Layout.DSPARK_FUSED:
        return layout
    if by_speculators(view.config):
        return _SPECULATORS.get(variant, layout)
    if deepspec(view):
        rank = count(view.config, "markov_rank")
        plain = variant == "DFlash" or (shown is None and rank is not None and rank.value == 0)
        return Layout.DFLASH_DEEPSPEC if plain else Layout.DSPARK_DEEPSPEC
    if any(name.startswith("encoder.output_norm_enc.") for name in view.written):
        return Layout.DFLASH_MUSE
    # LiLiCorr's own tensors are not published: the name alone tells.
    return named if named is Layout.LILICORR and layout is Layout.DFLASH else layout


def at_odds(view: View, shown: Layout, named: Layout) -> bool:
    """True if the config names a head the tensors do not have."""
    if VARIANTS[named] not in _HEADS or VARIANTS[named] == VARIANTS[shown]:
        return False
    rank = count(view.config, "markov_rank")
    # DeepSpec's DFlash drafters are of its DSpark class, with a Markov head of rank 0.
    return not (deepspec(view) and (rank is None or rank.value == 0))


def deepspec(view: View) -> bool:
    """True if the architecture is one of DeepSpec's: ``Qwen3DSparkModel``, ``Gemma4DSparkModel``."""
    return bool(view.architecture and view.architecture.value.endswith("DSparkModel"))


def _writer(view: View) -> str:
    if by_speculators(view.config):
        return "speculators"
    if deepspec(view):
        return "DeepSpec"
    return "TorchSpec" if view.config.has("_torchspec_version") else ""


def _titled(drafter: BlockDrafter) -> BlockDrafter:
    parts = [drafter.variant + (" (MLA)" if drafter.attention == "mla" else "")]
    parts += ["inside the target"] if drafter.container == "target" else []
    parts += layers_said(drafter.layers_in_file, drafter.num_layers)
    if drafter.fc is not None and len(drafter.fc.shape) == 2:
        times = f" = {drafter.states} x {drafter.state_width}" if drafter.states else ""
        parts.append(f"fc takes {drafter.fc.shape[1]}{times}")
    parts += [f"block {drafter.block_size.value}"] if drafter.block_size else []
    return replace(drafter, title=", ".join(parts))


#: The marks of each layout, the more special first; ``settle`` decides between those of one head.
BLOCKS: tuple[Known, ...] = (
    Known(
        layout=Layout.DSPARK_FUSED,
        build=build,
        tensors=(_FUSED + r"markov_head\.", _FUSED + r"confidence_head\."),
        keys=("dspark_target_layer_ids", "dspark_block_size", "dspark_markov_rank"),
    ),
    Known(
        layout=Layout.DSPARK_MODELOPT,
        build=build,
        tensors=(r"^markov_w1\.", r"^confidence_proj\."),
    ),
    Known(
        layout=Layout.DSPARK,
        build=build,
        tensors=(r"^markov_head\.", r"^confidence_head\."),
        architectures=(r"DSpark(?:Draft)?Model$", r"DSpark\w*DraftModel$"),
        keys=("dspark_config", "dflash_config.projector_type=dspark"),
    ),
    Known(layout=Layout.DSPARK_SPECULATORS, build=build, speculators=("dspark",)),
    Known(
        layout=Layout.DFLASH2,
        build=build,
        tensors=(r"^candidate_selector\.", r"\.attention_conv\."),
        architectures=(r"DFlash2",),
        speculators=("dflash2",),
    ),
    Known(
        layout=Layout.DOMINO,
        build=build,
        tensors=(r"^prefix_gru\.",),
        architectures=(r"Domino",),
        keys=("dflash_config.projector_type=domino",),
    ),
    Known(
        layout=Layout.XPRESS_SPECULATORS,
        build=build,
        tensors=(r"^refiner_head\.",),
        architectures=(r"XPress",),
        speculators=("xpress",),
    ),
    Known(
        layout=Layout.DFLARE,
        build=build,
        tensors=(r"\.self_attn\.[kv]_proj_target\.",),
        keys=("draft_arch=dflare", "dflash_config.draft_arch=dflare"),
    ),
    Known(
        layout=Layout.LILICORR,
        build=build,
        architectures=(r"LiLiCorr",),
    ),
    Known(
        layout=Layout.DFLASH_LAGUNA,
        build=build,
        tensors=(r"^aux_hidden_norms\.",),
        architectures=(r"Laguna\w*DFlash|DFlash\w*Laguna",),
    ),
    Known(
        layout=Layout.DFLASH_MUSE,
        build=build,
        tensors=(r"^encoder\.output_norm_enc\.",),
        architectures=(r"MuseGlimmerAssistant",),
    ),
    Known(
        layout=Layout.DFLASH,
        build=build,
        tensors=(r"^hidden_norm\.weight$",),
        beside=(r"^fc\.",),
        architectures=(r"DFlash",),
        speculators=("dflash",),
        model_types=("dflash",),
        keys=("dflash_config",),
    ),
)
