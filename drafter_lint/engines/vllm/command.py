"""vLLM's command for a drafter: every flag and key it needs with the reason, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from drafter_lint.checkpoint import Config
from drafter_lint.drafters import BlockDrafter, Medusa
from drafter_lint.engines.command import TRUST, Remedy, Wanted, asked, flag, refused, revisions, trusted
from drafter_lint.engines.plan import OVERRUN, OVERRUN_EAGER, Plan, RefusalKind
from drafter_lint.engines.vllm import speculators, timeline
from drafter_lint.engines.vllm.request import needed
from drafter_lint.engines.vllm.runner import VARIABLE
from drafter_lint.facts import World
from drafter_lint.findings import JsonValue, Located
from drafter_lint.launch.composed import Part

_TOKENS = "num_speculative_tokens"
_METHODS = {
    "eagle3": "eagle3 makes the target hand over auxiliary states, eagle the last state only",
    "eagle": "eagle hands over the last state, which it takes",
    "mtp": "mtp runs prediction layers",
    "draft_model": "draft_model runs a language model of its own",
    "dflash": "dflash drafts whole blocks from states of the target",
    "dspark": "dspark drafts whole blocks from states of the target",
}


def composed(world: World, wanted: Wanted) -> Iterator[Part]:
    """The flags a check without flags assumes, and what the pair asks for besides."""
    request = needed(world, wanted.drafter.method, wanted.drafter_name, wanted.target_name)
    why = "the target; the drafter rides inside it" if "model" not in request.speculative_config else "the target"
    yield Part(kind="model", name="--model", value=wanted.target_name, why=why)
    for name, located in request.speculative_config.items():
        value = located.value
        if isinstance(value, (str, int, bool)):
            yield _key(world, wanted, name, value)
    for name, variable in request.environment.items():
        why = "this release serves EAGLE by the engine that knows the drafter only if it is told to"
        evidence = world.evidence("method.v1-eagle")
        yield Part(kind="variable", name=name, value=variable.value, why=why, evidence=evidence)
    if wanted.drafter_revision and "model" in request.speculative_config:
        yield Part(kind="key", name="revision", value=wanted.drafter_revision, why="the revision that was asked for")
    yield from revisions(world, wanted, of_target="--revision", of_drafter="")
    yield from asked(world, wanted, ranks="--tensor-parallel-size", context="--max-model-len")
    kind = wanted.target.model_type
    evidence = world.evidence("config.own-model-types")
    yield from trusted(world, wanted.target, known=kind is not None and _reads(world, kind.value), evidence=evidence)


def _reads(world: World, model_type: str) -> bool:
    own = timeline.at(world, "config.own-model-types", model_type) is not None
    return own or model_type in world.names("config.transformers-model-types")


def _key(world: World, wanted: Wanted, name: str, value: JsonValue) -> Part:
    made = Part(kind="key", name=name, value=value, why="this release reads it")
    if name == "method":
        what = _METHODS.get(str(value), "its method")
        why = f"{wanted.drafter.title}: {what}"
        evidence = world.evidence("methods.known", "method.kept")
        return replace(made, why=why, evidence=evidence, at=wanted.architecture_at)
    if name == "model":
        why = "the drafter" if not wanted.inside else "the target, whose own layers draft"
        return replace(made, why=why, evidence=world.evidence("method.self-drafting") if wanted.inside else ())
    if name == _TOKENS:
        count = _tokens(wanted)
        if count is None:
            why = (
                "one for each prediction layer that runs"
                if value == 1
                else "a usual number: vLLM asks for one and has no default"
            )
            return replace(made, why=why, evidence=world.evidence("flags.keys"))
        number, said = count
        return replace(made, value=number.value, why=said, at=number.at, evidence=world.evidence("flags.keys"))
    if name == "parallel_drafting":
        why = "the drafter fills in all tokens of a step at once"
        return replace(made, why=why, evidence=world.evidence("flags.keys"), at=wanted.architecture_at)
    return made


def _tokens(wanted: Wanted) -> tuple[Located[int], str] | None:
    """How many tokens the drafter itself says, and how it says so."""
    drafter = wanted.drafter
    if isinstance(drafter, BlockDrafter) and drafter.block_size and drafter.block_size.value > 1:
        size = drafter.block_size
        anchored = drafter.sample_from_anchor.value if drafter.sample_from_anchor else drafter.method == "dspark"
        count = size.value if anchored else size.value - 1
        said = f"a block of {size.value}" + ("" if anchored else ", of which the first is known")
        return Located(count, size.at), said
    if isinstance(drafter, Medusa) and drafter.num_layers and drafter.num_layers.value > 0:
        return drafter.num_layers, "one for each head"
    said_by = speculators.tokens(Config(drafter.layer_config.document))
    return (said_by, "what its own speculators_config says") if said_by and said_by.value > 0 else None


def remedies(world: World, wanted: Wanted, plans: Sequence[Plan]) -> Iterator[Remedy]:
    """What a command may still say where these plans refuse, or go wrong."""
    yield from _shorter(world, wanted, plans)
    for plan in plans:
        for item in plan.refusals:
            if item.remedy is not None:
                name, value = item.remedy
                yield Remedy(
                    (
                        Part(
                            kind="key",
                            name=name,
                            value=value,
                            why=item.says,
                            evidence=item.evidence,
                            at=item.locations[0],
                        ),
                    )
                )
    if any(refused(plans, RefusalKind.CONFIG_UNREADABLE, RefusalKind.ARCHITECTURE_UNREGISTERED)):
        evidence = world.evidence("config.own-model-types")
        yield Remedy(
            (
                flag(
                    world,
                    TRUST,
                    None,
                    "the drafter's config is read by code it ships, which will run",
                    evidence=evidence,
                ),
            )
        )
    if world.flag("runner.selectable"):
        for value, why in (("0", "model runner V1"), ("1", "model runner V2")):
            evidence = world.evidence("runner.selectable", "runner.default")
            part = Part(kind="variable", name=VARIABLE, value=value, why=why, evidence=evidence)
            yield Remedy((part,), quoting=True)


def _shorter(world: World, wanted: Wanted, plans: Sequence[Plan]) -> Iterator[Remedy]:
    """The drafter's own context, where positions past it are looked up behind the end of its rotary table."""
    steps = [step for plan in plans for step in plan.steps if step.topic in (OVERRUN, OVERRUN_EAGER)]
    own = wanted.drafter.layer_config.integer("max_position_embeddings")
    if steps and own is not None and own.value > 0 and not wanted.context_length:
        why = f"the drafter's own context, {own.value} tokens, past which its rotary table has no rows"
        part = flag(world, "--max-model-len", own.value, why, evidence=steps[0].evidence, at=own.at)
        yield Remedy((part,), precaution=True)


def habits(world: World, wanted: Wanted) -> Iterator[tuple[Part, ...]]:
    """What is often typed with such a drafter; whether it does harm here is for a check to say."""
    del world
    other = {"eagle3": "eagle", "peagle": "eagle", "eagle": "eagle3"}.get(wanted.drafter.method)
    if other:
        yield (Part(kind="key", name="method", value=other, why="often given", origin="given"),)
    if wanted.tensor_parallel:
        value = wanted.tensor_parallel
        yield (Part(kind="key", name="tensor_parallel_size", value=value, why="often given", origin="given"),)
