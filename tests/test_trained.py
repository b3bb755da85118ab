"""What the user says of a drafter's training: words that are understood, and words that cannot all be true."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from drafter_lint.drafters import Trained
from drafter_lint.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2,30,58", Trained(boundaries=(2, 30, 58))),
        ("2 30 58 norm-before-residual", Trained(boundaries=(2, 30, 58), norm_before_residual=True)),
        ("no-norm-before-residual", Trained(norm_before_residual=False)),
        ("state-before-norm", Trained(state="before-norm")),
        ("state-after-norm,0", Trained(boundaries=(0,), state="after-norm")),
    ],
)
def test_words_say_what_no_file_says(text: str, expected: Trained) -> None:
    assert Trained.parsed(text) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["norm-before-fc"], "'norm-before-fc': expected boundaries such as 2,30,58, or norm-before-residual"),
        ([2, -1], "-1: boundaries are counted from 0"),
        (["state-before-norm", "state-after-norm"], "only one of them can be true"),
        (["norm-before-residual", 3, "no-norm-before-residual"], "only one of them can be true"),
    ],
)
def test_words_that_cannot_be_true_are_refused(words: Sequence[int | str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Trained.told(words)
