"""Where a configuration keeps its language model, and how it announces what rides inside it."""

from __future__ import annotations

from drafter_lint.checkpoint.config import Config
from drafter_lint.findings import Located

#: Where wrappers keep the language model's configuration, tried in this order.
TEXT_KEYS = ("text_config", "llm_config", "language_config", "language_model_config", "thinker_config")
MTP_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers", "n_mtp_layers")


def text_config(whole: Config) -> Config:
    """The language model's configuration, wherever wrappers nest it; the whole if they do not."""
    for key in TEXT_KEYS:
        nested = whole.object(key)
        if nested is not None:
            return text_config(nested)
    return whole


def announced_mtp(config: Config) -> Located[int] | None:
    """How many multi-token-prediction layers a configuration announces, in its language model or above it."""
    places = (text_config(config), config)
    return next((value for place in places for key in MTP_KEYS if (value := place.integer(key))), None)
