"""Two checkpoints side by side: where they differ, and what of that matters to speculation."""

from drafter_lint.comparing.compare import compare
from drafter_lint.comparing.model import Comparison, Difference, Group

__all__ = ["Comparison", "Difference", "Group", "compare"]
