"""STANDALONE with a language model of its own: what the worker asks of it, and what it runs with.

The worker inherits EAGLE's, binds neither embedding nor head, and from 0.5.12.post1 hands over no states.
"""

from __future__ import annotations

from drafter_lint.engines.plan import FcUse, MapUse, Provision, RefusalKind
from drafter_lint.engines.sglang.classes import Built, divisible, plain
from drafter_lint.engines.sglang.fields import Fields
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.opening import context
from drafter_lint.engines.sglang.sharing import Running
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Located
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

ALGORITHM = "STANDALONE"
#: Classes whose parameters and loader are LLaMA's: sglang 0.5.2 to 0.5.23, srt/models/{llama,qwen2,qwen3,mistral}.py.
FOLLOWED = ("LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM", "MistralForCausalLM")


def arguments(world: World, request: LaunchRequest, notes: Notes) -> None:
    """What no STANDALONE server takes beside it."""
    for flag, key, what in (
        ("--enable-dp-attention", "standalone.dp-attention", "data-parallel attention"),
        ("--speculative-use-rejection-sampling", "standalone.rejection-sampling", "rejection sampling"),
    ):
        option = request.options.get(flag)
        if option is not None and world.text(key) == "refused":
            says = f"{ALGORITHM} does not go with {what}"
            notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, key, at=(option.flag_at,))


def checks(world: World, fields: Fields, target: Target, request: LaunchRequest, notes: Notes) -> None:
    """Context and vocabulary, which the worker looks at whatever the class is."""
    if fields.states_context:
        context(world, fields, target, request, notes)
    _vocabulary(world, fields, target, notes)


def _vocabulary(world: World, fields: Fields, target: Target, notes: Notes) -> None:
    own, theirs = fields.integer("vocab_size"), target.vocab_size
    keys = ("standalone.vocabulary", "standalone.tokenizer")
    if world.text("standalone.vocabulary") == "unchecked":
        notes.step("vocabulary", "draft ids are taken for target ids; neither sizes nor tokenizers are compared", *keys)
        return
    notes.step("vocabulary", "vocab_size must be equal; the drafter's tokenizer is not read", *keys)
    if own is None or theirs is None or not fields.has("vocab_size") or own == theirs.value:
        return
    says = f"STANDALONE wants one vocab_size: {own} in the draft model against {theirs.value} in the target"
    at = (fields.at("vocab_size", label=f"{own} ids"), theirs.at.saying(f"{theirs.value} ids"))
    measured = {"drafter": own, "target": theirs.value}
    notes.refuse(RefusalKind.VOCABULARY_UNEQUAL, "load", says, keys[0], at=at, measured=measured)


def rewritten(world: World, name: Located[str], written: str, notes: Notes) -> bool:
    """True if the class is a multi-token-prediction module's: a checkpoint opened as drafter is taken for one."""
    if name.value == written:
        return False
    says = f"{written} opened as a drafter becomes {name.value}, which drafts from the target's states"
    if world.text("standalone.states") == "none":
        says += "; STANDALONE hands over none"
        keys = ("draft.rewrites", "standalone.states")
        likely = Confidence.LIKELY
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "first-request", says, *keys, at=(name.at,), confidence=likely)
    else:
        notes.step("class", says, "draft.rewrites", at=name.at)
    return True


def built(world: World, name: str, fields: Fields, request: LaunchRequest, notes: Notes) -> Built | None:
    """The class on paper where its loader is LLaMA's; of others only what divides is looked at."""
    if name in FOLLOWED:
        return plain(world, name, fields, request, notes)
    heads, groups = fields.config.integer("num_attention_heads"), fields.config.integer("num_key_value_heads")
    divisible(
        fields, request, notes, heads=heads.value if heads else 0, kv_heads=groups.value if groups else 0, inner=0
    )
    says = f"{name} loads its own checkpoint; which tensor goes where is not followed"
    notes.step("weights", says, "models.registered")
    return None


def running(world: World) -> Running:
    """What a class that is not followed runs with."""
    where = world.evidence("standalone.binding")
    own = Provision(provider="own", says="STANDALONE binds nothing of the target's", evidence=where)
    fc = FcUse(built=False, runs=False, says="the class has no fc", evidence=where)
    return Running(head=own, embedding=own, map=ids(world), fc=fc, parameters=())


def ids(world: World) -> MapUse:
    """Draft ids stand for themselves."""
    keys = ("standalone.vocabulary", "standalone.tokenizer")
    return MapUse(use="identity", says="draft ids are taken for target ids", evidence=world.evidence(*keys))
