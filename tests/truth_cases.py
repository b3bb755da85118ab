"""The truth cases: what real engines did with small pairs whose right behaviour is known by construction."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from drafter_lint.recipe import Recipe
from drafter_lint.recipe.lines import parse_line

FIXTURES = Path(__file__).parents[1] / "fixtures"
TRUTH = FIXTURES / "truth"

Engine = Literal["sglang", "vllm"]
Outcome = Literal["refuses", "silent", "ok", "loads"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Built(_Strict):
    """What the pair was built for, where its configuration need not say so.

    ``state_norm`` names the norm in front of ``fc`` that the weights need; ``boundaries`` are the target states they
    were made for, in the order of the columns of ``fc``.
    """

    boundaries: list[int] | None = None
    norm_before_residual: bool | None = None
    norm_output: bool | None = None
    state_norm: Literal["none", "fc_norm", "input_norm"] | None = None
    lm_head: Literal["zeros"] | None = None
    embed_tokens: str | None = None
    state: str | None = None


class SaysNothing(_Strict):
    """Fields of some runs that are about the set-up they were made with, not about the pair."""

    engine: Engine
    versions: list[str]
    about: list[str]
    reason: str


class Run(_Strict):
    """What some versions of one engine did, all in the same way; a field is None if it was not observed.

    Attributes:
        launch: the command line; its working directory holds ``target`` and the drafter's folder.
        environment: variables set for it.
        runner: which model runner of vLLM ran.
        outcome: ``refuses``; ``silent`` (served, but drafting in part or not at all, or weights were lost); ``ok``
            (drafted in full); ``loads`` (no more than loading was observed, or acceptance cannot tell).
        stage: how far it got.
        silent_by: ``accept``, ``unloaded``, ``partial``, ``unused``.
        speculates: False if the engine served without any drafting.
        aux_layers: the boundaries the target handed over.
        dropped: tensors of the file that reached no parameter (SGLang takes d2t outside its parameters).
        unfilled: parameters that no tensor filled, before sharing with the target.
        partial: parameters filled in part: elements left, elements in all.
        error_at: file and function of the engine that refused.
    """

    engine: Engine
    versions: list[str]
    launch: list[str]
    environment: dict[str, str] = Field(default_factory=dict)
    runner: str | None = None
    outcome: Outcome
    stage: str
    silent_by: list[str] = Field(default_factory=list)
    speculates: bool = True
    method: str | None = None
    draft_class: str | None = None
    aux_layers: list[int] | None = None
    dropped: list[str] | None = None
    unfilled: list[str] | None = None
    partial: dict[str, list[int]] | None = None
    shares_embed: bool | None = None
    shares_lm_head: bool | None = None
    accept_length: float | None = None
    num_speculative_tokens: int | None = None
    error_type: str | None = None
    error_at: str | None = None


class _Document(_Strict):
    id: str
    family: Literal["eagle", "other"]
    drafter_folder: str
    target: str
    remark: str = ""
    built: Built = Built()
    drafter: dict[str, object] | None = None
    says_nothing: list[SaysNothing] = Field(default_factory=list)
    run: list[Run]


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthCase:
    """One pair and what was observed.

    Attributes:
        id: the name of its file.
        family: ``eagle`` if the drafter is of the EAGLE family or is started with EAGLE's flags, else ``other``.
        drafter_folder: the folder the drafter lay in; "target" if it rides inside the target, or there is none.
        drafter: the drafter; the target where it rides inside it.
        target: the target.
        built: what the pair was built for.
        runs: the observations.
        says_nothing: which of their fields to leave out of a comparison, and why.
        remark: what else to know.
    """

    id: str
    family: Literal["eagle", "other"]
    drafter_folder: str
    drafter: Recipe
    target: Recipe
    built: Built
    runs: tuple[Run, ...]
    says_nothing: tuple[SaysNothing, ...] = ()
    remark: str = ""
    drafter_is_target: bool = field(default=False)

    def tells(self, run: Run, version: str, fact: str) -> bool:
        """False if a field of a run is an artefact of how it was observed."""
        return not any(
            note.engine == run.engine and version in note.versions and fact in note.about for note in self.says_nothing
        )

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the pair as it lay when the engines ran; returns the drafter's and the target's folder."""
        target = self.target.write(folder / "target")
        return (target if self.drafter_is_target else self.drafter.write(folder / self.drafter_folder)), target


def with_values(drafter: Recipe, *, zeros: bool) -> Recipe:
    """The drafter with numbers in its final norm and its head, where the real one had weights.

    The recorded pairs were complete; their recipes leave out what tells nothing. What tells is only whether such a
    tensor is zeros, and whether two rows of the head are the same.
    """

    def valued(name: str, text: str) -> str:
        line = parse_line(text)
        if line.values is not None or not line.dtype.startswith(("BF", "F")):
            return text
        if name.endswith("norm.weight") and len(line.shape) == 1:
            return f"{text} = 1*{line.elements}"
        if name.endswith("lm_head.weight") and len(line.shape) == 2 and not zeros:
            return f"{text} = {' '.join(f'{row + 1}*{line.shape[1]}' for row in range(line.shape[0]))}"
        return text

    tensors = {
        file: {name: valued(name, text) for name, text in part.items()} for file, part in drafter.tensors.items()
    }
    return replace(drafter, tensors=tensors)


@cache
def truth_target(name: str) -> Recipe:
    """A target of the truth cases."""
    return Recipe.parse((TRUTH / "targets" / f"{name}.recipe.toml").read_text(encoding="utf-8"))


def read_case(path: Path) -> TruthCase:
    """One case from its file."""
    table: Mapping[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    document = _Document.model_validate(table)
    target = truth_target(document.target)
    return TruthCase(
        id=document.id,
        family=document.family,
        drafter_folder=document.drafter_folder,
        drafter=target
        if document.drafter is None
        else with_values(Recipe.from_table(document.drafter), zeros=document.built.lm_head == "zeros"),
        target=target,
        built=document.built,
        runs=tuple(document.run),
        says_nothing=tuple(document.says_nothing),
        remark=document.remark,
        drafter_is_target=document.drafter is None,
    )


@cache
def load_cases() -> tuple[TruthCase, ...]:
    """Every case, in the order of their names."""
    return tuple(read_case(path) for path in sorted(TRUTH.glob("*.toml")) if path.name != "disagreements.toml")
