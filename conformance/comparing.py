"""One record beside the plan and beside the truth: aspect by aspect, what was seen now and what was expected."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from conformance.record import accepts_all, silent_by
from conformance.truth import FACTS, TRUTH, Engine, Run, SaysNothing, TruthCase, judge

Against: TypeAlias = Literal["plan", "truth"]
PLAN_ASPECTS: tuple[str, ...] = ("outcome", *FACTS)
#: Aspect, and the field of a run it is read from.
_FIELDS: Mapping[str, str] = {
    "outcome": "outcome",
    "stage": "stage",
    "silent by": "silent_by",
    "method": "method",
    "draft class": "draft_class",
    "boundaries": "aux_layers",
    "dropped": "dropped",
    "unfilled": "unfilled",
    "partial": "partial",
    "embedding shared": "shares_embed",
    "head shared": "shares_lm_head",
    "accepts all": "accept_length",
    "refused with": "error_type",
    "refused in": "error_at",
}
TRUTH_ASPECTS = tuple(_FIELDS)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One aspect of one case.

    Attributes:
        case: its id.
        aspect: what was compared.
        expected: what plan or truth say.
        seen: what the engine did.
        agrees: whether that is the same, by the judge of the truth where it is about the outcome.
    """

    case: str
    aspect: str
    expected: object
    seen: object
    agrees: bool


def with_truth(case: TruthCase, run: Run, version: str) -> Iterator[Comparison]:
    """A run beside what is recorded of a version; nothing if the case was not recorded there.

    What the record says nothing of, and fields it leaves out, are no aspects.
    """
    then = recorded_at(case, run.engine, version)
    if then is None:
        return
    for aspect, name in _FIELDS.items():
        was, now = _value(then, name), _value(run, name)
        if was is not None and case.tells(then, version, name):
            yield Comparison(case.id, aspect, was, now, was == now)


def recorded_at(case: TruthCase, engine: Engine, version: str) -> Run | None:
    """What is recorded of a case at a version."""
    found = (run for run in case.runs if run.engine == engine and version in run.versions)
    return next(found, None)


def _value(run: Run, name: str) -> object:
    if name == "accept_length":
        return accepts_all(run)
    if name == "silent_by":
        return silent_by(run)
    value: object = getattr(run, name)
    return sorted(value, key=str) if isinstance(value, list) else value


def with_plan(case: TruthCase, run: Run) -> Iterator[Comparison]:
    """A run beside the plan, from the files alone; where the report says that the files do not tell, nothing."""
    alone = replace(case, runs=(run,), says_nothing=tuple(notes_for(case, run)))
    for row in judge(alone, told=False):
        if not row.undecided:
            yield Comparison(case.id, "outcome", row.predicted, row.recorded, row.agrees)
        for fact, (seen, said) in row.facts.items():
            yield Comparison(case.id, fact, said, seen, seen == said)


def notes_for(case: TruthCase, run: Run) -> Iterator[SaysNothing]:
    """The remarks on a case, each with the version of the run added if what it is about was seen in it again."""
    (version,) = run.versions
    for note in case.says_nothing:
        before = [
            other
            for other in case.runs
            if other.engine == run.engine and not set(other.versions).isdisjoint(note.versions)
        ]
        again = any(all(_value(other, name) == _value(run, name) for name in note.about) for other in before)
        if note.engine == run.engine and again and version not in note.versions:
            yield note.model_copy(update={"versions": [*note.versions, version]})
        else:
            yield note


def listed(engine: Engine) -> frozenset[str]:
    """Cases in which plan and truth are known to part at some version of an engine, each with its reason."""
    table = tomllib.loads((TRUTH / "disagreements.toml").read_text("utf-8"))
    return frozenset(str(entry["case"]) for entry in table["disagreement"] if entry["engine"] == engine)
