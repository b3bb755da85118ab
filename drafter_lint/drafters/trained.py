"""What the user knows of a drafter's training and no file says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from drafter_lint.errors import UsageError

Word = Literal["norm-before-residual", "no-norm-before-residual", "state-before-norm", "state-after-norm"]
WORDS: tuple[Word, ...] = get_args(Word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What a drafter was trained with, as told; None where nothing was said.

    Attributes:
        boundaries: the target's states it takes (0 = embeddings, k = input of layer k), ascending.
        norm_before_residual: whether the residual of its layer is the normed state (EAGLE-3).
        state: which of the target's last states its prediction layer takes: the one before or after the final norm.
    """

    boundaries: tuple[int, ...] | None = None
    norm_before_residual: bool | None = None
    state: Literal["before-norm", "after-norm"] | None = None

    @classmethod
    def told(cls, words: Iterable[int | str]) -> Trained:
        """What a list of boundaries and words says.

        Raises:
            UsageError: a word is none of ours, or two of them say opposite things.
        """
        given = list(words)
        ids = [word for word in given if isinstance(word, int)]
        said = {word for word in given if isinstance(word, str)}
        if unknown := sorted(said.difference(WORDS)):
            raise UsageError(f"{unknown[0]!r}: expected boundaries such as 2,30,58, or {', '.join(WORDS)}")
        if any(value < 0 for value in ids):
            raise UsageError(f"{min(ids)}: boundaries are counted from 0, the embeddings")
        for one, other in (WORDS[:2], WORDS[2:]):
            if {one, other} <= said:
                raise UsageError(f"{one} and {other}: only one of them can be true")
        return cls(
            boundaries=tuple(ids) or None,
            norm_before_residual=True if WORDS[0] in said else False if WORDS[1] in said else None,
            state="before-norm" if WORDS[2] in said else "after-norm" if WORDS[3] in said else None,
        )

    @classmethod
    def parsed(cls, text: str) -> Trained:
        """What the value of ``--trained-on`` says: ``2,30,58`` or ``2,30,58,norm-before-residual``.

        Raises:
            UsageError: as :meth:`told`.
        """
        words = text.replace(",", " ").split()
        try:
            return cls.told(int(word) if word.lstrip("-").isdecimal() else word for word in words)
        except UsageError as error:
            raise UsageError(f"--trained-on {error}") from None
