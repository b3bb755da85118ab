"""The cases: a pair, a small patch, engine and flags, and exactly what must be said of them. The folder is the list."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from drafter_lint import linter
from drafter_lint.api import Job
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Trained
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import (
    AddArguments,
    Confidence,
    Finding,
    Located,
    Location,
    RemoveConfig,
    ReplaceArgument,
    Role,
    SetConfig,
    SetTensor,
    Skip,
)
from drafter_lint.launch import LaunchRequest, parse_command
from drafter_lint.linter import EngineChoice, Opened, Selection, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.report import Check
from drafter_lint.rules import all_rules
from drafter_lint.scanning import Document, jobs_of
from drafter_lint.scope import Locked
from drafter_lint.sources.base import FileEntry, Identity
from drafter_lint.sources.memory import MemorySource
from drafter_lint.suppressions import EngineRange, Suppression, suppressed

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = sorted((FIXTURES / "cases").glob("DFL*/*.toml"))
#: The day of every case's run, and where its settings stand.
TODAY = date(2026, 1, 15)
SETTINGS = Location(role="launch", subject="drafter-lint.toml", file="drafter-lint.toml", line=1)
KEYS = {
    "about", "drafter", "target", "engine", "flags", "trained_on", "expect", "verdict", "not_checked",
    "names", "drafter_patch", "target_patch", "fix", "trouble", "document", "variables", "suppress", "locked",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One case as written.

    Attributes:
        code: of the rule it is about: the folder's name.
        bad: True if the rule must speak.
        flags: the engine's flags; DRAFTER and TARGET stand for the two names. None: those the engine needs.
        expect: the codes of all findings at confidence ``likely`` or better.
        skips: the codes that must be reported as not checked.
        names: False if a drafter the flags do not name is not named otherwise either.
        edits: what a fix changed in the drafter's files.
        trouble: why nothing of the drafter can be read, "" if it can.
        document: a script whose first command is checked, with DRAFTER and TARGET in it.
        variables: what the document leaves open.
        settled: the settings' suppressions.
        locked: what the lock file says, and what is there.
    """

    code: str
    bad: bool
    drafter: Recipe
    target: Recipe | None
    engine: str
    flags: tuple[str, ...] | None
    expect: tuple[str, ...]
    verdict: str
    skips: tuple[str, ...]
    trained_on: Trained | None
    fixable: bool
    names: bool = True
    edits: tuple[SetConfig | RemoveConfig | SetTensor, ...] = ()
    trouble: str = ""
    document: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    settled: tuple[Suppression, ...] = ()
    locked: tuple[Locked, ...] = ()


class Closed(MemorySource):
    """A source nothing can be read from."""

    def __init__(self, name: str, trouble: Trouble) -> None:
        super().__init__(name, {})
        self._trouble = Unavailable(trouble, name, f"made {trouble} by the case")

    @property
    def identity(self) -> Identity:
        """Raises the trouble."""
        raise self._trouble

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """Raises the trouble."""
        raise self._trouble


def recipe(slug: str, patch: Mapping[str, object]) -> Recipe:
    """A recipe of the fixtures, changed as a case says."""
    text = (FIXTURES / f"{slug}.recipe.toml").read_text("utf-8")
    found = Recipe.parse(text)
    return found.patched(patch) if patch else found


