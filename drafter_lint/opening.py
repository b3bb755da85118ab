"""The checkpoints of a run: every reference opened once, every pair understood once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from drafter_lint.aliases import Aliases
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Trained
from drafter_lint.drafters.recognise import recognise
from drafter_lint.errors import UsageError
from drafter_lint.findings import Role
from drafter_lint.linter import Opened, ahead, attempt, understand
from drafter_lint.reference import RECIPE_SUFFIX, Reference, parse_reference
from drafter_lint.sources import MemorySource, Source, Tally, open_source
from drafter_lint.userfile import read_text

#: What the user may name a checkpoint by: a reference, a source of bytes, or the files themselves by path.
Asked = str | os.PathLike[str] | Source | Mapping[str, bytes]


@dataclass(slots=True, kw_only=True)
class Checkpoints:
    """Opens references; what was opened once is not read again.

    Attributes:
        aliases: further aliases, normalised, to ids.
        offline: read nothing but caches.
        timeout: seconds all requests to one repository may take together.
        fingerprint: whether a few rows of both embeddings may be read and compared.
        tally: what reading has cost so far.
    """

    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    offline: bool = False
    timeout: float = 30.0
    fingerprint: bool = True
    tally: Tally = field(default_factory=Tally)
    _sources: dict[tuple[str, str | None, str], Source] = field(default_factory=dict)
    _opened: dict[tuple[Reference, Role], Checkpoint] = field(default_factory=dict)
    _pairs: dict[tuple[Checkpoint, Checkpoint | None, str, Trained | None], Opened] = field(default_factory=dict)

    @property
    def opened(self) -> tuple[Checkpoint, ...]:
        """Every checkpoint opened by a reference, in the order of opening."""
        return tuple(self._opened.values())

    def open(self, asked: Asked, *, role: Role, revision: str | None = None) -> Checkpoint:
        """Open a reference, a source or some files as a checkpoint; nothing is read yet.

        Raises:
            UsageError: the reference cannot be understood.
        """
        if isinstance(asked, os.PathLike):
            asked = os.fspath(asked)
        if isinstance(asked, Mapping):
            asked = MemorySource(f"{role} in memory", asked, tally=self.tally)
        if not isinstance(asked, str):
            name = asked.identity.name
            return Checkpoint(Reference(spelling=name, kind="local", name=name), asked, role=role)
        known = Aliases(self.aliases)
        reference = parse_reference(asked, exists=os.path.exists, aliases=known, revision=revision)
        key = (reference, role)
        if key not in self._opened:
            self._opened[key] = self._open(reference, role)
        return self._opened[key]

    def forget(self, most: int) -> None:
        """Let go of every pair and of all but so many checkpoints of either side, those opened last."""
        self._pairs.clear()
        if len(self._opened) <= most:
            return
        for role in ("drafter", "target"):
            of_role = [key for key in self._opened if key[1] == role]
            for key in of_role[: max(0, len(of_role) - most)]:
                del self._opened[key]
        used = {id(checkpoint.source) for checkpoint in self._opened.values()}
        self._sources = {key: source for key, source in self._sources.items() if id(source) in used}

    def _open(self, reference: Reference, role: Role) -> Checkpoint:
        if reference.kind == "local" and reference.name.endswith(RECIPE_SUFFIX):
            return _open_recipe(reference, role=role, tally=self.tally)
        key = (f"{reference.kind}:{reference.name}", reference.revision, reference.subfolder)
        if key not in self._sources:
            self._sources[key] = open_source(reference, tally=self.tally, deadline=self.timeout, offline=self.offline)
        return Checkpoint(reference, self._sources[key], role=role)

    def understood(
        self,
        drafter: Checkpoint,
        target: Checkpoint | None,
        *,
        origin: str = "given",
        trained_on: Trained | None = None,
    ) -> Opened:
        """Both sides read and recognised, once for each pair."""
        key = (drafter, target, origin, trained_on)
        if key not in self._pairs:
            self._pairs[key] = understand(
                drafter, target, target_origin=origin, trained_on=trained_on, fingerprint=self.fingerprint
            )
        return self._pairs[key]


def claimed_target(drafter: Checkpoint) -> str | None:
    """The target the drafter states as its own, if it states one."""
    ahead(drafter)
    recognition, _ = attempt(lambda: recognise(drafter))
    stated = [claim for claim in recognition.drafter.claims if claim.strength == "stated"] if recognition else []
    return stated[0].target.value if stated else None


def _open_recipe(reference: Reference, *, role: Role, tally: Tally) -> Checkpoint:
    """A checkpoint written as text: it goes by the name it stands for."""
    from drafter_lint.recipe import Recipe, misread  # noqa: PLC0415 - recipes are read with pydantic; other references need none

    path = Path(reference.name)
    try:
        recipe = Recipe.parse(read_text(path))
        source = recipe.source(tally, place=str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    except (UsageError, ValueError) as error:
        raise UsageError(misread(str(path), error)) from error
    named = replace(reference, name=recipe.name or path.name.removesuffix(RECIPE_SUFFIX))
    return Checkpoint(named, source, role=role)
