"""The pipe: open, recognise, plan, rules, report. One function per stage, nothing decided here that a stage decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.ahead import read_ahead
from drafter_lint.drafters import Drafter, Recognition, Trained
from drafter_lint.drafters.recognise import recognise
from drafter_lint.engines import Plan, engine
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.facts import World, profile, version_of, worlds
from drafter_lint.findings import Confidence, Evidence, Finding, Found, Outcome, Skip, weakest
from drafter_lint.launch import LaunchRequest
from drafter_lint.lineage import Lineage
from drafter_lint.report import Check, EngineSubject, Subject
from drafter_lint.rule import SCOPES, NotChecked, Rule, ScopeName
from drafter_lint.rules import all_rules
from drafter_lint.scope import Alone, Deployment, Locked, Pair, Reading, Stated, Suppressing
from drafter_lint.standin import stand_in
from drafter_lint.targets import Target, read_target

R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which rules run and what is shown.

    Attributes:
        select: codes, prefixes ("DFL4") or names; empty for all.
        ignore: the same, taken away.
        min_confidence: findings below it are left out.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: Confidence = Confidence.LIKELY

    def wants(self, rule: Rule[object]) -> bool:
        """True if the rule is selected."""

        def named(names: Iterable[str]) -> bool:
            return any(rule.code.startswith(name.upper()) or rule.name == name for name in names)

        return (not self.select or named(self.select)) and not named(self.ignore)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """An engine to check against: its name, the version asked for (None: newest known), and the flags, if any."""

    name: str
    version: str | None = None
    request: LaunchRequest | None = None
    asked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Both checkpoints of a pair, understood as far as they could be read.

    Attributes:
        lineage: the rows of both, None if nothing is known of the target.
        troubles: what could not be read of either, each once.
    """

    drafter: Subject
    drafter_files: Checkpoint
    target: Subject | None
    recognition: Recognition
    target_read: Target | None
    lineage: Lineage | None
    troubles: tuple[Reading, ...]


def attempt(read: Callable[[], R]) -> tuple[R | None, Unavailable | None]:
    """A value, or why it is unavailable."""
    try:
        return read(), None
    except Unavailable as trouble:
        return None, trouble


def understand(
    drafter: Checkpoint,
    target: Checkpoint | None,
    *,
    target_origin: str = "given",
    trained_on: Trained | None = None,
    fingerprint: bool = True,
) -> Opened:
    """Read and recognise both sides. What cannot be read is kept as a trouble; the rest is still understood."""
    reads: list[tuple[Checkpoint, Callable[[], object]]] = [
        (drafter, lambda: drafter.config),
        (drafter, lambda: drafter.tensors),
        (drafter, lambda: drafter.vocab_map),
    ]
    ahead(drafter, target)
    read = None
    if target:
        read, untold = attempt(lambda: read_target(target))
        read = stand_in(target, untold) if untold else read
        reads.append((target, lambda: target.config))
    troubles: dict[str, Reading] = {}
    for checkpoint, fact in reads:
        _, trouble = attempt(fact)
        if trouble:
            troubles.setdefault(f"{checkpoint.role} {trouble}", Reading(checkpoint=checkpoint, trouble=trouble))
    recognition = recognise(drafter)
    if trained_on is not None:
        recognition = replace(recognition, drafter=replace(recognition.drafter, trained=trained_on))
    return Opened(
        drafter=subject_of(drafter, recognition.drafter.title),
        drafter_files=drafter,
        target=subject_of(target, read.title if read else "", target_origin) if target else None,
        recognition=recognition,
        target_read=read,
        lineage=Lineage(recognition.drafter, read, compare=fingerprint) if read else None,
        troubles=tuple(troubles.values()),
    )


def ahead(drafter: Checkpoint, target: Checkpoint | None = None) -> None:
    """Read at once what recognising both sides will ask for, where every read waits for a Hub."""
    facts: list[Callable[[], object]] = []
    if drafter.distant:
        facts += [lambda: drafter.config, lambda: drafter.vocab_map, lambda: drafter.card]
    if target and target.distant:
        facts.append(lambda: read_target(target))
    if len(facts) > 1:
        read_ahead(*facts)


