"""Which cause a refusal or a lost tensor belongs to: what several rules must agree on, so that it is told once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from drafter_lint.drafters import BlockDrafter, Drafter, DraftModel, Eagle, Medusa, MlpSpeculator
from drafter_lint.engines.plan import Refusal, RefusalKind, Rewrite, TensorFate
from drafter_lint.findings import Evidence, Fix, Found, Location, Outcome, weakest
from drafter_lint.rules.earlier import further_layers, told_before
from drafter_lint.rules.vocabulary.drafted import drafted_rows
from drafter_lint.rules.weights.schemes import told_by
from drafter_lint.scope import Deployment, Paired

#: The rule that speaks of a refusal when no earlier cause explains it. A kind that stands nowhere here goes to
#: ``refused-otherwise``.
NATURAL: dict[RefusalKind, str] = {
    RefusalKind.FLAG_UNKNOWN: "flag-unknown",
    RefusalKind.FLAG_VALUE: "flag-value",
    RefusalKind.METHOD_UNKNOWN: "method-unknown",
    RefusalKind.METHOD_REMOVED: "method-removed",
    RefusalKind.METHOD_UNSUITABLE: "method-unsuitable",
    RefusalKind.TOKEN_COUNTS: "token-counts",
    RefusalKind.DRAFT_PATH_MISSING: "draft-path-missing",
    RefusalKind.CONFIG_UNREADABLE: "config-refused",
    RefusalKind.CONFIG_FIELD: "config-refused",
    RefusalKind.ARCHITECTURE_UNREGISTERED: "architecture-unregistered",
    RefusalKind.TARGET_UNSUPPORTED: "target-without-aux-hook",
    RefusalKind.LAYER_COUNT: "layer-count-refused",
    RefusalKind.CONTEXT: "context-refused",
    RefusalKind.TENSOR_PARALLEL: "tp-indivisible",
    RefusalKind.WEIGHTS_MISSING: "weights-missing",
    RefusalKind.TENSOR_UNEXPECTED: "tensor-refused",
    RefusalKind.TENSOR_SHAPE: "shape-refused",
    RefusalKind.TENSOR_REQUIRED: "parameter-unfilled",
    RefusalKind.STATE_WIDTH: "state-width",
    RefusalKind.VOCABULARY: "vocabulary-refused",
    RefusalKind.VOCABULARY_UNEQUAL: "draft-vocabulary-unequal",
    RefusalKind.QUANTIZATION: "quantization-refused",
}
OTHERWISE = "refused-otherwise"

#: What follows from a wrong method or a wrong class, whatever the files hold.
_CONSEQUENCES = {
    RefusalKind.METHOD_UNSUITABLE,
    RefusalKind.TENSOR_UNEXPECTED,
    RefusalKind.TENSOR_SHAPE,
    RefusalKind.TENSOR_REQUIRED,
    RefusalKind.STATE_WIDTH,
}
#: Buffers every engine computes itself; a file that ships them loses nothing when they are dropped.
_COMPUTED = ("rotary_emb.inv_freq", "rotary_emb.cos_cached", "rotary_emb.sin_cached")
Cause = Literal[
    "eagle3-run-as-eagle",
    "eagle-run-as-eagle3",
    "method-unsuitable",
    "class-without-auxiliary-states",
    "architecture-rewritten",
    "draft-path-missing",
]
_SHOWN = 5


def unopened(at: Deployment[Drafter]) -> bool:
    """True if the command names no drafter: the engine opens the target in its place, and the plan speaks of that."""
    return at.request.drafter is None and not self_drafting(at)


def self_drafting(at: Paired[Drafter]) -> bool:
    """True if drafter and target are one checkpoint, read from one place."""
    drafter, target = at.drafter.checkpoint, at.target.checkpoint
    return (drafter.subject, drafter.reference.name) == (target.subject, target.reference.name)


def method_refused(at: Deployment[Drafter]) -> str | None:
    """The rule that tells when the method's name is refused: whatever runs in its place is no choice of the user's."""
    kinds = {refusal.kind for refusal in at.plan.refusals}
    named = (RefusalKind.METHOD_UNKNOWN, RefusalKind.METHOD_REMOVED)
    return next((NATURAL[kind] for kind in named if kind in kinds), None)


def method_at_odds(at: Deployment[Drafter]) -> Cause | None:
    """The rule that tells when the method is not the drafter's: it decides whether auxiliary states are handed over."""
    drafter, plan = at.drafter, at.plan
    if not plan.understood or not plan.speculates or plan.method is None or unopened(at) or method_refused(at):
        return None
    method = plan.method.lower()
    if isinstance(drafter, (BlockDrafter, Medusa, MlpSpeculator)):
        return "method-unsuitable" if method.startswith("eagle") else None
    if not isinstance(drafter, Eagle):
        return None
    if "eagle3" in method:
        return "eagle-run-as-eagle3" if drafter.generation == 1 else None
    if drafter.generation == 1:
        return None
    return "eagle3-run-as-eagle" if method.startswith(("eagle", "nextn")) else "method-unsuitable"