def read(path: Path, beside: frozenset[str] = frozenset()) -> Case:
    """A case from its file; ``beside`` are further keys that another test reads."""
    raw: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    assert raw.keys() <= KEYS | beside, f"unknown keys: {raw.keys() - KEYS - beside}"
    assert raw["about"].endswith("."), "a case says in one sentence what it is"
    drafter = recipe(raw["drafter"], raw.get("drafter_patch", {}))
    target = recipe(raw["target"], raw.get("target_patch", {})) if "target" in raw else None
    flags = raw.get("flags")
    return Case(
        code=path.parent.name,
        bad=path.name.startswith("bad-"),
        drafter=drafter,
        target=target,
        engine=raw.get("engine", ""),
        flags=None if flags is None else named(flags, drafter, target),
        expect=tuple(raw["expect"]),
        verdict=raw.get("verdict", ""),
        skips=tuple(raw.get("not_checked", ())),
        trained_on=Trained.told(raw["trained_on"]) if "trained_on" in raw else None,
        fixable=bool(raw.get("fix", {}).get("clean", False)),
        names=bool(raw.get("names", True)),
        trouble=str(raw.get("trouble", "")),
        document=_named(raw.get("document", ""), drafter, target),
        variables=raw.get("variables", {}),
        settled=tuple(_suppression(table) for table in raw.get("suppress", ())),
        locked=tuple(Locked(at=SETTINGS, subject=drafter.name, **table) for table in raw.get("locked", ())),
    )


def _suppression(table: Mapping[str, Any]) -> Suppression:
    engine = EngineRange.parse(table["engine"]) if "engine" in table else None
    return Suppression(**{**table, "engine": engine, "at": SETTINGS})


def named(flags: Sequence[str], drafter: Recipe, target: Recipe | None) -> tuple[str, ...]:
    """Flags with the two names in them."""
    return tuple(_named(word, drafter, target) for word in flags)


def _named(word: str, drafter: Recipe, target: Recipe | None) -> str:
    return word.replace("DRAFTER", drafter.name).replace("TARGET", target.name if target else "TARGET")


def checkpoint(source: Recipe, role: Role) -> Checkpoint:
    """A checkpoint held in memory."""
    name = source.name or f"example/{role}"
    return Checkpoint(Reference(spelling=name, kind="hub", name=name), source.source(name=name), role=role)


def opened(case: Case) -> Opened:
    """Both sides of a case, read."""
    drafter = case.drafter
    for edit in case.edits:
        drafter = drafter.patched(_change(drafter, edit))
    target = checkpoint(case.target, "target") if case.target else None
    files = checkpoint(drafter, "drafter")
    if case.trouble:
        files = Checkpoint(files.reference, Closed(files.reference.name, Trouble(case.trouble)), role="drafter")
    return understand(files, target, trained_on=case.trained_on)


def _change(drafter: Recipe, edit: SetConfig | RemoveConfig | SetTensor) -> dict[str, object]:
    if isinstance(edit, SetTensor):
        line = replace(drafter.table()[edit.name], values=" ".join(map(str, edit.values)))
        return {"tensors": {edit.name: line.text}}
    return {"set": {edit.pointer: _toml(edit.value)}} if isinstance(edit, SetConfig) else {"remove": [edit.pointer]}


def _toml(value: object) -> object:
    return "json:" + json.dumps(value)


def request(case: Case) -> LaunchRequest | None:
    """The flags as the engine's command; the names the linter was given stand in where the flags name nothing."""
    if case.document:
        launch = stated(case).launch
        return launch if isinstance(launch, LaunchRequest) else None
    if case.flags is None:
        return None
    given = parse_command(case.flags, engine=case.engine.partition("==")[0])
    drafter, target = case.drafter.name, case.target.name if case.target else ""
    if given.drafter is None and case.names:
        given = replace(given, drafter=Located(drafter, given.at("as checked")))
    if given.target is None:
        given = replace(given, target=Located(target, given.at("as checked")))
    return given


def stated(case: Case) -> Job:
    """The first command of the case's document."""
    return next(jobs_of(Document("serve.sh", case.document), Job(), variables=case.variables))


def settled(case: Case, check: Check, selection: Selection) -> Check:
    """What the document, the suppressions and the lock file of a case add to a check."""
    suppressions = case.settled
    if case.document:
        job = stated(case)
        assert job.stated
        check = linter.tell(replace(check, source=job.stated.at), job.stated, selection=selection)
        suppressions += job.suppressions
    for scope in case.locked:
        check = linter.tell(check, scope, selection=selection)
    (check,) = suppressed([check], suppressions, selection=selection, today=TODAY)
    return check


