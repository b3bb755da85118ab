"""The reduced vocabulary as the rules see it: how many ids are drafted, out of how many, and what the map says."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice
from operator import add, ge

from drafter_lint.checkpoint import VocabMap
from drafter_lint.drafters import Eagle
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence
from drafter_lint.rules.shared import drafted_rows

#: Where engines turn draft ids into target ids.
READERS = (
    Evidence(
        engine="vllm",
        version="0.9.2 to 0.33.0",
        file="model_executor/models/llama_eagle3.py",
        symbol="Eagle3LlamaForCausalLM.compute_logits",
        how="run",
        note="target id = draft id + d2t[draft id]; an absent map stays zeros",
    ),
    Evidence(
        engine="sglang",
        version="0.4.6.post5 to 0.5.23",
        file="srt/models/llama_eagle3.py",
        symbol="LlamaForCausalLMEagle3.load_weights",
        how="run",
        note="hot_token_id = d2t + arange; t2d is skipped",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A reduced vocabulary.

    Attributes:
        rows: Vd, the ids that can be drafted.
        vocabulary: V, the drafter's whole vocabulary.
        map: d2t and t2d as read.
    """

    rows: int
    vocabulary: int
    map: VocabMap

    @property
    def targets(self) -> tuple[int, ...]:
        """The target id of each draft id, read as every engine does: ``i + d2t[i]``; () without a map."""
        # 32,000 entries are walked for every pair of a survey: whole-tuple operations, no Python per entry.
        return tuple(map(add, self.map.d2t or (), count()))

    @property
    def absolute(self) -> bool:
        """True if d2t holds target ids where engines expect offsets.

        Decided by t2d where there is one: it lists the drafted ids, and either d2t is that list or i + d2t[i] is.
        Without it, ascending ids of the vocabulary that leave it as offsets.
        """
        ids = self.map.d2t
        if not ids or any(map(ge, ids, islice(ids, 1, None))) or ids[0] < 0 or ids[-1] >= self.vocabulary:
            return False
        targets = self.targets
        if self.map.drafted is not None and targets != self.map.drafted and ids == self.map.drafted:
            return True
        return targets[-1] >= self.vocabulary

    @property
    def placeholder(self) -> bool:
        """True if d2t is all zeros although the vocabulary is reduced."""
        return bool(self.map.d2t) and not any(self.map.d2t or ())


def reduced_vocabulary(drafter: Eagle) -> Drafted | None:
    """The reduced vocabulary of an EAGLE-3 drafter; None if it is not reduced, or cannot be read (told elsewhere)."""
    rows, whole = drafted_rows(drafter), drafter.vocab_size
    if drafter.generation != 3 or rows is None or whole is None or not 0 < rows < whole.value:
        return None
    try:
        read = drafter.checkpoint.vocab_map
    except Unavailable:
        return None
    return Drafted(rows=rows, vocabulary=whole.value, map=read)
