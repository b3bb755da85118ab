"""The notebook of one plan: what was decided, refused, rewritten and left unread, in the order it happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from drafter_lint.engines.plan import IgnoredField, Refusal, RefusalKind, Rewrite, Stage, Step
from drafter_lint.facts import World
from drafter_lint.findings import Confidence, JsonValue, Location


@dataclass(slots=True)
class Notes:
    """Grows while the engine's steps are followed; the plan is made from it at the end."""

    world: World
    steps: list[Step] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    ignored_fields: list[IgnoredField] = field(default_factory=list)
    ignored_flags: list[IgnoredField] = field(default_factory=list)

    def step(self, topic: str, says: str, *keys: str, at: Location | None = None) -> None:
        """A decision, resting on the facts called ``keys``."""
        self.steps.append(Step(topic=topic, says=says, evidence=self.world.evidence(*keys), at=at))

    def refuse(
        self,
        kind: RefusalKind,
        stage: Stage,
        says: str,
        *keys: str,
        at: tuple[Location, ...],
        measured: Mapping[str, JsonValue] | None = None,
        tensors: tuple[str, ...] = (),
        confidence: Confidence = Confidence.CERTAIN,
    ) -> None:
        """The engine stops, resting on the facts called ``keys``."""
        self.refusals.append(
            Refusal(
                kind=kind,
                stage=stage,
                says=says,
                locations=at,
                evidence=self.world.evidence(*keys),
                measured=measured or {},
                tensors=tensors,
                confidence=confidence,
            )
        )

    def rewrite(self, what: str, before: str, after: str, says: str, *keys: str, at: Location | None) -> None:
        """A value becomes another one."""
        evidence = self.world.evidence(*keys)
        self.rewrites.append(Rewrite(what=what, before=before, after=after, says=says, at=at, evidence=evidence))

    def unread(self, name: str, at: Location, says: str, *keys: str) -> None:
        """A field of the drafter's config that is not read, or is overruled."""
        entry = IgnoredField(field=name, at=at, says=says, evidence=self.world.evidence(*keys))
        self.ignored_fields.append(entry)

    def unread_flag(self, name: str, at: Location, says: str, *keys: str) -> None:
        """A flag nobody reads."""
        entry = IgnoredField(field=name, at=at, says=says, evidence=self.world.evidence(*keys))
        self.ignored_flags.append(entry)
