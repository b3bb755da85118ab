"""How far apart two vocabulary sizes of one tokenizer may be, and what to say of a difference."""

from __future__ import annotations

#: Padding takes less than this part of a vocabulary: the most that is published is 1069 of 201088 ids.
_PART = 16
#: Fewer ids than this are padding even in a small vocabulary: sizes are filled up to multiples of 64 to 1024.
_FEW = 1024


def may_be_padding(ours: int, theirs: int) -> bool:
    """True if two sizes may be one tokenizer's, padded differently."""
    return abs(ours - theirs) <= max(_FEW, max(ours, theirs) // _PART)


def said(ours: int, theirs: int) -> str:
    """One clause for a person."""
    if may_be_padding(ours, theirs):
        return f"{abs(ours - theirs)} ids apart, as different padding of one tokenizer is"
    return "no padding explains that: these are different tokenizers"
