"""Config fields that several layouts spell in several ways, read in one place."""

from __future__ import annotations

from drafter_lint.checkpoint import Config
from drafter_lint.drafters.model import WrittenIds
from drafter_lint.findings import Located

#: Where a drafter's own switches stand besides the top level: z-lab and SpecForge; SpecForge's DSpark.
NESTS = ("dflash_config", "dspark_config")
#: The id of the token in positions to be filled in. The order is vllm 0.33.0's (v1/spec_decode/utils.py and
#: config/speculative.py read dflash_config first); ptd_token_id is AMD's.
_MASKS = (
    ("dflash_config", "mask_token_id"),
    ("dspark_config", "mask_token_id"),
    ("mask_token_id",),
    ("dspark_noise_token_id",),
    ("pard_token",),
    ("ptd_token_id",),
)


def layer_config(config: Config) -> Config:
    """Where the decoder layer's fields stand: nested in speculators files and in vLLM's legacy wrapper."""
    return config.object("transformer_layer_config") or config.object("model") or config


def by_speculators(config: Config) -> bool:
    """True if the speculators library wrote it; a config that lost ``speculators_model_type`` keeps the other two."""
    return any(config.has(key) for key in ("speculators_model_type", "speculators_version", "transformer_layer_config"))


def mask_key(config: Config) -> tuple[str, ...] | None:
    """The path of the key a mask token is written under, whatever its value; None if there is none."""
    return next((keys for keys in _MASKS if config.has(*keys)), None)


def mask_token(config: Config) -> Located[int] | None:
    """The mask token's id, under any of its spellings."""
    return next((value for keys in _MASKS if (value := config.integer(*keys))), None)


def flag(config: Config, *names: str) -> Located[bool] | None:
    """A switch at the top level or in one of the nests."""
    places = [(name,) for name in names] + [(nest, name) for nest in NESTS for name in names]
    return next((value for keys in places if (value := config.boolean(*keys))), None)


def count(config: Config, *names: str) -> Located[int] | None:
    """A number at the top level or in one of the nests."""
    places = [(name,) for name in names] + [(nest, name) for nest in NESTS for name in names]
    return next((value for keys in places if (value := config.integer(*keys))), None)


def written_ids(config: Config, *names: str) -> tuple[WrittenIds, ...]:
    """Lists of layer ids, at the top level first."""
    found = [WrittenIds(ids, "top-level") for name in names if (ids := config.integers(name)) and ids.value]
    nested = [config.integers(nest, name) for nest in NESTS for name in names]
    return (*found, *(WrittenIds(ids, "nested") for ids in nested if ids and ids.value))


def layers_said(shown: int, declared: Located[int] | None, *, noun: str = "layer") -> tuple[str, ...]:
    """``5 layers``: as many as the file has, else as declared; () if neither is known."""
    number = shown or (declared.value if declared else 0)
    return (f"{number} {noun}{'s' if number != 1 else ''}",) if number > 0 else ()
