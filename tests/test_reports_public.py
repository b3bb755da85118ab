"""Public reports of drafters that would not load, draft or pay: on the report's release, the report's verdict.

Each file of ``fixtures/reports`` but the list retells one. ``list.toml`` names every report that was collected: the
case that retells it, here or in another folder of cases, or why none can.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

import test_cases as cases
from drafter_lint import linter
from drafter_lint.findings import Confidence, Outcome
from drafter_lint.linter import EngineChoice, Selection
from drafter_lint.report import Check

FOLDER = cases.FIXTURES / "reports"
LIST = FOLDER / "list.toml"
REPORTS = sorted(path for path in FOLDER.glob("*.toml") if path != LIST)
#: Folders a report may be retold in, and the test that runs each.
RUN_BY = {"cases": "test_cases", "negatives": "test_negatives", "reports": __name__, "variants": "test_variants"}
#: What a report's case says beside what every case says.
OWN = frozenset(("source", "stage", "elsewhere"))
ELSEWHERE = frozenset(("about", "engine", "flags", "verdict", "expect", "absent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a report says of one release.

    Attributes:
        case: the pair on that release, with its flags.
        verdict: of the check, "" if only the codes count.
        expect: codes that must be among the findings.
        absent: codes that must not.
        stage: when the engine stops, "" if it does not or the report does not say.
    """

    case: cases.Case
    verdict: str
    expect: frozenset[str]
    absent: frozenset[str] = frozenset()
    stage: str = ""


def told(path: Path) -> list[Told]:
    """The report's own release first, then the others its case speaks of."""
    raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    case = cases.read(path, beside=OWN)
    if case.target is not None and raw["drafter"] != raw["target"]:  # a target's 200,000 tensors take long to lay out
        case = replace(case, target=case.target.without_weights())
    found = [Told(case=case, verdict=case.verdict, expect=frozenset(case.expect), stage=raw.get("stage", ""))]
    for other in raw.get("elsewhere", ()):
        assert other.keys() <= ELSEWHERE
        flags = cases.named(other["flags"], case.drafter, case.target) if "flags" in other else case.flags
        found.append(
            Told(
                case=replace(case, engine=other.get("engine", case.engine), flags=flags),
                verdict=other.get("verdict", ""),
                expect=frozenset(other.get("expect", ())),
                absent=frozenset(other.get("absent", ())),
            )
        )
    return found


def checked(case: cases.Case) -> Check:
    """What the linter says, as shown by default."""
    name, _, version = case.engine.partition("==")
    choice = EngineChoice(name=name, version=version or None, request=cases.request(case))
    return linter.check_pair(cases.opened(case), choice, selection=Selection(min_confidence=Confidence.LIKELY))


def said(found: Check) -> str:
    return "\n".join(f"{item.code} {item.outcome} {item.confidence} {item.message}" for item in found.findings)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_the_report_is_what_the_linter_says(path: Path) -> None:
    for number, entry in enumerate(told(path)):
        found = checked(entry.case)
        codes = {item.code for item in found.findings}
        assert entry.expect <= codes, said(found)
        assert not entry.absent & codes, said(found)
        if entry.verdict:
            assert found.verdict == entry.verdict, said(found)
        if entry.stage:
            stages = {refusal.stage for plan in found.plans for refusal in plan.refusals}
            assert entry.stage in stages, said(found)
        if number == 0:
            assert set(entry.case.skips) <= {skip.code for skip in found.not_checked}
            _rests_on_its_codes(entry, found)


def _rests_on_its_codes(entry: Told, found: Check) -> None:
    """A report's verdict is no other finding's: the worst outcome is that of a code the report names."""
    outcomes = {str(item.outcome) for item in found.findings if item.code in entry.expect}
    if entry.expect:
        assert entry.verdict in outcomes, said(found)
    else:
        assert all(item.outcome.rank < Outcome.SLOW.rank for item in found.findings), said(found)


def listed() -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", tomllib.loads(LIST.read_text(encoding="utf-8"))["report"])


@pytest.mark.parametrize("entry", listed(), ids=lambda entry: f"{entry['source']}{entry.get('item', '')}")
def test_every_report_is_retold_or_has_a_reason(entry: dict[str, Any]) -> None:
    assert entry.keys() <= {"source", "item", "engine", "files", "about", "case", "why"}
    assert entry["source"].startswith("https://")
    assert entry["files"] in {"yes", "partly", "no"}
    assert entry["about"].endswith(".")
    named = entry.get("case", [])
    assert named or entry["why"], "neither a case nor a reason"
    for case in named:
        assert Path(case).parts[0] in RUN_BY
        assert (cases.FIXTURES / f"{case}.toml").is_file(), case
    if "why" in entry:
        assert entry["why"].endswith(".")


def test_every_case_of_the_folder_is_in_the_list() -> None:
    named = Counter(case for entry in listed() for case in entry.get("case", ()) if case.startswith("reports/"))
    assert set(named) == {f"reports/{path.stem}" for path in REPORTS}


def test_a_case_and_its_entry_have_one_source() -> None:
    sources = {f"reports/{path.stem}": tomllib.loads(path.read_text(encoding="utf-8"))["source"] for path in REPORTS}
    wrong = [
        case
        for entry in listed()
        for case in entry.get("case", ())
        if sources.get(case, entry["source"]) != entry["source"]
    ]
    assert not wrong


def test_no_report_stands_twice() -> None:
    counted = Counter((entry["source"], entry.get("item", "")) for entry in listed())
    assert [key for key, count in counted.items() if count > 1] == []
