"""Multi-token-prediction layers: inside the targets that were trained with them, and exported alone."""

from __future__ import annotations

from drafter_lint.checkpoint.text import announced_mtp, text_config
from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.family import Mtp
from drafter_lint.drafters.fields import layer_config
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.view import View
from drafter_lint.findings import Located

_BEHIND = r"(?:^|\.)layers\.(\d{1,9})\.(?:transformer\.)?(?:eh_proj|enorm|hnorm|shared_head)\."
#: Where the indices of the prediction layers stand in the names, by layout.
_INDICES: dict[Layout, str] = {
    Layout.MTP_DEEPSEEK: _BEHIND,
    Layout.MTP_NEXTN: _BEHIND,
    Layout.MTP_DEEPSEEK_V4: r"(?:^|\.)mtp\.(\d{1,9})\.",
    Layout.MTP_QWEN: r"(?:^|\.)mtp\.layers\.(\d{1,9})\.",
    Layout.MTP_LAYERS: r"(?:^|\.)mtp\.layers\.(\d{1,9})\.",
    Layout.MTP_MIMO: r"(?:^|\.)mtp_layers\.(\d{1,9})\.",
    Layout.MTP_SPECULATORS: r"(?:^|\.)mtp_layers\.(\d{1,9})\.",
    Layout.MTP_ERNIE: r"(?:^|\.)mtp_block\.(\d{1,9})\.",
}


def settle(view: View, shown: Layout | None, named: Layout | None) -> Layout:
    """One layout out of what the tensors show and what the config names; at least one of them is given."""
    if shown in (None, Layout.MTP_MIMO) and view.config.has("speculators_model_type"):
        return Layout.MTP_SPECULATORS
    if (shown or named) is Layout.MTP_DEEPSEEK and not _decoders(view):
        return Layout.MTP_NEXTN
    return shown or named or Layout.MTP_DEEPSEEK


def build(view: View, layout: Layout) -> Mtp:
    """The needs of prediction layers written in ``layout``."""
    config = view.config
    layer = text_config(layer_config(config))
    indices = view.indices(_INDICES[layout]) if layout in _INDICES else ()
    # An assistant and an export of the speculators library have layers of their own, and no target around them.
    apart = layout in {Layout.MTP_GEMMA4, Layout.MTP_SPECULATORS}
    inside = not apart and (bool(_decoders(view)) if view.tensors else layout is not Layout.MTP_NEXTN)
    declared = announced_mtp(config)
    shown = len(indices)
    if layout is Layout.MTP_GEMMA4:
        declared, shown = layer.integer("num_hidden_layers"), view.layers
    return Mtp(
        checkpoint=view.checkpoint,
        layout=layout,
        method="mtp",
        title=_title(layout, shown=shown, declared=declared, inside=inside),
        architecture=view.architecture,
        model_type=config.string("model_type") or layer.string("model_type"),
        claims=claims(view.checkpoint, config),
        layer_config=layer,
        canonical=view.tensors,
        prefix=view.prefix,
        hidden_size=layer.integer("hidden_size"),
        vocab_size=layer.integer("vocab_size") or config.integer("vocab_size"),
        num_layers=declared,
        layers_in_file=shown,
        writer="speculators" if layout is Layout.MTP_SPECULATORS else "",
        container="target" if inside else "alone",
        indices=indices,
        backbone_hidden_size=config.integer("backbone_hidden_size"),
    )


def _decoders(view: View) -> tuple[int, ...]:
    """The decoder layers that are no prediction layers: those of the target around them."""
    return tuple(sorted(set(view.indices(_DECODER_OUTSIDE)) - set(view.indices(_BEHIND))))


#: Decoder layers outside ``mtp.layers.N``: that infix would make a layer of the drafter one of the target.
_DECODER_OUTSIDE = r"^(?!.*mtp)(?:.*\.)?layers\.(\d{1,9})\.(?!eh_proj|enorm|hnorm|shared_head)"
_NAMES: dict[Layout, str] = {
    Layout.MTP_GEMMA4: "Gemma-4 assistant",
    Layout.MTP_NEXTN: "NextN layers",
}


def _title(layout: Layout, *, shown: int, declared: Located[int] | None, inside: bool) -> str:
    parts = [_NAMES.get(layout, "multi-token prediction")]
    number = shown or (declared.value if declared else 0)
    parts += [f"{number} layer{'s' if number != 1 else ''}"] if number > 0 else []
    return ", ".join(parts + (["inside the target"] if inside else []))


MTPS: tuple[Known, ...] = (
    Known(
        layout=Layout.MTP_GEMMA4,
        build=build,
        tensors=(r"(?:^|\.)pre_projection\.",),
        beside=(r"(?:^|\.)post_projection\.",),
        architectures=(r"Gemma4\w*Assistant",),
        model_types=("gemma4_assistant", "gemma4_unified_assistant"),
    ),
    Known(
        layout=Layout.MTP_QWEN,
        build=build,
        tensors=(r"(?:^|\.)mtp\.fc\.", r"(?:^|\.)mtp\.pre_fc_norm_"),
        architectures=(r"Qwen3_5\w*MTP", r"Qwen3Next\w*MTP", r"Qwen3Moe\w*MTP"),
    ),
    Known(
        layout=Layout.MTP_LAYERS,
        build=build,
        tensors=(r"(?:^|\.)mtp\.layers\.#\.", r"(?:^|\.)mtp\.embed_tokens\."),
        architectures=(r"NemotronH\w*MTP|LongcatFlash\w*NextN|ExaoneMoE?\w*MTP|MiMoV2\w*(?:MTP|NextN)",),
    ),
    Known(
        layout=Layout.MTP_DEEPSEEK_V4,
        build=build,
        tensors=(r"(?:^|\.)mtp\.#\.",),
    ),
    Known(
        layout=Layout.MTP_ERNIE,
        build=build,
        tensors=(r"(?:^|\.)mtp_block\.#\.", r"(?:^|\.)mtp_linear_proj\.#\."),
        architectures=(r"Ernie\w*MTP",),
    ),
    Known(
        layout=Layout.MTP_SPECULATORS,
        build=build,
        architectures=(r"^MTPDraftModel$",),
        speculators=("mtp",),
    ),
    Known(
        layout=Layout.MTP_MIMO,
        build=build,
        tensors=(r"(?:^|\.)mtp_layers\.#\.",),
        architectures=(r"MiMo\w*MTP",),
    ),
    Known(
        layout=Layout.MTP_DEEPSEEK,
        build=build,
        tensors=(r"(?:^|\.)layers\.#\.(?:transformer\.)?(?:eh_proj|enorm|hnorm|shared_head)\.",),
        architectures=(r"NextN$", r"MTP(?:Model|DraftModel)?$"),
    ),
)
