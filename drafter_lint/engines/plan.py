"""What an engine will do with a pair, at one version, with one set of flags: the vocabulary of a plan.

A plan judges nothing. It says which method is resolved and why, what is refused and when, where every tensor of the
file goes, what every parameter holds afterwards, which states the target hands over, and what nobody reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from drafter_lint.facts import Knowledge
from drafter_lint.findings import Confidence, Evidence, JsonValue, Located, Location

Stage = Literal["arguments", "config", "load", "first-request"]

#: Topics of a step: the drafter is run past its rotary table, and the engine stops there, or reads on behind it.
OVERRUN = "context-stops"
OVERRUN_EAGER = "context-garbage"
#: Topic of a step: the target's class is none of the engine's own, and may or may not hand over states.
HOOK_UNKNOWN = "hook"


class RefusalKind(StrEnum):
    """Why an engine refuses; rules select by it."""

    FLAG_UNKNOWN = "flag-unknown"
    FLAG_VALUE = "flag-value"
    METHOD_UNKNOWN = "method-unknown"
    METHOD_REMOVED = "method-removed"
    METHOD_UNSUITABLE = "method-unsuitable"  # a known method this checkpoint cannot be run with
    TOKEN_COUNTS = "token-counts"  # noqa: S105 - drafted tokens, no secret
    DRAFT_PATH_MISSING = "draft-path-missing"
    CONFIG_UNREADABLE = "config-unreadable"  # no model_type, a layout the engine does not read
    CONFIG_FIELD = "config-field"  # a field the class needs is absent or of the wrong kind
    ARCHITECTURE_UNREGISTERED = "architecture-unregistered"
    TARGET_UNSUPPORTED = "target-unsupported"  # no hook, not on the allow-list
    LAYER_COUNT = "layer-count"
    CONTEXT = "context"
    TENSOR_PARALLEL = "tensor-parallel"
    WEIGHTS_MISSING = "weights-missing"  # no file that can be opened
    TENSOR_UNEXPECTED = "tensor-unexpected"
    TENSOR_SHAPE = "tensor-shape"
    TENSOR_REQUIRED = "tensor-required"
    STATE_WIDTH = "state-width"  # what is handed over does not fit what takes it
    VOCABULARY = "vocabulary"
    VOCABULARY_UNEQUAL = "vocabulary-unequal"  # a draft model's and the target's, where the engine wants one size
    QUANTIZATION = "quantization"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision of the engine, in order.

    Attributes:
        topic: "method", "runner", "architecture", "class", "capture", "head", "embedding", "map" …
        says: what was decided and from what, one sentence.
        evidence: where the engine decides it.
        at: the value it was decided from.
    """

    topic: str
    says: str
    evidence: tuple[Evidence, ...] = ()
    at: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The engine stops here.

    Attributes:
        kind: for rules to select by.
        stage: when the user learns of it.
        says: what is refused, with the numbers; our words, not the engine's.
        locations: the first is the primary one.
        measured: the numbers.
        tensors: names concerned, if any.
        remedy: the speculative key, and its value, with which this engine would go on.
    """

    kind: RefusalKind
    stage: Stage
    says: str
    locations: tuple[Location, ...]
    evidence: tuple[Evidence, ...] = ()
    measured: Mapping[str, JsonValue] = field(default_factory=dict)
    tensors: tuple[str, ...] = ()
    confidence: Confidence = Confidence.CERTAIN
    remedy: tuple[str, JsonValue] | None = None


Fate = Literal["taken", "cut", "dropped", "refused", "consumed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFate:
    """Where one tensor of the drafter's files goes.

    Attributes:
        name: as in the file.
        fate: ``taken`` whole, ``cut`` (loaded in part, the rest thrown away), ``dropped`` (goes nowhere), ``refused``
            (the engine stops), ``consumed`` (used outside the parameters: d2t as a map).
        parameter: the parameter that takes it, "" if none.
        says: how ("no parameter of that name; nothing is logged").
        cut_along: of a tensor that is cut, which of its dimensions is ("rows", "columns").
        expected: true if the engine is meant to drop it (t2d).
    """

    name: str
    fate: Fate
    parameter: str = ""
    says: str = ""
    cut_along: Literal["rows", "columns"] | None = None
    expected: bool = False
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterState:
    """A parameter of the draft model after loading.

    Attributes:
        name: as the engine names it.
        shape: at tensor-parallel size 1.
        state: ``filled``, ``partly``, ``unfilled``, or ``shared`` (bound to the target's).
        holds: what is in it if not filled ("uninitialised memory", "ones", "zeros").
        matters: False if nothing reads it in this plan.
    """

    name: str
    shape: tuple[int, ...]
    state: Literal["filled", "partly", "unfilled", "shared"]
    holds: str = ""
    matters: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """The auxiliary states the target hands over.

    Attributes:
        active: False if the target hands over its last state only.
        boundaries: those captured, ascending; what is asked for and cannot be captured is not among them.
        asked: the boundaries asked for, before any is lost.
        read: the list that was read, None for the engine's default.
        reading: how an id became a boundary ("id + 1", "as written", "default").
        ignored: lists in the config that nobody reads.
        width: elements handed over per token: Ht times the number of states.
        norm: of the last state, whether it is the one before the target's final norm or after it; None where that is
            not modelled.
    """

    active: bool
    boundaries: tuple[int, ...] = ()
    asked: tuple[int, ...] = ()
    read: Located[tuple[int, ...]] | None = None
    reading: str = ""
    ignored: tuple[Located[tuple[int, ...]], ...] = ()
    width: int | None = None
    norm: Literal["before", "after"] | None = None
    evidence: tuple[Evidence, ...] = ()
    confidence: Confidence = Confidence.CERTAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class FcUse:
    """What happens to ``fc``.

    Attributes:
        built: True if the class has it.
        runs: True if it is applied to what is handed over.
        takes: its input width as built, elements.
        fed: the width handed over, elements.
        says: why it runs or not.
    """

    built: bool
    runs: bool
    takes: int | None = None
    fed: int | None = None
    says: str = ""
    evidence: tuple[Evidence, ...] = ()


Provider = Literal["own", "target", "target-embedding", "uninitialised", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provision:
    """Where the head or the embedding the drafter runs with comes from."""

    provider: Provider
    says: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapUse:
    """How draft ids become target ids.

    ``offsets`` (i + d2t[i]), ``identity``, ``zeros`` (an unfilled map), or ``tokens`` (the id of the same text).
    """

    use: Literal["offsets", "identity", "zeros", "tokens", "none"]
    says: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A switch of the draft model as the engine sets it (``norm_before_residual``, ``fc_norm``, ``norm_output`` …).

    Attributes:
        on: its position.
        settable: False if nothing in a config moves it.
    """

    on: bool
    settable: bool = True
    says: str = ""
    at: Location | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredField:
    """A field of the drafter's config that this engine does not read, or reads and overrules."""

    field: str
    at: Location
    says: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A value the engine changes ("num_draft_tokens 8 -> 4")."""

    what: str
    before: str
    after: str
    says: str
    at: Location | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What will happen, in order. Everything after a refusal is what *would* happen if that one were mended.

    Attributes:
        engine: name.
        version: as asked for.
        knowledge: how well that version is known.
        basis: the read release this plan speaks for.
        understood: False if this engine's handling of this method is not modelled; then only ``steps`` is filled.
        speculates: False if the server runs without speculation.
        method: as resolved by the engine ("EAGLE3", "eagle"), None if none.
        method_origin: "flag", "name" (guessed from the path), "default" or "checkpoint".
        runner: vLLM's model runner ("v1", "v2"), "" elsewhere.
        architecture: of the drafter, after every rewrite.
        draft_class: the engine's class for it, None if refused before.
        takes_aux: True if that class is made for auxiliary states (an EAGLE-3 class).
        parallel_drafting: True if all tokens are drafted in one pass; None where that is not modelled.
        trained_steps: how many tokens of a step are drafted by a part of the drafter made for them; further ones run
            a part again. None where that is no question.
        schemes: the switches of the draft model by name.
    """

    engine: str
    version: str
    knowledge: Knowledge
    basis: str
    understood: bool = True
    speculates: bool = True
    method: str | None = None
    method_origin: Literal["flag", "name", "default", "checkpoint"] = "flag"
    runner: str = ""
    architecture: str | None = None
    draft_class: str | None = None
    takes_aux: bool = False
    parallel_drafting: bool | None = None
    trained_steps: int | None = None
    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    capture: Capture | None = None
    fc: FcUse | None = None
    head: Provision | None = None
    embedding: Provision | None = None
    map: MapUse | None = None
    tensors: tuple[TensorFate, ...] = ()
    parameters: tuple[ParameterState, ...] = ()
    schemes: Mapping[str, Scheme] = field(default_factory=dict)
    ignored_fields: tuple[IgnoredField, ...] = ()
    ignored_flags: tuple[IgnoredField, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def confidence(self) -> Confidence:
        """What a finding resting on this plan may claim at most."""
        return Confidence.CERTAIN if self.knowledge == "observed" else Confidence.LIKELY

    def evidence_of(self, topic: str) -> tuple[Evidence, ...]:
        """The evidence of every step on a topic."""
        return tuple(item for step in self.steps if step.topic == topic for item in step.evidence)
