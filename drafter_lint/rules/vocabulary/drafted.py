"""The reduced vocabulary as the rules see it: ids drafted, out of how many, what the map says, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import eq, ge
from typing import Literal

from drafter_lint.checkpoint import Checkpoint, VocabMap
from drafter_lint.drafters import Eagle
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence
from drafter_lint.targets import Target

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

#: The rule that tells what is wrong with a map; a map is told of once, by the first that fits, in this order.
Fault = Literal[
    "d2t-missing",
    "d2t-length",
    "d2t-dtype",
    "d2t-placeholder",
    "d2t-absolute",
    "d2t-token-map",
    "d2t-out-of-range",
    "d2t-duplicate",
    "d2t-unsorted",
    "t2d-length",
    "t2d-disagrees",
]
#: Up to this integer a floating-point dtype holds every one; the next is rounded to it.
EXACT = {"BF16": 2**8, "F16": 2**11, "F32": 2**24, "F64": 2**53}
#: From so many expected pairs of neighbouring ids on, a map without any is no accident.
_EXPECTED_NEIGHBOURS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A drafted vocabulary and its map.

    Attributes:
        rows: Vd, the ids that can be drafted.
        vocabulary: V, the ids there are: the target's, or the drafter's own where no target is known.
        own: the drafter's own ``vocab_size``, None if it declares none.
        map: d2t and t2d as read.
        targets: the target id of each draft id, read as every engine does, ``i + d2t[i]``; () without a map.
        fault: what is wrong, None if nothing is.
    """

    rows: int
    vocabulary: int
    own: int | None
    map: VocabMap
    targets: tuple[int, ...]
    fault: Fault | None

    @property
    def proven(self) -> bool:
        """True if a list of ids shows by more than its shape that it is one: as offsets it fails, or t2d marks it."""
        ids, marked = self.map.d2t or (), self.map.drafted or ()
        return max(self.targets, default=0) >= self.vocabulary or (len(ids) == len(marked) and set(ids) == set(marked))

    @property
    def outside(self) -> tuple[tuple[int, int], ...]:
        """Every draft id whose target id is not one of the vocabulary, with that id."""
        return tuple((i, target) for i, target in enumerate(self.targets) if not 0 <= target < self.vocabulary)


def drafted_rows(drafter: Eagle) -> int | None:
    """Vd: the rows of the drafter's own head, else of d2t, else as declared."""
    for name in ("lm_head.weight", "d2t"):
        tensor = drafter.canonical.get(name)
        if tensor and tensor.shape:
            return tensor.shape[0]
    return drafter.draft_vocab_size.value if drafter.draft_vocab_size else None


def drafted_vocabulary(drafter: Eagle, target: Target | None) -> Drafted | None:
    """What an EAGLE-3 drafter drafts; None if there is nothing to judge, or it cannot be read (told elsewhere).

    The ids that count are the target's: the drafter's own ``vocab_size`` may be padded otherwise. vLLM 0.33.0 keeps a
    map where draft_vocab_size differs from the target's vocabulary (model_executor/models/llama_eagle3.py,
    Eagle3LlamaForCausalLM.__init__); SGLang looks up ``i + d2t[i]`` and nothing else.
    """
    rows, own = drafted_rows(drafter), drafter.vocab_size
    theirs = target.vocab_size if target else None
    whole = theirs or own
    if drafter.generation != 3 or not rows or whole is None or whole.value < 1:
        return None
    head, declared = drafter.canonical.get("lm_head.weight"), drafter.draft_vocab_size
    counts = {head.shape[0] if head and head.shape else None, declared.value if declared else None} - {None}
    try:
        return _drafted(drafter.checkpoint, rows, whole.value, own.value if own else None, frozenset(counts))
    except Unavailable:
        return None


@lru_cache(maxsize=16)  # every rule asks, for every engine: 32,000 entries are walked once
def _drafted(
    checkpoint: Checkpoint, rows: int, vocabulary: int, own: int | None, counts: frozenset[int]
) -> Drafted | None:
    read = checkpoint.vocab_map
    if read.d2t is None and (checkpoint.tensors.missing_files or not checkpoint.tensors):
        return None  # it may stand in a file that is not there; and where nothing stands, the map is the least of it
    return judged(read, rows=rows, vocabulary=vocabulary, own=own, counts=counts)


