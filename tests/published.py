"""Published drafters and targets as recipes, and which belong together."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from drafter_lint.recipe import Recipe
from drafter_lint.sources.memory import VirtualFile

FIXTURES = Path(__file__).parents[1] / "fixtures"


class Pair(BaseModel):
    """One pair of ``fixtures/pairs.toml``.

    Attributes:
        drafter: a name for :func:`drafter`.
        target: a name for :func:`target`.
        wrong: why the pair is wrong, "" for a right one.
        flaw: what is the matter with the drafter even beside its own target, "" for nothing.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    drafter: str
    target: str
    wrong: str = ""
    flaw: str = ""


def drafters() -> tuple[str, ...]:
    """The name of every published drafter."""
    return _names("recipes")


def targets() -> tuple[str, ...]:
    """The name of every published target."""
    return _names("targets")


@cache
def drafter(name: str) -> Recipe:
    """A published drafter."""
    return _recipe("recipes", name)


@cache
def target(name: str) -> Recipe:
    """A published target; tests that need no tensors of it use ``without_weights``."""
    return _recipe("targets", name)


@cache
def target_files(name: str) -> Mapping[str, bytes | VirtualFile]:
    """The files of a published target, made once: the largest has 208,216 tensors in 64 files."""
    return MappingProxyType(target(name).files())


@cache
def pairs() -> tuple[Pair, ...]:
    """Every pair, right ones and wrong ones."""
    document = tomllib.loads((FIXTURES / "pairs.toml").read_text(encoding="utf-8"))
    return tuple(Pair.model_validate(pair) for pair in document["pair"])


def _names(folder: str) -> tuple[str, ...]:
    return tuple(path.name.removesuffix(".recipe.toml") for path in sorted((FIXTURES / folder).glob("*.recipe.toml")))


def _recipe(folder: str, name: str) -> Recipe:
    return Recipe.parse((FIXTURES / folder / f"{name}.recipe.toml").read_text(encoding="utf-8"))
