"""The plan of one SGLang release: arguments, the drafter's config, its class, its weights, and the first forward."""

from __future__ import annotations

from dataclasses import dataclass, replace

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.text import text_config
from drafter_lint.engines.plan import Capture, Plan, RefusalKind
from drafter_lint.engines.sglang import block, block_arguments, prediction, sharing, standalone
from drafter_lint.engines.sglang.arguments import EAGLE_FAMILY, Arguments, fills_itself, read_arguments
from drafter_lint.engines.sglang.block_arguments import BLOCK_METHODS
from drafter_lint.engines.sglang.capture import captured, last_state, offers_head
from drafter_lint.engines.sglang.classes import AUX_CLASSES, MODELLED, Built, build
from drafter_lint.engines.sglang.fields import Fields, overrides
from drafter_lint.engines.sglang.notes import Notes
from drafter_lint.engines.sglang.opening import architecture, context, draft_class, readable
from drafter_lint.engines.sglang.sharing import Running, Situation
from drafter_lint.engines.sglang.weights import Weights, load_weights, table_of
from drafter_lint.engines.sglang.worker import binds, config_fields, quantised
from drafter_lint.facts import World
from drafter_lint.findings import Located
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target

#: Methods without a drafter.
_UNAIDED = ("NGRAM", "UNO")
#: Whether all tokens of a step are drafted in one pass.
_PASSES = {**dict.fromkeys(EAGLE_FAMILY, False), **dict.fromkeys(BLOCK_METHODS, True)}
_GEMMA_ASSISTANTS = ("Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the steps came to; the fields of the plan of the same names."""

    method: str | None
    understood: bool = True
    speculates: bool = True
    architecture: str | None = None
    draft_class: str | None = None
    capture: Capture | None = None
    running: Running | None = None
    built: Built | None = None
    weights: Weights | None = None
    fields: Fields | None = None


def plan(world: World, request: LaunchRequest, drafter: Checkpoint, target: Target) -> Plan:
    """What SGLang will do with a pair, at one release, with one set of flags.

    Raises:
        Unavailable: a file the engine needs could not be read.
    """
    notes = Notes(world)
    arguments = read_arguments(world, request, target, notes)
    if arguments.method == standalone.ALGORITHM:
        standalone.arguments(world, request, notes)
    outcome = _follow(world, request, drafter, target, arguments=arguments, notes=notes)
    running, built = outcome.running, outcome.built
    switches = (
        sharing.schemes(world, built, outcome.capture, outcome.fields)
        if built and outcome.capture and outcome.fields
        else {}
    )
    return Plan(
        engine=world.engine,
        version=str(world.version),
        knowledge=world.knowledge,
        basis=world.basis,
        understood=outcome.understood,
        speculates=outcome.speculates,
        method=outcome.method,
        method_origin="flag",
        architecture=outcome.architecture,
        draft_class=outcome.draft_class,
        takes_aux=outcome.draft_class in AUX_CLASSES,
        parallel_drafting=_PASSES.get(outcome.method or ""),
        steps=tuple(notes.steps),
        refusals=tuple(notes.refusals),
        capture=outcome.capture,
        fc=running.fc if running else None,
        head=running.head if running else None,
        embedding=running.embedding if running else None,
        map=running.map if running else None,
        tensors=outcome.weights.tensors if outcome.weights else (),
        parameters=running.parameters if running else (),
        schemes=switches,
        ignored_fields=tuple(notes.ignored_fields),
        ignored_flags=tuple(notes.ignored_flags),
        rewrites=tuple(notes.rewrites),
    )


def _follow(
    world: World, request: LaunchRequest, drafter: Checkpoint, target: Target, *, arguments: Arguments, notes: Notes
) -> Outcome:
    method = arguments.method
    if not arguments.known:
        return Outcome(method=method)
    if method is None:
        if request.drafter is not None and world.flag("algorithm.reads-drafter-config"):
            readable(world, drafter.config, request, notes)
        return Outcome(method=None, speculates=False)
    if method in _UNAIDED:
        return Outcome(method=method)
    if method not in {*EAGLE_FAMILY, *BLOCK_METHODS}:
        notes.step("method", f"what {method} does with a drafter is not modelled", "algorithm.names")
        return Outcome(method=method, understood=False)
    opened = target.checkpoint if arguments.from_target else drafter
    folder = arguments.from_target and not block_arguments.bundled(target)
    if method == "DSPARK" and folder and block_arguments.in_folder(world, target):
        notes.step("method", "the drafter in the target's folder dspark is not followed", "dspark.folder")
        return Outcome(method=method, understood=False)
    if not _opens(world, request, opened, target, notes, arguments=arguments):
        return Outcome(method=method)
    name = architecture(world, opened.config, notes)
    if name is None:
        return Outcome(method=method)
    if method == "DSPARK" and name.value == "DeepseekV4ForCausalLMNextN":
        notes.step("architecture", "under DSPARK it becomes DeepseekV4ForCausalLMDSpark", "dspark.head", at=name.at)
        name = Located("DeepseekV4ForCausalLMDSpark", name.at)
    return _with_class(world, request, opened, target, name=name, notes=notes, arguments=arguments)


def _opens(
    world: World, request: LaunchRequest, opened: Checkpoint, target: Target, notes: Notes, *, arguments: Arguments
) -> bool:
    """Whether a drafter is opened at all; what stands in its way is written down."""
    method = arguments.method or ""
    if method in BLOCK_METHODS:
        block_arguments.block(request, Fields(opened.config, overrides(request)), target, notes, method=method)
        if arguments.from_target and not (method == "DSPARK" and block_arguments.bundled(target)):
            return False
    elif arguments.from_target:
        _unnamed(world, target, notes, method=method)
    return readable(world, opened.config, request, notes) or _flat(opened)


def _with_class(
    world: World,
    request: LaunchRequest,
    opened: Checkpoint,
    target: Target,
    *,
    name: Located[str],
    notes: Notes,
    arguments: Arguments,
) -> Outcome:
    """By the method, once the drafter's class has a name."""
    method = arguments.method
    known = draft_class(world, name, opened.config, request, notes)
    fields = Fields(opened.config, overrides(request))
    outcome = Outcome(method=method, architecture=name.value, draft_class=known, fields=fields)
    if known is None:
        return replace(outcome, understood=bool(notes.refusals))  # a class of the drafter's own code is not followed
    if method == standalone.ALGORITHM and known not in AUX_CLASSES:
        plain = replace(outcome, fields=Fields(text_config(opened.config), overrides(request)))
        return _standalone(world, request, opened, target, outcome=plain, name=name, notes=notes, arguments=arguments)
    if method in BLOCK_METHODS:
        return _blocks(world, request, opened, target, outcome=outcome, name=name, notes=notes)
    return _eagle(world, request, opened, target, outcome=outcome, notes=notes, arguments=arguments)


def _flat(opened: Checkpoint) -> bool:
    """True if the fields stand where the classes look: what comes after an unreadable model_type is worth telling."""
    config = opened.config
    return config.has("hidden_size") and not config.has("speculators_model_type")


def _unnamed(world: World, target: Target, notes: Notes, *, method: str) -> None:
    rides = fills_itself(world, target)
    keys = ("draft.self-filled",) if rides else ("draft.path-default",)
    says = "no drafter is named: the target's own folder is opened as the drafter"
    notes.step("method", says, *keys)
    if method == "EAGLE3":
        what = "no --speculative-draft-model-path: the target is opened as its own EAGLE-3 drafter"
        at = (target.architecture.at,) if target.architecture else (target.checkpoint.config.at(),)
        where = ("draft.path-default", "worker.needs-map-attribute")
        notes.refuse(RefusalKind.DRAFT_PATH_MISSING, "load", what, *where, at=at)


def _blocks(
    world: World,
    request: LaunchRequest,
    opened: Checkpoint,
    target: Target,
    *,
    outcome: Outcome,
    name: Located[str],
    notes: Notes,
) -> Outcome:
    """DFLASH and DSPARK draft whole blocks."""
    known, method = outcome.draft_class or "", outcome.method or ""
    fields = Fields(opened.config, overrides(request))
    if not block.suits(known, fields, method, name, notes):
        return outcome
    context(world, fields, target, request, notes)
    quantised(world, opened, fields, request, notes)
    made = block.follow(world, opened, target, request, notes, known=known, method=method)
    return replace(outcome, capture=made.capture, running=made.running, weights=made.weights)


def _standalone(
    world: World,
    request: LaunchRequest,
    opened: Checkpoint,
    target: Target,
    *,
    outcome: Outcome,
    name: Located[str],
    notes: Notes,
    arguments: Arguments,
) -> Outcome:
    """A language model of its own."""
    known, fields = outcome.draft_class or "", outcome.fields
    if fields is None:
        return outcome
    standalone.checks(world, fields, target, request, notes)
    quantised(world, opened, Fields(opened.config, fields.overrides), request, notes)
    names = opened.config.strings("architectures")
    if standalone.rewritten(world, name, names.value[0] if names and names.value else "", notes):
        return replace(outcome, understood=bool(notes.refusals))
    made = standalone.built(world, known, fields, request, notes)
    capture = last_state(target)
    if made is None:
        return replace(outcome, capture=capture, running=standalone.running(world))
    weights = Weights(visible=False) if arguments.from_target else load_weights(world, made, opened, notes)
    situation = Situation(
        world=world,
        method=outcome.method or "",
        built=made,
        fields=fields,
        target=target,
        weights=weights,
        capture=capture,
        notes=notes,
    )
    running = replace(sharing.run(situation), map=standalone.ids(world))
    return replace(outcome, capture=capture, running=running, built=made, weights=weights)


def _eagle(
    world: World,
    request: LaunchRequest,
    opened: Checkpoint,
    target: Target,
    *,
    outcome: Outcome,
    notes: Notes,
    arguments: Arguments,
) -> Outcome:
    """EAGLE, EAGLE3 and STANDALONE share a worker; here a head, or a class that is bound like one."""
    method, fields = outcome.method or "", outcome.fields
    known = outcome.draft_class or ""
    if fields is None:
        return outcome
    if known in _GEMMA_ASSISTANTS and method == "EAGLE3":
        says = f"{known} is run by NEXTN or EAGLE; EAGLE3 does not take it"
        at = (fields.at("architectures"),)
        notes.refuse(RefusalKind.METHOD_UNSUITABLE, "arguments", says, "algorithm.reads-drafter-config", at=at)
        return outcome
    if known in _GEMMA_ASSISTANTS:
        says = f"{method} with {known} becomes FROZEN_KV_MTP"
        notes.step("method", says, "algorithm.reads-drafter-config")
        notes.step("method", f"what {method} does with {known} is not modelled", "algorithm.names")
        return Outcome(method=method, understood=False)
    notes.step("passes", "one pass of the draft model for each step", "eagle.passes")
    binds(world, method, known, fields, notes, from_target=arguments.from_target)
    context(world, Fields(text_config(opened.config), fields.overrides), target, request, notes)
    if not prediction.follows(world, known, fields):
        config_fields(world, method, fields, notes)
    quantised(world, opened, fields, request, notes)
    offers_head(world, target, notes)
    if method != "EAGLE3" and prediction.follows(world, known, Fields(text_config(opened.config), fields.overrides)):
        return _prediction(world, opened, target, outcome=outcome, notes=notes)
    built = build(world, known, fields, request, notes)
    capture = captured(world, fields, target, request, notes) if method == "EAGLE3" else last_state(target)
    if built is None and method == "EAGLE" and prediction.unfollowed(known):
        table = table_of(opened, notes)
        running = prediction.unfollowed_running(world, known, fields, table, notes)
        return replace(outcome, capture=capture, running=running)
    if built is None:
        understood = known in MODELLED or bool(notes.refusals)
        if not understood:
            notes.step("weights", f"how {known} loads is not modelled", "models.registered")
        return Outcome(
            method=method,
            understood=understood,
            architecture=outcome.architecture,
            draft_class=known,
            capture=capture,
            fields=fields,
        )
    itself = arguments.from_target
    weights = Weights(visible=False) if itself else load_weights(world, built, opened, notes)
    situation = Situation(
        world=world,
        method=method,
        built=built,
        fields=fields,
        target=target,
        weights=weights,
        capture=capture,
        notes=notes,
    )
    running = sharing.run(situation)
    sharing.unread(world, built, capture, fields, notes)
    sharing.unread_flags(built, method, request, notes)
    return Outcome(
        method=method,
        architecture=outcome.architecture,
        draft_class=known,
        capture=capture,
        running=running,
        built=built,
        weights=weights,
        fields=fields,
    )


def _prediction(world: World, opened: Checkpoint, target: Target, *, outcome: Outcome, notes: Notes) -> Outcome:
    """A multi-token-prediction class: its tensors are a few of a whole target's, or exported alone."""
    known, overruled = outcome.draft_class or "", outcome.fields.overrides if outcome.fields else {}
    fields = Fields(text_config(opened.config), overruled)
    capture = last_state(target)
    table = table_of(opened, notes)
    made = prediction.module(world, known, fields, table, notes)
    capture = prediction.handed(world, known, capture, notes)
    if made is None:
        return replace(outcome, understood=bool(notes.refusals), capture=capture, fields=fields)
    weights = prediction.weights(world, made, opened, table, notes) if table else Weights(visible=False)
    situation = Situation(
        world=world,
        method=outcome.method or "",
        built=made.built,
        fields=fields,
        target=target,
        weights=weights,
        capture=capture,
        notes=notes,
    )
    running = sharing.run(situation)
    return replace(outcome, capture=capture, running=running, built=made.built, weights=weights, fields=fields)