def subject_of(checkpoint: Checkpoint, title: str, origin: str = "given") -> Subject:
    """How the report names a checkpoint; never fails, even if nothing of it can be read."""
    identity, _ = attempt(lambda: checkpoint.source.identity)
    return Subject(
        role=checkpoint.role,
        spelling=checkpoint.reference.spelling,
        name=identity.name if identity else checkpoint.reference.name,
        commit=identity.commit if identity else None,
        title=title,
        origin=origin,
        path=checkpoint.reference.spelling if checkpoint.reference.kind == "local" else "",
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """What some rules said of one scope.

    Attributes:
        ran: the codes of the rules that ran to their end.
        differ: True if two candidate worlds said different things.
    """

    results: tuple[Finding | Skip, ...] = ()
    ran: tuple[str, ...] = ()
    plan: Plan | None = None
    differ: bool = False

    def __add__(self, other: Judged) -> Judged:
        plan = self.plan or other.plan
        return Judged(self.results + other.results, self.ran + other.ran, plan, self.differ or other.differ)

    def without(self, codes: Collection[str]) -> Judged:
        """The same, without what some rules said."""
        results = tuple(item for item in self.results if item.code not in codes)
        return replace(self, results=results, ran=tuple(code for code in self.ran if code not in codes))


def check_pair(opened: Opened, choice: EngineChoice, *, selection: Selection) -> Check:
    """Check an opened pair against one engine choice."""
    (check,) = check_pairs(opened, (choice,), selection=selection)
    return check


def check_pairs(opened: Opened, choices: Iterable[EngineChoice], *, selection: Selection) -> tuple[Check, ...]:
    """Check an opened pair against several engine choices; what no engine has a say in is judged once."""
    judge_choice = checker(opened, selection=selection)
    return tuple(judge_choice(choice) for choice in choices)


def checker(opened: Opened, *, selection: Selection) -> Callable[[EngineChoice], Check]:
    """What checks an opened pair against one engine choice after another."""
    files = _files(opened, selection)
    return lambda choice: _in_engine(opened, choice, files, selection=selection)


def _in_engine(opened: Opened, choice: EngineChoice, files: Judged, *, selection: Selection) -> Check:
    known = profile(choice.name)
    version = version_of(choice.version) if choice.version else known.newest
    candidates = worlds(known, version)
    plans_of = Plans(opened)
    request = choice.request or _needed(opened, candidates[-1], plans_of)
    sides = [_side(opened, world, request, plans_of, selection=selection) for world in candidates]
    knowledge = candidates[0].knowledge
    side = sides[0]
    if len(sides) > 1:
        side = _agreed(sides, candidates)
        knowledge = "ambiguous" if side.differ else "bracketed"
    # A rule that judged by the plan has had the better view; where two releases part, its word on the files stands.
    unsaid = {item.code for item in side.results if isinstance(item, Skip)}
    judged = files.without(set(side.ran) - unsaid) + side
    subject = EngineSubject(
        name=choice.name,
        version=str(version),
        knowledge=knowledge,
        newest=str(known.newest),
        basis=tuple(world.basis for world in candidates),
        asked=choice.asked,
    )
    plans = tuple(side.plan for side in sides if side.plan)
    return replace(_result(opened, judged, selection), engine=subject, request=request, plans=plans)


def check_alone(opened: Opened, *, selection: Selection) -> Check:
    """Check a drafter's own files; without a target in ``opened`` there is nothing else to look at."""
    return _result(opened, _files(opened, selection), selection)


def _result(opened: Opened, judged: Judged, selection: Selection) -> Check:
    found = [item for item in judged.results if isinstance(item, Finding)]
    shown, hidden = (
        tuple(sorted(_once(group), key=by_outcome))
        for group in (
            [item for item in found if item.confidence.rank >= selection.min_confidence.rank],
            [item for item in found if item.confidence.rank < selection.min_confidence.rank],
        )
    )
    return Check(
        drafter=opened.drafter,
        target=opened.target,
        engine=None,
        request=None,
        recognition=opened.recognition,
        target_read=opened.target_read,
        plans=(),
        findings=shown,
        hidden=hidden,
        not_checked=tuple(dict.fromkeys(item for item in judged.results if isinstance(item, Skip))),
        checked=len(judged.ran),
        ran=tuple(sorted(set(judged.ran))),
    )


class Plans:
    """The plans of a pair in one engine: the one made to learn the needed flags is not made again to judge by."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._made: dict[str, tuple[LaunchRequest, tuple[Plan | None, Unavailable | None]]] = {}

    def made(self, world: World, request: LaunchRequest, target: Target) -> tuple[Plan | None, Unavailable | None]:
        """What the engine will do in a world with a request, or why that cannot be told."""
        asked, plan = self._made.get(world.basis, (None, (None, None)))
        if asked is not request:
            files = self._opened.drafter_files
            plan = attempt(lambda: engine(world.engine).plan(world, request, files, target))
            self._made[world.basis] = (request, plan)
        return plan


def _needed(opened: Opened, world: World, plans: Plans) -> LaunchRequest | None:
    """The flags this engine needs; None for a drafter whose method cannot be told: a guess would be judged as typed."""
    drafter = opened.recognition.drafter
    if not opened.target or not drafter.method:
        return None
    names = (drafter.method, opened.drafter.name, opened.target.name)
    request = engine(world.engine).needed(world, *names)
    context = _context_refused(opened, world, request, plans)
    return engine(world.engine).needed(world, *names, context_length=context) if context else request


def _context_refused(opened: Opened, world: World, request: LaunchRequest, plans: Plans) -> int | None:
    """The drafter's own context in tokens, where this engine refuses to run it at the target's."""
    target = opened.target_read
    if target is None:
        return None
    plan, _ = plans.made(world, request, target)
    refused = (
        [item.measured.get("drafter") for item in plan.refusals if item.kind is RefusalKind.CONTEXT] if plan else []
    )
    return next((tokens for tokens in refused if isinstance(tokens, int) and tokens > 0), None)


def _files(opened: Opened, selection: Selection) -> Judged:
    """Everything that no engine has a say in: access, the drafter alone, the pair."""
    judged = Judged()
    for reading in opened.troubles:
        judged += judge(reading, selection)
    drafter, recognition = opened.recognition.drafter, opened.recognition
    alone = judge(Alone(drafter=drafter, recognition=recognition), selection)
    pair = Judged()
    if opened.target_read and opened.lineage:
        pair = judge(Pair(drafter=drafter, target=opened.target_read, lineage=opened.lineage), selection)
    return judged + alone.without(pair.ran) + pair


def _side(opened: Opened, world: World, request: LaunchRequest | None, plans: Plans, *, selection: Selection) -> Judged:
    """Plan in one world and run the deployment rules on the plan."""
    target = opened.target_read
    if opened.target is None:
        return Judged((_no_plan(world, "no target was named, and none is known from the drafter"),))
    if request is None:
        return Judged((_no_plan(world, "the drafter's method is not known"),))
    if target is None:  # told among the troubles
        return Judged()
    plan, trouble = plans.made(world, request, target)
    if plan is None:
        # The trouble itself is among the opened pair's; here it only explains why there is no plan.
        return Judged((_no_plan(world, str(trouble)),))
    scope = Deployment(drafter=opened.recognition.drafter, target=target, request=request, plan=plan)
    return Judged(plan=plan) + judge(scope, selection)


def _no_plan(world: World, why: str) -> Skip:
    return Skip("DFL000", "plan", f"no plan for {world.engine} {world.version}: {why}", needed=True)


def tell(check: Check, scope: Stated | Suppressing | Locked, *, selection: Selection) -> Check:
    """The check with what there is to say of where its command, its suppression or its lock is written."""
    judged = judge(scope, selection)
    found = [item for item in judged.results if isinstance(item, Finding)]
    return replace(
        check,
        findings=tuple(sorted(_once((*check.findings, *found)), key=by_outcome)),
        not_checked=(*check.not_checked, *(item for item in judged.results if isinstance(item, Skip))),
        checked=check.checked + len(judged.ran),
        ran=tuple(sorted({*check.ran, *judged.ran})),
    )


Scope = Reading | Alone[Drafter] | Pair[Drafter] | Deployment[Drafter] | Stated | Suppressing | Locked


def judge(scope: Scope, selection: Selection) -> Judged:
    """Run every selected rule whose scope and drafter type this is."""
    results: list[Finding | Skip] = []
    ran: list[str] = []
    drafter = scope.drafter if isinstance(scope, (Alone, Pair, Deployment)) else None
    for rule in _rules(SCOPES[type(scope)], selection, all_rules()):
        if drafter and not isinstance(drafter, rule.drafters):
            continue
        outcome = list(_run(rule, scope))
        results += outcome
        if not any(isinstance(item, Skip) for item in outcome):
            ran.append(rule.code)
    return Judged(tuple(results), tuple(ran))


@lru_cache(maxsize=128)
def _rules(scope: ScopeName, selection: Selection, rules: tuple[Rule[object], ...]) -> tuple[Rule[object], ...]:
    """The selected rules of a scope, found once for all pairs."""
    return tuple(rule for rule in rules if scope in rule.scopes and selection.wants(rule))


def _run(rule: Rule[object], scope: object) -> Iterator[Finding | Skip]:
    limit = scope.plan.confidence if isinstance(scope, Deployment) else Confidence.CERTAIN
    standin = scope.target.standin if isinstance(scope, (Pair, Deployment)) else ""
    if standin:
        limit = weakest(limit, Confidence.LIKELY)
    try:
        for item in rule.check(scope):
            if isinstance(item, NotChecked):
                yield rule.skip(item.reason, needed=item.needed)
            else:
                yield named(rule, _rested(item, standin), limit)
    except Unavailable as trouble:
        yield rule.skip(str(trouble), needed=trouble.trouble is not Trouble.MISSING)


def _rested(found: Found, standin: str) -> Found:
    """What was found, with the word it rests on where the target itself could not be read."""
    if not standin:
        return found
    note = f"the target could not be read: its facts are those of {standin}"
    word = Evidence(engine="", version="", file="schemas/catalogue.json", symbol="", how="inferred", note=note)
    return replace(found, evidence=(word, *found.evidence))


def named(rule: Rule[object], found: Found, limit: Confidence) -> Finding:
    """Put the rule's name on what it found; nothing may claim more than the plan it rests on."""
    return Finding(
        code=rule.code,
        name=rule.name,
        outcome=found.outcome or rule.outcome,
        confidence=weakest(found.confidence, limit),
        message=found.message,
        locations=found.locations,
        measured=found.measured,
        evidence=found.evidence,
        fix=found.fix,
    )


def _agreed(sides: Sequence[Judged], candidates: tuple[World, ...]) -> Judged:
    """What both candidate worlds say; what only one says becomes "not checked", naming both releases."""
    said = [{(item.code, item.outcome) for item in side.results if isinstance(item, Finding)} for side in sides]
    both = said[0] & said[1]
    results: list[Finding | Skip] = [item for side in sides for item in side.results if isinstance(item, Skip)]
    for side, world in zip(sides, candidates, strict=True):
        for item in side.results:
            if not isinstance(item, Finding):
                continue
            if (item.code, item.outcome) not in both:
                words = [_word(other, item) for other in sides]
                reason = (
                    f"{world.engine} {world.version} was not read; "
                    f"{candidates[0].basis} read as: {words[0]}; {candidates[1].basis} as: {words[1]}"
                )
                results.append(Skip(item.code, item.name, reason, needed=item.outcome.rank >= Outcome.SILENT.rank))
            elif world is candidates[-1]:
                results.append(item)
    ran = min((side.ran for side in sides), key=len)
    return Judged(tuple(results), ran, differ=said[0] != said[1])


def _word(side: Judged, item: Finding) -> str:
    """What one side has to say where some side found ``item``: the same finding, another of its rule, or nothing."""
    if item in side.results:
        return item.message
    others = [found for found in side.results if isinstance(found, Finding) and found.code == item.code]
    return "; ".join(f"{found.message} ({found.outcome.value})" for found in others) or "nothing to report"


def _once(findings: Iterable[Finding]) -> list[Finding]:
    seen: dict[tuple[str, str], Finding] = {}
    for item in findings:
        seen.setdefault((item.code, item.message), item)
    return list(seen.values())


def by_outcome(item: Finding) -> tuple[int, str, str]:
    """The order in which findings are told: the worst first."""
    return -item.outcome.rank, item.code, item.message
