"""Whether a tie to the embedding is what costs a drafter its own reduced head."""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Located
from drafter_lint.scope import Deployment


def tied_away(at: Deployment[Eagle]) -> Located[bool] | None:
    """The tie that makes the engine drop the drafter's own reduced head; None if there is none, or it is ignored."""
    drafter, head = at.drafter, at.plan.head
    own = drafter.canonical.get("lm_head.weight")
    tie = drafter.layer_config.boolean("tie_word_embeddings")
    if own is None or head is None or head.provider == "own" or tie is None or not tie.value:
        return None
    reduced = drafter.vocab_size is not None and bool(own.shape) and own.shape[0] < drafter.vocab_size.value
    return tie if reduced else None
