"""Ordinary language models as drafters, PARD's among them."""

from __future__ import annotations

from drafter_lint.checkpoint.text import text_config
from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.family import DraftModel
from drafter_lint.drafters.fields import layers_said, mask_token
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.view import View

_EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts")
#: No architecture of a language model that anybody drafts with is larger than this; see ``too_large``.
_LARGEST = 15_000_000_000


def build(view: View, layout: Layout) -> DraftModel:
    """The needs of a language model that drafts."""
    config = text_config(view.config)
    parallel = layout is Layout.PARD
    declared, shown = config.integer("num_hidden_layers"), decoder_layers(view)
    said = " of ".join(("ordinary language model", *layers_said(shown, declared)))
    return DraftModel(
        checkpoint=view.checkpoint,
        layout=layout,
        method="pard" if parallel else "draft_model",
        title=f"PARD drafter, {said}" if parallel else said,
        architecture=view.architecture,
        model_type=view.config.string("model_type"),
        claims=claims(view.checkpoint, view.config),
        layer_config=config,
        canonical=view.tensors,
        prefix=view.prefix,
        hidden_size=config.integer("hidden_size"),
        vocab_size=config.integer("vocab_size"),
        num_layers=declared,
        layers_in_file=shown,
        parallel=parallel,
        mask_token=mask_token(view.config) if parallel else None,
        tie_word_embeddings=config.boolean("tie_word_embeddings"),
        experts=next((value for key in _EXPERTS if (value := config.integer(key))), None),
    )


def decoder_layers(view: View) -> int:
    """Decoder layers by their numbers, wherever a wrapper puts them; ``h.N`` is GPT-2's word for them."""
    return len(view.indices(r"(?:^|\.)(?:layers|h|blocks)\.(\d{1,9})\."))


def shown(view: View) -> tuple[str, ...]:
    """Why the tensors are an ordinary language model's: an embedding and decoder layers, no drafting head."""
    embedding = view.stem(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|tok_embeddings)\.")
    if not embedding or not decoder_layers(view) or view.has("fc.weight"):
        return ()
    return ("embed_tokens and decoder layers, nothing of a drafting head",)


def named(view: View) -> tuple[str, ...]:
    """Why the config is an ordinary language model's; a single layer is as often an EAGLE drafter's."""
    config = text_config(view.config)
    declared = config.integer("num_hidden_layers")
    name = view.architecture.value if view.architecture else ""
    if not name.endswith(("ForCausalLM", "ForConditionalGeneration")) or not declared or declared.value < 3:
        return ()
    return (f"architecture {name}", f"{declared.value} layers")


def too_large(view: View) -> str:
    """What makes a language model a target and nobody's drafter, "" if nothing does.

    Twelve times the square of the width for each layer is what a dense decoder of ordinary proportions weighs.
    """
    config = text_config(view.config)
    hidden, layers = config.integer("hidden_size"), config.integer("num_hidden_layers")
    if not hidden or not layers or decoder_layers(view) < layers.value:
        return ""
    if not _LARGEST < 12 * layers.value * hidden.value**2 < 1000 * _LARGEST:
        return ""
    return f"{layers.value} layers of width {hidden.value}"


PARD = Known(
    layout=Layout.PARD,
    build=build,
    keys=("pard_token", "spd_type=pard"),
)
