"""SGLang's command for a drafter: every flag it needs with the reason, what mends it, and what others often add."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from drafter_lint.checkpoint import Config
from drafter_lint.drafters import Eagle, aux_need, default_boundaries
from drafter_lint.engines.command import TRUST, Remedy, Wanted, asked, flag, refused, revisions, trusted
from drafter_lint.engines.plan import Plan, RefusalKind
from drafter_lint.engines.sglang.arguments import ALGORITHM
from drafter_lint.engines.sglang.capture import IDS, layer_ids
from drafter_lint.engines.sglang.fields import OVERRIDES
from drafter_lint.engines.sglang.needed import needed
from drafter_lint.engines.sglang.opening import reads_type
from drafter_lint.facts import World
from drafter_lint.findings import JsonValue
from drafter_lint.launch import Option
from drafter_lint.launch.composed import Part, has_flag

_PATH = "--speculative-draft-model-path"
_CONTEXT = "--context-length"
_LONGER = "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN"
#: What each algorithm does, and the facts that tell.
_ALGORITHMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "EAGLE3": (
        "EAGLE3 makes the target hand over the auxiliary states it takes, EAGLE the last state only",
        ("algorithm.is-eagle", "worker.needs-map-attribute"),
    ),
    "EAGLE": ("EAGLE hands over the last state, which it takes", ("algorithm.is-eagle",)),
    "NEXTN": ("NEXTN runs prediction layers, as EAGLE does", ("algorithm.names",)),
    "STANDALONE": ("STANDALONE runs a language model of its own", ("algorithm.names", "standalone.states")),
    "DFLASH": ("DFLASH drafts whole blocks from states of the target", ("algorithm.names", "block.one-step")),
    "DSPARK": ("DSPARK drafts whole blocks from states of the target", ("algorithm.names", "block.one-step")),
}


def composed(world: World, wanted: Wanted) -> Iterator[Part]:
    """The flags a check without flags assumes, and what the pair asks for besides."""
    drafter = wanted.drafter
    options = needed(world, drafter.method, wanted.drafter_name, wanted.target_name).options
    for name, option in options.items():
        yield _explained(world, wanted, name, option)
    draft_revision = "--speculative-draft-model-revision"
    named = _PATH in options and has_flag("sglang", draft_revision, world.basis)
    yield from revisions(world, wanted, of_target="--revision", of_drafter=draft_revision if named else "")
    yield from asked(world, wanted, ranks="--tp-size", context=_CONTEXT)
    kind = wanted.target.model_type
    known = kind is not None and reads_type(world, kind.value)
    yield from trusted(world, wanted.target, known=known, evidence=world.evidence("config.remote-code"))


def _explained(world: World, wanted: Wanted, name: str, option: Option) -> Part:
    drafter, value = wanted.drafter, option.value
    if name == ALGORITHM:
        what, keys = _ALGORITHMS.get(value or "", ("the algorithm of its method", ("algorithm.names",)))
        why, evidence = f"{drafter.title}: {what}", world.evidence(*keys)
        return flag(world, name, value, why, evidence=evidence, at=wanted.architecture_at)
    if name == _PATH:
        why = "the drafter; without it the target's own folder is opened as one"
        return flag(world, name, value, why, evidence=world.evidence("draft.path-default"))
    inside = wanted.inside and _PATH not in option.name
    return flag(world, name, value, "the target; the drafter rides inside it" if inside else "the target")


def remedies(world: World, wanted: Wanted, plans: Sequence[Plan]) -> Iterator[Remedy]:
    """What a command may still say where these plans refuse, or go wrong."""
    for item in refused(plans, RefusalKind.CONTEXT):
        own = item.measured.get("drafter")
        if wanted.context_length:
            why = f"{wanted.context_length} tokens are asked for; past {own} the drafter runs beyond its own context"
            yield Remedy((replace(_variable(_LONGER, "1", why), evidence=item.evidence, at=item.locations[0]),))
        elif isinstance(own, int) and own > 0:
            why = (
                f"the drafter's own context, {own} tokens: SGLang refuses to run it at a longer one unless {_LONGER}=1"
            )
            yield Remedy((flag(world, _CONTEXT, own, why, evidence=item.evidence, at=item.locations[0]),))
    for item in refused(plans, RefusalKind.QUANTIZATION):
        name = "--speculative-draft-model-quantization"
        if has_flag("sglang", name, world.basis):
            why = "the drafter is not quantised; without it --quantization would hold for it too"
            yield Remedy((flag(world, name, "unquant", why, evidence=item.evidence, at=item.locations[-1]),))
    if any(refused(plans, RefusalKind.CONFIG_UNREADABLE, RefusalKind.ARCHITECTURE_UNREGISTERED)):
        why, evidence = (
            "the drafter's config is read by code it ships, which will run",
            world.evidence("config.remote-code"),
        )
        yield Remedy((flag(world, TRUST, None, why, evidence=evidence),), unfollowed=True)
    yield from _overridden(world, wanted, plans)
    steps = [step for plan in plans for step in plan.steps if step.topic == "capture-graph"]
    for step in steps[:1]:
        why = f"{step.says}; without graphs every step costs more"
        yield Remedy((flag(world, "--disable-cuda-graph", None, why, evidence=step.evidence, at=step.at),))


def _overridden(world: World, wanted: Wanted, plans: Sequence[Plan]) -> Iterator[Remedy]:
    """Another list of layer ids than the drafter's config has, where the one there is read as other boundaries.

    ``--json-model-override-args`` is laid over both configs (sglang 0.4.6.post5 to 0.5.23, get_config); no target reads
    ``eagle_config``.
    """
    drafter, layers = wanted.drafter, wanted.target.num_layers
    captures = [plan.capture for plan in plans if plan.capture]
    if not isinstance(drafter, Eagle) or drafter.generation != 3 or layers is None or not captures:
        return
    need = aux_need(drafter, layers.value)
    if need.boundaries is None or wanted.target.checkpoint.config.has("eagle_config"):
        return
    written = Config(drafter.layer_config.document).value.get("eagle_config")
    rest = {name: value for name, value in written.items() if name != IDS} if isinstance(written, dict) else {}
    evidence, at = captures[0].evidence, need.written.ids.at if need.written else None
    shown = list(need.boundaries)
    tried: list[tuple[dict[str, JsonValue], str]] = []
    if need.boundaries == default_boundaries(layers.value):
        tried.append((rest, f"without a list the default is captured, {shown}, on which this drafter was trained"))
    if listed := layer_ids(world, wanted.target, need.boundaries):
        why = f"read as boundaries {shown} here, on which this drafter was trained"
        tried.append(({**rest, IDS: list(listed[1])}, why))
    for eagle, why in tried:
        value = json.dumps({"eagle_config": eagle})
        yield Remedy((flag(world, OVERRIDES, value, why, evidence=evidence, at=at),))


def habits(world: World, wanted: Wanted) -> Iterator[tuple[Part, ...]]:
    """What is often typed with such a drafter; whether it does harm here is for a check to say."""
    method = wanted.drafter.method
    if method in {"eagle", "eagle3"}:
        yield (_typed(world, ALGORITHM, "EAGLE" if method == "eagle3" else "EAGLE3"),)
    if method == "eagle3":
        yield (_typed(world, "--speculative-token-map", "FILE"),)
    if method in {"dflash", "dspark"}:
        yield (_typed(world, "--speculative-eagle-topk", "4"),)
    elif method:
        counts = {
            "--speculative-num-steps": "5",
            "--speculative-eagle-topk": "8",
            "--speculative-num-draft-tokens": "64",
        }
        yield tuple(_typed(world, name, value) for name, value in counts.items())


def _typed(world: World, name: str, value: str) -> Part:
    return replace(flag(world, name, value, "often given"), origin="given")


def _variable(name: str, value: str, why: str) -> Part:
    return Part(kind="variable", name=name, value=value, why=why)
