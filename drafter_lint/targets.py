"""What a target offers: its text model wherever it is nested, layers, widths, vocabulary, and what rides inside it."""

from __future__ import annotations

from dataclasses import dataclass

from drafter_lint.checkpoint import Checkpoint, Config
from drafter_lint.checkpoint.text import MTP_KEYS, text_config
from drafter_lint.findings import Located

_CONTEXT_KEYS = ("max_position_embeddings", "max_sequence_length", "seq_length", "n_positions", "model_max_length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model that verifies.

    Attributes:
        checkpoint: its files.
        text: the configuration of the language model, nested or not.
        architecture: ``architectures[0]`` of the whole model.
        text_architecture: ``architectures[0]`` inside the text configuration, if it has one.
        model_type: of the whole model.
        text_model_type: of the language model.
        hidden_size: Ht, elements.
        num_layers: n, decoder layers.
        vocab_size: V, ids.
        num_attention_heads: query heads.
        max_position_embeddings: tokens.
        tie_word_embeddings: True if the head is the embedding.
        mtp_layers: multi-token-prediction layers announced inside it.
        quantization: the method named by its quantization_config.
        standin: who says all this where its files could not be read, "" where they were.
    """

    checkpoint: Checkpoint
    text: Config
    architecture: Located[str] | None
    text_architecture: Located[str] | None
    model_type: Located[str] | None
    text_model_type: Located[str] | None
    hidden_size: Located[int] | None
    num_layers: Located[int] | None
    vocab_size: Located[int] | None
    num_attention_heads: Located[int] | None
    max_position_embeddings: Located[int] | None
    tie_word_embeddings: Located[bool] | None
    mtp_layers: Located[int] | None
    quantization: Located[str] | None
    standin: str = ""

    @property
    def title(self) -> str:
        """``hidden 7168, 61 layers, vocabulary 163840``; what is not known is left out."""
        said = f", says {self.standin}" if self.standin else ""
        parts = (("hidden {}", self.hidden_size), ("{} layers", self.num_layers), ("vocabulary {}", self.vocab_size))
        return (", ".join(text.format(value.value) for text, value in parts if value) or "nothing known") + said


def read_target(checkpoint: Checkpoint) -> Target:
    """Understand a target from its config.json alone.

    Raises:
        Unavailable: config.json cannot be read.
    """
    whole = checkpoint.config
    text = text_config(whole)
    architectures = whole.strings("architectures")
    inner = text.strings("architectures")
    return Target(
        checkpoint=checkpoint,
        text=text,
        architecture=_first(architectures),
        text_architecture=_first(inner) if text.base else None,
        model_type=whole.string("model_type"),
        text_model_type=text.string("model_type"),
        hidden_size=text.size("hidden_size") or text.size("n_embd") or text.size("d_model"),
        num_layers=text.size("num_hidden_layers") or text.size("n_layer") or text.size("num_layers"),
        vocab_size=text.size("vocab_size") or whole.size("vocab_size"),
        num_attention_heads=text.integer("num_attention_heads"),
        max_position_embeddings=_first_integer(text, _CONTEXT_KEYS),
        tie_word_embeddings=text.boolean("tie_word_embeddings") or whole.boolean("tie_word_embeddings"),
        mtp_layers=_first_integer(text, MTP_KEYS),
        quantization=_quantization(whole) or _quantization(text),
    )


def _first(values: Located[tuple[str, ...]] | None) -> Located[str] | None:
    return Located(values.value[0], values.at) if values and values.value else None


def _first_integer(config: Config, keys: tuple[str, ...]) -> Located[int] | None:
    return next((value for key in keys if (value := config.integer(key))), None)


def _quantization(config: Config) -> Located[str] | None:
    return config.string("quantization_config", "quant_method")
