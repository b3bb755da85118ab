"""The drafters that are not EAGLE, typed: what each kind needs from its target and from whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from drafter_lint.checkpoint import Tensor
from drafter_lint.drafters.model import Drafter, WrittenIds
from drafter_lint.findings import Located

Variant = Literal["DFlash", "DFlash-2", "Domino", "DSpark", "XPress", "DFlare", "LiLiCorr"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDrafter(Drafter):
    """A drafter that fills in a block of tokens at once: DFlash and its kin.

    Attributes:
        variant: which head stands on the DFlash backbone.
        container: its own checkpoint, or inside the target's (DeepSeek-V4).
        attention: grouped-query or multi-head latent attention.
        fc: the projection ``[H, K*Ht]`` of the captured states, None if absent or embedded.
        target_hidden_size: Ht as declared.
        draft_vocab_size: Vd as declared.
        layer_ids: the target layers whose states it takes, in every place they are written.
        counts: what an id means: the output of that layer, or its input (speculators).
        num_target_layers: how deep a target it was made for.
        block_size: tokens a block, with the level at which it is written.
        mask_token: the id that stands for a position to be filled in, None if absent or null.
        sample_from_anchor: True if the first drafted token comes from the anchor's own position.
        markov_rank: r of the Markov head (DSpark); 0 is none.
        confidence_head: as declared.
    """

    variant: Variant
    container: Literal["alone", "target"] = "alone"
    attention: Literal["gqa", "mla"] = "gqa"
    fc: Tensor | None = None
    target_hidden_size: Located[int] | None = None
    draft_vocab_size: Located[int] | None = None
    layer_ids: tuple[WrittenIds, ...] = ()
    counts: Literal["outputs", "inputs"] = "outputs"
    num_target_layers: Located[int] | None = None
    block_size: Located[int] | None = None
    mask_token: Located[int] | None = None
    sample_from_anchor: Located[bool] | None = None
    markov_rank: Located[int] | None = None
    confidence_head: Located[bool] | None = None

    @property
    def state_width(self) -> int | None:
        """The width of one target state: ``target_hidden_size``, else H."""
        declared = self.target_hidden_size or self.hidden_size
        return declared.value if declared else None

    @property
    def states(self) -> int | None:
        """K: how many states fit the input of ``fc``; None if it cannot be told."""
        if self.fc is None or not self.state_width or len(self.fc.shape) != 2:
            return None
        count, rest = divmod(self.fc.shape[1], self.state_width)
        return count if rest == 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mtp(Drafter):
    """Multi-token-prediction layers, inside a target or exported alone.

    ``num_layers`` counts the announced prediction layers, ``layers_in_file`` those with tensors.

    Attributes:
        container: inside the target's checkpoint, or alone.
        indices: the layer indices under which they stand, where they are numbered behind the decoder layers.
        state_width: the width of the target state it takes: H, but for a Gemma-4 assistant the backbone's.
    """

    container: Literal["alone", "target"]
    indices: tuple[int, ...] = ()
    backbone_hidden_size: Located[int] | None = None

    @property
    def state_width(self) -> Located[int] | None:
        """Ht: the backbone's width where it is another one than H."""
        return self.backbone_hidden_size or self.hidden_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Medusa(Drafter):
    """Heads on the target's last state: Medusa (independent) and Hydra (each sees the tokens before it).

    ``num_layers`` counts the announced heads, ``layers_in_file`` those with tensors.

    Attributes:
        chained: True for Hydra.
        blocks: residual blocks a head, as declared.
    """

    chained: bool
    blocks: Located[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MlpSpeculator(Drafter):
    """IBM's MLPSpeculator: a small recurrent stack on the target's last state and the sampled token.

    ``num_layers`` is ``n_predict``, ``layers_in_file`` the positions with tensors, ``hidden_size`` the width of the
    target state (``emb_dim``).

    Attributes:
        inner_dim: D, as declared; 0 means the width of the state.
        tie_weights: one set of weights for every position.
        scale_input: a norm on the incoming state.
    """

    inner_dim: Located[int] | None = None
    tie_weights: Located[bool] | None = None
    scale_input: Located[bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftModel(Drafter):
    """An ordinary language model that drafts: it shares nothing with its target but the vocabulary.

    Attributes:
        parallel: PARD, several positions a step, filled with ``mask_token``.
        mask_token: the id drafted positions are filled with.
        tie_word_embeddings: as declared.
        experts: routed experts a layer, as declared.
    """

    parallel: bool = False
    mask_token: Located[int] | None = None
    tie_word_embeddings: Located[bool] | None = None
    experts: Located[int] | None = None