def run_as_head(at: Deployment[Drafter]) -> bool:
    """True if a language model of its own is run by a method that binds a head to its target."""
    plan = at.plan
    if not isinstance(at.drafter, DraftModel) or plan.parallel_drafting or self_drafting(at):
        return False
    return plan.understood and not unopened(at) and "eagle" in (plan.method or "").lower()


def _as_head(at: Deployment[Drafter]) -> Cause | None:
    return "method-unsuitable" if run_as_head(at) and not method_refused(at) else None


def renamed(at: Deployment[Drafter]) -> Literal["no", "prefixed", "replaced"]:
    """What the engine made of ``architectures[0]``: kept it, put its method in front, or put another name in place."""
    written, used = at.drafter.architecture, at.plan.architecture
    if written is None or used is None or written.value == used:
        return "no"
    return "prefixed" if used.endswith(written.value) else "replaced"


def foreign_class(at: Deployment[Drafter]) -> bool:
    """True if the class built is not one for this generation of EAGLE: nothing said of its tensors is worth reading."""
    drafter, plan = at.drafter, at.plan
    if not isinstance(drafter, Eagle) or plan.draft_class is None:
        return False
    if drafter.generation == 3:
        return not plan.takes_aux
    without_fc = drafter.fc is not None and plan.fc is not None and not plan.fc.built
    return plan.takes_aux or without_fc


def class_cause(at: Deployment[Drafter]) -> Cause | None:
    """The rule that tells why the class is a foreign one, None if it is not."""
    if unopened(at):
        return "draft-path-missing"
    if not foreign_class(at):
        return None
    method = method_at_odds(at)
    if method and renamed(at) != "no":
        return method
    if method and isinstance(at.drafter, Eagle) and at.drafter.generation == 1 and at.plan.takes_aux:
        return method
    return "architecture-rewritten" if renamed(at) == "replaced" else "class-without-auxiliary-states"


def states_withheld(at: Deployment[Drafter]) -> bool:
    """True if an EAGLE-3 drafter is not handed its states because of the method: fc, head and map follow from that."""
    return method_at_odds(at) in {"eagle3-run-as-eagle", "method-unsuitable"}


def fc_bypassed(at: Deployment[Eagle]) -> bool:
    """True if the drafter has a projection of several states and the engine does not run it."""
    drafter, plan = at.drafter, at.plan
    return drafter.generation == 3 and drafter.fc is not None and plan.fc is not None and not plan.fc.runs


def speaker(at: Deployment[Drafter], refusal: Refusal) -> str:
    """The name of the one rule that tells of a refusal."""
    kind = refusal.kind
    if kind is RefusalKind.ARCHITECTURE_UNREGISTERED and renamed(at) != "no":
        fallback = "architecture-rewritten" if renamed(at) == "replaced" else NATURAL[kind]
        return method_at_odds(at) or fallback
    if kind in _CONSEQUENCES and (cause := class_cause(at) or _as_head(at)):
        return cause
    if name := told_before(at, refusal):
        return name
    if kind is RefusalKind.METHOD_UNSUITABLE and (name := method_refused(at)):
        return name
    if kind is RefusalKind.TENSOR_UNEXPECTED and (name := told_by(at, refusal.tensors)):
        return name
    if kind in {RefusalKind.METHOD_UNSUITABLE, RefusalKind.STATE_WIDTH} and (cause := method_at_odds(at)):
        return cause
    if count_refused(at, refusal):
        return "aux-count"
    if kind is RefusalKind.TENSOR_REQUIRED and not isinstance(at.drafter, Eagle):
        whole = isinstance(at.drafter, DraftModel) and at.plan.trained_steps is None
        return "language-model-incomplete" if whole else "drafter-incomplete"
    if kind is RefusalKind.STATE_WIDTH and any(other.kind is RefusalKind.TENSOR_SHAPE for other in at.plan.refusals):
        return "shape-refused"  # an fc that would not load would not run either
    return NATURAL.get(kind, OTHERWISE)


def count_refused(at: Deployment[Drafter], refusal: Refusal) -> bool:
    """True if a refusal is about the number of states: another K for fc than the engine built, or was handed."""
    drafter, capture = at.drafter, at.plan.capture
    if not isinstance(drafter, Eagle) or drafter.generation != 3 or not drafter.states or not drafter.fc:
        return False
    if not widths_agree(at, drafter):
        return False
    built = states_built(at, drafter)
    if refusal.kind is RefusalKind.STATE_WIDTH:
        counted = capture is not None and capture.active
        return (
            counted and capture is not None and {len(capture.boundaries), built or drafter.states} != {drafter.states}
        )
    about_fc = refusal.kind is RefusalKind.TENSOR_SHAPE and refusal.tensors == (drafter.fc.name,)
    return about_fc and built is not None and built != drafter.states


