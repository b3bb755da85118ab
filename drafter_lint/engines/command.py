"""What a command is to do, in no engine's words, and what may mend one that does not work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Drafter
from drafter_lint.engines.plan import Plan, Refusal, RefusalKind
from drafter_lint.errors import Unavailable
from drafter_lint.facts import World
from drafter_lint.findings import Evidence, JsonValue, Location
from drafter_lint.launch.composed import Part, spelling
from drafter_lint.targets import Target

TRUST = "--trust-remote-code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a command is to start.

    Attributes:
        drafter: what it is.
        drafter_name: what the engine is to be given for it: a repository, or a path.
        target: the model that verifies.
        target_name: the same for it.
        drafter_revision: branch, tag or commit, None for the default branch.
        target_revision: the same for the target.
        tensor_parallel: devices the target is spread over, None to leave it to the engine.
        context_length: tokens to serve at, None to leave it to the engine.
    """

    drafter: Drafter
    drafter_name: str
    target: Target
    target_name: str
    drafter_revision: str | None = None
    target_revision: str | None = None
    tensor_parallel: int | None = None
    context_length: int | None = None

    @property
    def inside(self) -> bool:
        """True if the drafter rides inside the target."""
        return self.drafter_name == self.target_name

    @property
    def architecture_at(self) -> Location | None:
        """Where the drafter says what it is."""
        found = self.drafter.architecture or self.drafter.model_type
        return found.at if found else None


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to try where a command does not work: parts to add, or to put in the place of others.

    Attributes:
        parts: what to try.
        quoting: True if the reason is what goes away with it, and not told by the parts themselves.
        unfollowed: True if the engine may then do what is not followed here, which is better than a refusal.
        precaution: True if it is to be said wherever it takes a finding away, however mild.
    """

    parts: tuple[Part, ...]
    quoting: bool = False
    unfollowed: bool = False
    precaution: bool = False


def flag(
    world: World,
    name: str,
    value: JsonValue,
    why: str,
    *,
    evidence: Sequence[Evidence] = (),
    at: Location | None = None,
) -> Part:
    """A flag in the spelling of a release."""
    words = (spelling(world.engine, name, world.basis), *(() if value is None else (str(value),)))
    return Part(kind="flag", name=name, value=value, words=words, why=why, evidence=tuple(evidence), at=at)


def revisions(world: World, wanted: Wanted, *, of_target: str, of_drafter: str) -> Iterator[Part]:
    """The revisions that were asked for, where the release has a flag for them."""
    for name, revision in ((of_target, wanted.target_revision), (of_drafter, wanted.drafter_revision)):
        if name and revision:
            yield flag(world, name, revision, "the revision that was asked for")


def asked(world: World, wanted: Wanted, *, ranks: str, context: str) -> Iterator[Part]:
    """The devices and the length that were asked for."""
    if wanted.tensor_parallel:
        yield replace(flag(world, ranks, wanted.tensor_parallel, "asked for"), origin="given")
    if wanted.context_length:
        yield replace(flag(world, context, wanted.context_length, "asked for"), origin="given")


def trusted(world: World, target: Target, *, known: bool, evidence: Sequence[Evidence]) -> Iterator[Part]:
    """``--trust-remote-code`` where nothing but the target's own code reads its config or its tokenizer.

    ``known`` is True if the release, or its transformers, has a class for the target's model_type.
    """
    found = _own_code(target.checkpoint, known=known)
    if found is not None:
        what, at = found
        yield flag(
            world,
            TRUST,
            None,
            f"the target's {what} is read by code it ships, which will run",
            evidence=evidence,
            at=at,
        )


def _own_code(checkpoint: Checkpoint, *, known: bool) -> tuple[str, Location] | None:
    try:
        if not known and checkpoint.config.has("auto_map"):
            return "config", checkpoint.config.at("auto_map")
        # A tokenizer.json is read without the class that tokenizer_config.json names.
        if "tokenizer.json" in checkpoint.source.files:
            return None
        settings = checkpoint.other_json("tokenizer_config.json")
    except Unavailable:
        return None
    mapped = settings.root.get("auto_map") if settings else None
    if settings and isinstance(mapped, dict) and "AutoTokenizer" in mapped:
        return "tokenizer", settings.at("/auto_map")
    return None


def refused(plans: Iterable[Plan], *kinds: RefusalKind) -> Iterator[Refusal]:
    """The refusals of some kinds, each once."""
    seen: set[str] = set()
    for plan in plans:
        for item in plan.refusals:
            if item.kind in kinds and item.says not in seen:
                seen.add(item.says)
                yield item
