"""The report of a session: what was run, and how far it agrees with the plan and with the truth, aspect by aspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.comparing import PLAN_ASPECTS, TRUTH_ASPECTS, Comparison, listed, with_plan, with_truth
from conformance.record import Record
from conformance.truth import Engine, Run, TruthCase
from drafter_lint.facts import profile, version_of

#: Exit codes, as the tool's own: something is wrong, or not everything could be looked at.
AGREES, DISAGREES, INCOMPLETE = 0, 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that can be said of the records of one engine.

    Attributes:
        engine: the engine.
        version: the release that ran, "" if none did.
        records: one a case.
        without: how many cases have no command for this engine.
        plan: every aspect beside the plan.
        truth: every aspect beside what is recorded of this version.
        changed: if nothing is recorded of this version, every aspect beside the release nearest to it of which the case
            is recorded.
        known: cases with a listed disagreement.
    """

    engine: Engine
    version: str
    records: Sequence[Record]
    without: int
    plan: Sequence[Comparison]
    truth: Sequence[Comparison]
    changed: Sequence[Comparison]
    known: frozenset[str]

    @property
    def exit_code(self) -> int:
        """1 if an aspect differs for no listed reason, else 3 if a case was not run, else 0."""
        new = [item for item in (*self.plan, *self.truth) if not item.agrees and item.case not in self.known]
        if new:
            return DISAGREES
        return INCOMPLETE if not self.records or any(record.run is None for record in self.records) else AGREES

    def text(self) -> str:
        """The report as it is printed."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        left_out = [record for record in self.records if record.run is None]
        yield (
            f"{self.engine} {self.version}: {len(self.records) - len(left_out)} cases run, {len(left_out)} not run, "
            f"{self.without} without a command for this engine"
        )
        yield from _section("against the plan, from the files alone", self.plan, PLAN_ASPECTS, self.known)
        if self.truth:
            title = f"against what is recorded of {self.engine} {self.version}"
            yield from _section(title, self.truth, TRUTH_ASPECTS, self.known)
        else:
            yield f"\nnothing is recorded of {self.engine} {self.version}"
            title = "against the nearest release of which a case is recorded; a difference is no error"
            yield from _section(title, self.changed, TRUTH_ASPECTS, frozenset())
        if left_out:
            yield "\nnot run"
            yield from (f"  {record.case:<42} {record.not_run}" for record in left_out)


def report(cases: Sequence[TruthCase], records: Sequence[Record], *, engine: Engine) -> Report:
    """Compare records.

    Args:
        cases: the cases that were asked for.
        records: what became of those with a command for the engine.
        engine: the engine.
    """
    by_id = {case.id: case for case in cases}
    version = next((record.version for record in records if record.version), "")
    seen = [(by_id[record.case], record.run) for record in records if record.run is not None]
    truth = [item for case, run in seen for item in with_truth(case, run, version)]
    return Report(
        engine=engine,
        version=version,
        records=records,
        without=len(cases) - len(records),
        plan=[item for case, run in seen for item in with_plan(case, run)],
        truth=truth,
        changed=[] if truth else [item for case, run in seen for item in _with_nearest(case, run, version)],
        known=listed(engine),
    )


def _with_nearest(case: TruthCase, run: Run, version: str) -> Iterator[Comparison]:
    recorded = [each for other in case.runs if other.engine == run.engine for each in other.versions]
    releases = sorted({*map(str, profile(run.engine).read), *recorded, version}, key=version_of)
    here = releases.index(version)
    nearest = min(recorded, key=lambda each: abs(releases.index(each) - here), default=None)
    return with_truth(case, run, nearest) if nearest else iter(())


def _section(
    title: str, comparisons: Sequence[Comparison], aspects: Sequence[str], known: frozenset[str]
) -> Iterator[str]:
    yield f"\n{title}"
    total = Counter(item.aspect for item in comparisons)
    right = Counter(item.aspect for item in comparisons if item.agrees)
    for aspect in aspects:
        if total[aspect]:
            yield f"  {aspect:<17} {right[aspect]} of {total[aspect]} agree, {right[aspect] / total[aspect]:.1%}"
    for item in comparisons:
        if not item.agrees:
            mark = "listed " if item.case in known else "DIFFERS"
            yield f"  {mark} {item.case:<36} {item.aspect:<16} expected {_said(item.expected)}, seen {_said(item.seen)}"


def _said(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]" if value else "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None else str(value)