def widths_agree(at: Deployment[Drafter], drafter: Eagle) -> bool:
    """True if a state is as wide for the drafter as for the target; else counting states means nothing."""
    return at.target.hidden_size is not None and drafter.state_width == at.target.hidden_size.value


def states_built(at: Deployment[Drafter], drafter: Eagle) -> int | None:
    """For how many states the engine builds fc, None if its width is no multiple of a state's."""
    takes, width = at.plan.fc.takes if at.plan.fc else None, drafter.state_width
    count, rest = divmod(takes, width) if takes and width else (0, 1)
    return count if rest == 0 else None


def refusals(at: Deployment[Drafter], name: str) -> tuple[Refusal, ...]:
    """The refusals the rule called ``name`` tells of."""
    return _by_speaker(at).get(name, ())


@lru_cache(maxsize=4)  # thirty rules ask, each for its own
def _by_speaker(at: Deployment[Drafter]) -> Mapping[str, tuple[Refusal, ...]]:
    groups: dict[str, tuple[Refusal, ...]] = {}
    for refusal in at.plan.refusals:
        name = speaker(at, refusal)
        groups[name] = (*groups.get(name, ()), refusal)
    return groups


def refused_together(at: Deployment[Drafter], name: str, fix: Fix | None = None) -> Iterator[Found]:
    """One finding for all the refusals the rule called ``name`` tells of: they have one cause."""
    group = refusals(at, name)
    if group:
        yield told(group, message="; ".join(dict.fromkeys(refusal.says for refusal in group)), fix=fix)


def refused(at: Deployment[Drafter], name: str, fix: Fix | None = None) -> Iterator[Found]:
    """A finding for each refusal the rule called ``name`` tells of."""
    for refusal in refusals(at, name):
        yield told((refusal,), message=refusal.says, fix=fix)


def told(group: Sequence[Refusal], *, message: str, fix: Fix | None = None) -> Found:
    """Several refusals of one cause as one finding."""
    measured = dict(group[0].measured) if len(group) == 1 else {"refusals": len(group)}
    return Found(
        message=message,
        locations=first_of(place for refusal in group for place in refusal.locations),
        measured=measured,
        evidence=once(item for refusal in group for item in refusal.evidence),
        fix=fix,
        outcome=Outcome.REFUSES,
        confidence=weakest(*(refusal.confidence for refusal in group)),
    )


def lost(at: Deployment[Eagle]) -> Iterator[TensorFate]:
    """The tensors that go nowhere although nobody meant them to, and that no other cause explains."""
    if class_cause(at):
        return
    drafter, plan = at.drafter, at.plan
    spoken = (
        {drafter.fc.name, f"{drafter.fc.name.rpartition('.')[0]}.bias"} if drafter.fc and fc_bypassed(at) else set()
    )
    spoken |= further_layers(drafter)
    written = {tensor.name: name for name, tensor in drafter.canonical.items()}
    if plan.head and plan.head.provider in {"target", "target-embedding"}:
        spoken.add(_named(drafter, "lm_head.weight"))
    if plan.embedding and plan.embedding.provider == "target":
        spoken.add(_named(drafter, "embed_tokens.weight"))
    for fate in plan.tensors:
        name = written.get(fate.name, fate.name)
        if fate.fate != "dropped" or fate.expected or fate.name in spoken:
            continue
        if name == "t2d" or (name == "d2t" and not reduced(at)):
            continue
        if not name.endswith(_COMPUTED):
            yield fate


def _named(drafter: Eagle, canonical: str) -> str:
    tensor = drafter.canonical.get(canonical)
    return tensor.name if tensor else ""


def reduced(at: Deployment[Eagle]) -> bool:
    """True if the drafter drafts fewer ids than the target has."""
    drafted, target = drafted_rows(at.drafter), at.target.vocab_size
    return drafted is not None and target is not None and drafted < target.value


def listed(names: Sequence[str]) -> str:
    """``a, b and 3 more``."""
    head = ", ".join(names[:_SHOWN])
    return head if len(names) <= _SHOWN else f"{head} and {len(names) - _SHOWN} more"


def once(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Evidence without repetitions, in order."""
    return tuple(dict.fromkeys(items))


def first_of(places: Iterable[Location]) -> tuple[Location, ...]:
    """Locations without repetitions, at most a handful."""
    return tuple(dict.fromkeys(places))[:_SHOWN]


def spelling_of_guess(path: str, method: str) -> str:
    """The part of a path a method was read from: the folder or name that holds the method's word."""
    word = method.lower().replace("_", "-")
    parts = [part for part in path.split("/") if word in part.lower()]
    return parts[-1] if parts else ""


def typed_and_rewritten(at: Deployment[Drafter]) -> Iterator[Rewrite]:
    """Values of the command that the engine changes, but for another word for the same method."""
    method = at.request.method
    for change in at.plan.rewrites:
        if change.at is None or change.at.role != "launch" or change.before == change.after:
            continue
        if method is None or change.at != method.at:
            yield change
