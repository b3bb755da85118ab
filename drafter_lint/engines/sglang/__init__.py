"""SGLang 0.4.6.post5 to 0.5.23: what it will do with a pair, and the flags it needs."""

from drafter_lint.engines.sglang.capture import layer_ids
from drafter_lint.engines.sglang.command import composed, habits, remedies
from drafter_lint.engines.sglang.needed import needed
from drafter_lint.engines.sglang.planning import plan

__all__ = ["composed", "habits", "layer_ids", "needed", "plan", "remedies"]
