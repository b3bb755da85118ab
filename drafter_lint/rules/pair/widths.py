"""How the input of ``fc`` relates to the target's width; shared by the rules on widths and counts."""

from __future__ import annotations

from drafter_lint.drafters import Eagle


def fc_fits_target(drafter: Eagle, width: int) -> bool:
    """True if ``fc`` of an EAGLE-3 drafter takes a whole number of the target's states, two at least."""
    if drafter.generation != 3 or drafter.fc is None or len(drafter.fc.shape) != 2 or width < 1:
        return False
    count, rest = divmod(drafter.fc.shape[1], width)
    return rest == 0 and count >= 2
