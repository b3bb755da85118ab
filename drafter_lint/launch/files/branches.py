"""The ways through a document: which arm of each branch was taken, and which ways are worth a look."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

_MANY, _FEW = 48, 8
_WORK = 400_000  # characters walked in all


@dataclass(slots=True)
class Way:
    """One way through a document.

    Attributes:
        fixed: by branch, the arm to take; the first one everywhere else.
        met: the branches met and how many arms each has.
    """

    fixed: dict[int, int] = field(default_factory=dict)
    met: dict[int, int] = field(default_factory=dict)

    def choose(self, branch: int, arms: int) -> int:
        """The arm to take."""
        self.met[branch] = arms
        return min(self.fixed.get(branch, 0), arms - 1)


def each_way(walk: Callable[[Way], None], *, size: int) -> int:
    """Walk a document once with every first arm, then once more for every other arm.

    Arms are tried one at a time, not in every combination: each option is seen next to the defaults of the others.

    Args:
        walk: goes one way.
        size: how many characters the document has; long ones are walked less often.

    Returns:
        How many arms are left that no way took.
    """
    limit = max(_FEW, min(_MANY, _WORK // max(size, 1)))
    waiting: deque[dict[int, int]] = deque([{}])
    seen: set[int] = set()
    walked = 0
    while waiting and walked < limit:
        way = Way(waiting.popleft())
        walk(way)
        walked += 1
        for branch, arms in way.met.items():
            if branch not in seen:
                seen.add(branch)
                waiting.extend({**way.fixed, branch: arm} for arm in range(1, arms))
    return len(waiting)
