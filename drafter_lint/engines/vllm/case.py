"""One planning in progress: what is planned, and what was noted on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import IgnoredField, Refusal, RefusalKind, Rewrite, Stage, Step
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, Evidence, JsonValue, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.targets import Target


@dataclass(slots=True)
class Notes:
    """What was found so far, in the engine's order."""

    steps: list[Step] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    ignored_fields: list[IgnoredField] = field(default_factory=list)
    ignored_flags: list[IgnoredField] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A drafter, a target and a request in one world.

    Attributes:
        world: vLLM at one version.
        request: the command.
        drafter: the drafter's files.
        target: the model that verifies.
        notes: grows while the plan is made.
    """

    world: World
    request: LaunchRequest
    drafter: Checkpoint
    target: Target
    notes: Notes = field(default_factory=Notes)

    def evidence(self, *keys: str) -> tuple[Evidence, ...]:
        """Where the engine decides, by fact."""
        return self.world.evidence(*keys)

    def step(self, topic: str, says: str, *keys: str, at: Location | None = None) -> None:
        """Note one decision."""
        self.notes.steps.append(Step(topic=topic, says=says, evidence=self.evidence(*keys), at=at))

    def refuse(
        self,
        kind: RefusalKind,
        stage: Stage,
        says: str,
        *,
        at: Location | None = None,
        beside: tuple[Location, ...] = (),
        keys: tuple[str, ...] = (),
        measured: Mapping[str, JsonValue] | None = None,
        tensors: tuple[str, ...] = (),
        confidence: Confidence = Confidence.CERTAIN,
        remedy: tuple[str, JsonValue] | None = None,
    ) -> None:
        """Note that the engine stops here; ``beside`` are further places that belong to it."""
        self.notes.refusals.append(
            Refusal(
                kind=kind,
                stage=stage,
                says=says,
                locations=(at or self.request.at(), *beside),
                evidence=self.evidence(*keys),
                measured=measured or {},
                tensors=tensors,
                confidence=confidence,
                remedy=remedy,
            )
        )

    def rewrite(self, what: str, change: tuple[str, str], says: str, *keys: str, at: Location | None = None) -> None:
        """Note a value the engine changes, as (before, after)."""
        before, after = change
        self.notes.rewrites.append(
            Rewrite(what=what, before=before, after=after, says=says, at=at, evidence=self.evidence(*keys))
        )

    def ignore_field(self, name: str, at: Location, says: str, *keys: str) -> None:
        """Note a field of the drafter's config nobody reads."""
        self.notes.ignored_fields.append(IgnoredField(field=name, at=at, says=says, evidence=self.evidence(*keys)))

    def ignore_flag(self, name: str, at: Location, says: str, *keys: str) -> None:
        """Note a flag nobody reads."""
        self.notes.ignored_flags.append(IgnoredField(field=name, at=at, says=says, evidence=self.evidence(*keys)))
