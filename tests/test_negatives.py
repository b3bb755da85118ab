"""Pairs that people took for broken and that were not: a check must raise nothing at ``slow`` or worse about them.

Each file of ``fixtures/negatives`` retells one public report. A negative without an engine is judged by the rules no
engine has a say in. ``instead`` is what was wrongly asked for, and must not pass.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.findings import Finding, Located, Outcome, Role
from drafter_lint.launch import parse_command
from drafter_lint.linter import EngineChoice, Opened, Selection, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

FIXTURES = Path(__file__).parents[1] / "fixtures"
NEGATIVES = sorted((FIXTURES / "negatives").glob("*.toml"))
KEYS = {
    "about", "source", "drafter", "target", "drafter_recipe", "target_recipe", "drafter_patch", "target_patch",
    "engine", "flags", "instead",
}  # fmt: skip


def read(path: Path) -> dict[str, Any]:
    """A negative as written."""
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    assert raw.keys() <= KEYS
    assert raw["about"].endswith(".")
    return raw


def recipe(raw: dict[str, Any], role: Role) -> Recipe:
    """A side of the pair: a recipe of the fixtures or one written in place, patched."""
    if role in raw:
        found = Recipe.parse((FIXTURES / f"{raw[role]}.recipe.toml").read_text(encoding="utf-8"))
    else:
        found = Recipe.from_table(raw[f"{role}_recipe"])
    patch = raw.get(f"{role}_patch")
    found = found.patched(patch) if patch else found
    # Only its config is read of a target, and its 200,000 tensors take long to lay out.
    return found.without_weights() if role == "target" else found


def opened(drafter: Recipe, target: Recipe) -> Opened:
    """Both sides, read."""
    return understand(checkpoint(drafter, "drafter"), checkpoint(target, "target"))


def checkpoint(side: Recipe, role: Role) -> Checkpoint:
    """A side of the pair in memory."""
    return Checkpoint(Reference(spelling=side.name, kind="hub", name=side.name), side.source(), role=role)


def findings(pair: Opened, engine: str, flags: list[str]) -> list[Finding]:
    """What is said of a pair, with an engine's flags or without an engine."""
    if not engine:
        return [item for item in linter._files(pair, Selection()).results if isinstance(item, Finding)]
    assert pair.target
    name, _, version = engine.partition("==")
    words = [word.replace("DRAFTER", pair.drafter.name).replace("TARGET", pair.target.name) for word in flags]
    request = parse_command(words, engine=name)
    if request.target is None:
        request = replace(request, target=Located(pair.target.name, request.at("as checked")))
    check = linter.check_pair(pair, EngineChoice(name=name, version=version, request=request), selection=Selection())
    return list(check.findings)


def grave(found: list[Finding]) -> list[str]:
    """What is said at ``slow`` or worse, as shown by default."""
    return [
        f"{item.code} {item.name} {item.outcome}: {item.message}"
        for item in found
        if item.outcome.rank >= Outcome.SLOW.rank and item.confidence.rank >= Selection().min_confidence.rank
    ]


@pytest.mark.parametrize("path", NEGATIVES, ids=lambda path: path.stem)
def test_nothing_grave_is_said(path: Path) -> None:
    """No false alarm, with the engine of the report where it has a profile."""
    raw = read(path)
    pair = opened(recipe(raw, "drafter"), recipe(raw, "target"))
    assert not grave(findings(pair, raw.get("engine", ""), raw.get("flags", [])))
    if "instead" in raw:
        wrong = grave(findings(pair, raw["engine"], raw["instead"]["flags"]))
        assert any(" silent: " in line or " refuses: " in line for line in wrong)


@pytest.mark.parametrize("path", NEGATIVES, ids=lambda path: path.stem)
def test_the_files_alone_are_fine(path: Path) -> None:
    """The same without an engine: no rule about files, pair, vocabulary or provenance cries wolf."""
    raw = read(path)
    pair = opened(recipe(raw, "drafter"), recipe(raw, "target"))
    assert not grave(findings(pair, "", []))


def test_every_public_report_is_retold() -> None:
    """Eighteen reports were collected."""
    sources = {read(path)["source"] for path in NEGATIVES}
    assert len(sources) == 18