def judged(
    read: VocabMap, *, rows: int, vocabulary: int, own: int | None = None, counts: frozenset[int] = frozenset()
) -> Drafted:
    """A map against what it maps from and to; ``counts`` are the numbers of draft ids that head and config give."""
    # Whole-tuple operations, no Python per entry.
    targets = read.targets or ()
    shell = Drafted(rows=rows, vocabulary=vocabulary, own=own, map=read, targets=targets, fault=None)
    return Drafted(
        rows=rows, vocabulary=vocabulary, own=own, map=read, targets=targets, fault=_fault(shell, counts or {rows})
    )


def _fault(at: Drafted, counts: frozenset[int] | set[int]) -> Fault | None:
    ids = at.map.d2t
    # Every row of the drafter's own vocabulary: no map is needed, however the target pads the same one.
    reduced = at.rows < at.vocabulary and at.rows != at.own
    if ids is None:
        return "d2t-missing" if reduced else None
    if len(ids) not in counts or (at.map.d2t_tensor and len(at.map.d2t_tensor.shape) != 1):
        return "d2t-length"
    if not any(ids):
        return "d2t-placeholder" if reduced else None
    exact = EXACT.get(at.map.d2t_tensor.dtype) if at.map.d2t_tensor else None
    if exact is not None and max(map(abs, ids)) >= exact:
        return "d2t-dtype"
    if at.targets == at.map.drafted and at.targets[-1] < at.vocabulary:
        return _mask_fault(at)  # a mask is ascending and has no repetitions, and so is what equals it
    if _in_place_of_offsets(at, ids):
        return "d2t-absolute" if _ascending(ids) else "d2t-token-map"
    if min(at.targets) < 0 or max(at.targets) >= at.vocabulary:
        return "d2t-out-of-range"
    if not _ascending(at.targets):
        return "d2t-duplicate" if len(set(at.targets)) < len(at.targets) else "d2t-unsorted"
    return _mask_fault(at)


def _mask_fault(at: Drafted) -> Fault | None:
    marked, length = at.map.drafted, at.map.t2d_length
    if marked is None or length is None:
        return None
    if length not in {at.vocabulary, at.own}:
        return "t2d-length"
    return None if marked == at.targets else "t2d-disagrees"


def _in_place_of_offsets(at: Drafted, ids: tuple[int, ...]) -> bool:
    """True if d2t lists ids: it holds different ones of the vocabulary, and read as offsets it makes less sense.

    Decided by t2d where it marks one of the two readings better; else by the shape of the table.
    """
    if min(ids) < 0 or max(ids) >= at.vocabulary or len(set(ids)) < len(ids):
        return False
    if at.map.drafted in (at.targets, ids):
        return at.targets != at.map.drafted
    if at.map.drafted and at.map.t2d_length != len(at.map.drafted):  # all true is how it is created
        marked = set(at.map.drafted)
        as_ids, as_offsets = len(marked.intersection(ids)), len(marked.intersection(at.targets))
        if as_ids != as_offsets:
            return as_ids > as_offsets
    return max(at.targets) >= at.vocabulary or not _plausible_offsets(at, ids)


def _plausible_offsets(at: Drafted, ids: tuple[int, ...]) -> bool:
    """False if no two neighbouring ids are drafted, so many should be, and read as ids many are."""
    if not _ascending(ids):
        return len(set(at.targets)) == len(at.targets)
    expected = at.rows * at.rows // at.vocabulary
    neighbours = sum(map(eq, map((1).__add__, ids), islice(ids, 1, None)))
    # An even spread, which no text gives, is not held against a map: in it neighbours are as rare in either reading.
    return expected < _EXPECTED_NEIGHBOURS or not expected // 4 <= neighbours < len(ids) - 1


def _ascending(values: tuple[int, ...]) -> bool:
    return not any(map(ge, values, islice(values, 1, None)))
