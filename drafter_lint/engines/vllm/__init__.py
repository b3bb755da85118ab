"""What vLLM will do with a drafter, for every method it has; a proposer of the user's own is named only."""

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import Plan
from drafter_lint.engines.vllm import planning
from drafter_lint.engines.vllm.capture import layer_ids
from drafter_lint.engines.vllm.case import Case
from drafter_lint.engines.vllm.command import composed, habits, remedies
from drafter_lint.engines.vllm.request import needed
from drafter_lint.facts import World
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

__all__ = ["composed", "habits", "layer_ids", "needed", "plan", "remedies"]


def plan(world: World, request: LaunchRequest, drafter: Checkpoint, target: Target) -> Plan:
    """What vLLM will do in a world.

    Raises:
        Unavailable: a file the engine needs could not be read.
    """
    return planning.make(Case(world=world, request=request, drafter=drafter, target=target))