@dataclass(frozen=True)
class Result:
    """What the linter said."""

    findings: tuple[Finding, ...]
    skips: tuple[Skip, ...]
    ran: int
    verdict: str

    @property
    def codes(self) -> list[str]:
        """The codes, ascending, each once."""
        return sorted({finding.code for finding in self.findings})


def run(case: Case, *, only: str = "", confidence: Confidence = Confidence.LIKELY) -> Result:
    """Check a case, with every rule or with one."""
    selection = Selection(select=(only,) if only else (), min_confidence=confidence)
    pair = opened(case)
    if not case.engine:
        judged = linter._files(pair, selection)
        found = tuple(item for item in judged.results if isinstance(item, Finding))
        shown = tuple(item for item in found if item.confidence.rank >= confidence.rank)
        skips = tuple(item for item in judged.results if isinstance(item, Skip))
        worst = max((item.outcome for item in shown), key=lambda outcome: outcome.rank, default="ok")
        return Result(shown, skips, len(judged.ran), str(worst))
    name, _, version = case.engine.partition("==")
    choice = EngineChoice(name=name, version=version or None, request=request(case))
    check = settled(case, linter.check_pair(pair, choice, selection=selection), selection)
    return Result(check.findings, check.not_checked, check.checked, check.verdict)


def fixed(case: Case, finding: Finding) -> Case:
    """The case after a finding's edits."""
    assert finding.fix
    words: Sequence[str] = case.flags or ()
    edits = list(case.edits)
    for edit in finding.fix.edits:
        match edit:
            case ReplaceArgument(index, value):
                words = [*words[:index], value, *words[index + 1 :]]
            case AddArguments(values):
                words = [*words, *values]
            case _:
                edits.append(edit)
    return replace(case, flags=tuple(words) if case.flags is not None else None, edits=tuple(edits))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path) -> None:
    """Exactly the expected findings, the rule itself ran, and its edits take the finding away."""
    case = read(path)
    result = run(case)
    said = "\n".join(f"{item.code} {item.outcome} {item.message}" for item in result.findings)
    assert result.codes == sorted(case.expect), said
    # A rule that never judges, such as one about access, speaks by saying what was not checked.
    spoke = case.code in result.codes or (case.bad and case.code in case.skips)
    assert spoke == case.bad, said
    assert not case.verdict or result.verdict == case.verdict, said
    alone = run(case, only=case.code)
    mine = [skip for skip in alone.skips if skip.code == case.code]
    assert {skip.code for skip in mine} == {code for code in case.skips if code == case.code}, mine
    assert alone.ran or mine, f"{case.code} did not run"
    own = [item for item in result.findings if item.code == case.code]
    assert not case.fixable or any(item.fix and item.fix.edits for item in own), "no finding has edits"
    for finding in own:
        if finding.fix and finding.fix.edits:
            _mended(case, finding, result)


def _mended(case: Case, finding: Finding, before: Result) -> None:
    after = run(fixed(case, finding))
    assert finding.message not in {item.message for item in after.findings if item.code == case.code}
    known = {item.code for item in before.findings}
    new = [item for item in after.findings if item.code not in known and item.outcome.rank >= finding.outcome.rank]
    assert not new, "\n".join(f"{item.code} {item.message}" for item in new)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: str(rule.code))
def test_every_rule_has_a_good_and_a_bad_case(rule: Any) -> None:
    """Dropping a rule in without cases fails here."""
    names = [path.name for path in CASES if path.parent.name == rule.code]
    assert any(name.startswith("bad-") for name in names), f"{rule.code} {rule.name} has no bad case"
    assert any(name.startswith("good-") for name in names), f"{rule.code} {rule.name} has no good case"


def test_every_case_belongs_to_a_rule() -> None:
    """A folder named after no rule would never be looked for."""
    codes = {rule.code for rule in all_rules()}
    stray = [str(path) for path in CASES if path.parent.name not in codes or path.name[:4] not in {"bad-", "good"}]
    assert not stray
