"""Drafters that are heads on the target's last state: Medusa, Hydra, and IBM's MLPSpeculator."""

from __future__ import annotations

import re

from drafter_lint.checkpoint import Config
from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.family import Medusa, MlpSpeculator
from drafter_lint.drafters.fields import layers_said
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Layout
from drafter_lint.drafters.view import View
from drafter_lint.findings import Located

_POSITIONS = r"^(?:speculator\.)?(?:head|emb)\.(\d{1,9})\."


def medusa(view: View, layout: Layout) -> Medusa:
    """The needs of Medusa or Hydra heads."""
    config = view.config
    named = view.indices(r"^(?:medusa_heads?|hydra_mlp|blocks|lm_heads)\.(\d{1,9})\.")
    shown = len(named or view.indices(r"^(\d{1,9})\.\d{1,9}\."))
    heads = config.integer("medusa_num_heads") or config.integer("hydra_num_heads") or _heads(config)
    chained = layout is Layout.HYDRA
    return Medusa(
        checkpoint=view.checkpoint,
        layout=layout,
        method="hydra" if chained else "medusa",
        title=", ".join(("Hydra" if chained else "Medusa", *layers_said(shown, heads, noun="head"))),
        architecture=view.architecture,
        model_type=config.string("model_type"),
        claims=claims(view.checkpoint, config),
        layer_config=config,
        canonical=view.tensors,
        prefix=view.prefix,
        hidden_size=config.integer("hidden_size"),
        vocab_size=config.integer("vocab_size"),
        num_layers=heads,
        layers_in_file=shown,
        chained=chained,
        blocks=config.integer("medusa_num_layers") or config.integer("num_hidden_layers"),
    )


def mlp_speculator(view: View, layout: Layout) -> MlpSpeculator:
    """The needs of an MLPSpeculator."""
    config = view.config
    shown, declared = len(view.indices(_POSITIONS)), config.integer("n_predict")
    return MlpSpeculator(
        checkpoint=view.checkpoint,
        layout=layout,
        method="mlp_speculator",
        title=", ".join(("MLPSpeculator", *layers_said(shown, declared, noun="position"))),
        architecture=view.architecture,
        model_type=config.string("model_type"),
        claims=claims(view.checkpoint, config),
        layer_config=config,
        canonical=view.tensors,
        prefix=view.prefix,
        # vllm 0.30.0, transformers_utils/configs/mlp_speculator.py: hidden_size is another name for emb_dim.
        hidden_size=config.integer("emb_dim") or config.integer("hidden_size"),
        vocab_size=config.integer("vocab_size"),
        num_layers=declared,
        layers_in_file=shown,
        inner_dim=config.integer("inner_dim"),
        tie_weights=config.boolean("tie_weights"),
        scale_input=config.boolean("scale_input"),
    )


def _heads(config: Config) -> Located[int] | None:
    """Any key with "num" and "heads" in it that is not about attention, as vllm 0.30.0 reads it (configs/medusa.py)."""
    keys = (key for key in config.value if re.search(r"num.*heads", key) and "attention" not in key)
    return next((value for key in keys if "key_value" not in key and (value := config.integer(key))), None)


HEADS: tuple[Known, ...] = (
    Known(
        layout=Layout.HYDRA,
        build=medusa,
        tensors=(r"^hydra_mlp\.", r"^hydra_lm_head\."),
        architectures=(r"Hydra",),
        keys=("hydra_num_heads",),
        files=(r"hydra_lm_head\.pt",),
    ),
    Known(
        layout=Layout.MEDUSA_VLLM,
        build=medusa,
        tensors=(r"^blocks\.#\.layers\.#\.", r"^lm_heads\.#\."),
    ),
    Known(
        layout=Layout.MEDUSA,
        build=medusa,
        tensors=(r"^medusa_heads?\.", r"^#\.#\.linear\."),
        architectures=(r"Medusa",),
        model_types=("medusa",),
        keys=("medusa_num_heads", "medusa_num_layers"),
        files=(r"medusa_lm_head\.(?:pt|safetensors)",),
    ),
    Known(
        layout=Layout.MLP_SPECULATOR,
        build=mlp_speculator,
        tensors=(r"^(?:speculator\.)?emb\.#\.weight$",),
        beside=(r"^(?:speculator\.)?proj\.#\.",),
        architectures=(r"MLPSpeculator",),
        model_types=("mlp_speculator",),
    ),
)
