"""What the rules about tokenizers share: which drafters they concern, and how a difference is told."""

from __future__ import annotations

from drafter_lint.checkpoint import Tokenizer
from drafter_lint.checkpoint.tokenizer import Parity, Relation, compare, shown_token
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence
from drafter_lint.rule import NotChecked, cut_short

#: Where engines give a drafter the target's tokenizer: what it ships itself is never opened.
IDS_SHARED = (
    Evidence(
        engine="sglang",
        version="0.4.6.post5 to 0.5.23",
        file="srt/managers/tp_worker.py",
        symbol="TpModelWorker.__init__",
        how="read",
        note="the drafter's worker opens the target's tokenizer, or none",
    ),
    Evidence(
        engine="vllm",
        version="0.8.5 to 0.33.0",
        file="config/speculative.py",
        symbol="SpeculativeConfig.__post_init__",
        how="read",
        note="the drafter's ModelConfig is made with the target's tokenizer",
    ),
)


def reads_target_ids(drafter: Drafter) -> bool:
    """True for a drafter that was trained beside a target and takes its ids as they are.

    An ordinary language model has a tokenizer of its own by right, and some engines translate.
    """
    return drafter.method not in {"", "draft_model", "pard"}


def example(parity: Parity) -> str:
    """The first id that means two things: ``token id 7 is ' foo' for the drafter and ' bar' for the target``."""
    first = parity.first[0]
    return (
        f"token id {first.id} is {shown_token(first.left)} for the drafter "
        f"and {shown_token(first.right)} for the target"
    )


def ships_none(tokenizer: Tokenizer) -> bool:
    """True if there is no vocabulary, which is how nearly all drafters are published."""
    return tokenizer.file is None


def compared(ours: Tokenizer, theirs: Tokenizer) -> Parity | NotChecked:
    """How the two tables stand to each other, or why that cannot be told."""
    try:
        parity = compare(ours, theirs)
    except Unavailable as trouble:
        return cut_short(trouble)
    return not_comparable(ours, theirs) if parity.relation is Relation.INCOMPARABLE else parity


def not_comparable(ours: Tokenizer, theirs: Tokenizer) -> NotChecked:
    """The two files write tokens in ways of which neither can be turned into the other."""
    return NotChecked(f"{ours.file} and the target's {theirs.file}: kinds not comparable")
