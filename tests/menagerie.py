"""Every published pair on three engine versions, as a user would read it: the golden output of the whole pipe."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import published
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.findings import Role
from drafter_lint.linter import EngineChoice, Selection, check_pairs, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.renderers import render
from drafter_lint.renderers.style import Style
from drafter_lint.report import Cost, Report

GOLDEN = published.FIXTURES / "menagerie"
ENGINES = (("sglang", "0.5.10.post1"), ("sglang", "0.5.23"), ("vllm", "0.33.0"))
NO_COST = Cost(requests=0, bytes=0, seconds=0.0)


def reports() -> Iterator[tuple[Path, str]]:
    """Where every pair's golden output stands, and what the pipe says now."""
    for pair in published.pairs():
        yield GOLDEN / f"{pair.drafter}--on--{pair.target}.txt", report(pair)


@cache
def report(pair: published.Pair) -> str:
    """The report of one pair: concise lines first, then the full text, without what reading cost."""
    made = run(pair)
    style = Style(width=100)
    return render(made, "concise", style) + "\n" + render(made, "text", style)


@cache
def run(pair: published.Pair) -> Report:
    """Check one pair with the flags each engine needs."""
    drafter = _open(published.drafter(pair.drafter), f"./{pair.drafter}", role="drafter")
    target = _open(published.target(pair.target).without_weights(), f"./{pair.target}", role="target")
    opened = understand(drafter, target)
    choices = [EngineChoice(name=name, version=version) for name, version in ENGINES]
    checks = check_pairs(opened, choices, selection=Selection())
    return Report(checks=checks, cost=NO_COST)


def _open(recipe: Recipe, slug: str, *, role: Role) -> Checkpoint:
    name = recipe.name or slug
    reference = Reference(spelling=name, kind="hub" if recipe.name else "local", name=name)
    return Checkpoint(reference, recipe.source(name=name), role=role)
