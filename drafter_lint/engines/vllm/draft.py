"""The plan as far as it has come, and the plan it becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from drafter_lint.engines.plan import Capture, FcUse, MapUse, ParameterState, Plan, Provision, Scheme, TensorFate
from drafter_lint.engines.vllm.case import Case


@dataclass(slots=True, kw_only=True)
class Draft:
    """The plan as far as it has come."""

    understood: bool = True
    speculates: bool = True
    method: str | None = None
    origin: Literal["flag", "name", "default", "checkpoint"] = "flag"
    runner: str = ""
    architecture: str | None = None
    draft_class: str | None = None
    takes_aux: bool = False
    parallel: bool | None = None
    trained_steps: int | None = None
    capture: Capture | None = None
    fc: FcUse | None = None
    head: Provision | None = None
    embedding: Provision | None = None
    map: MapUse | None = None
    tensors: tuple[TensorFate, ...] = ()
    parameters: tuple[ParameterState, ...] = ()
    schemes: dict[str, Scheme] = field(default_factory=dict)


def finished(case: Case, draft: Draft) -> Plan:
    """Close the plan."""
    world, notes = case.world, case.notes
    return Plan(
        engine=world.engine,
        version=str(world.version),
        knowledge=world.knowledge,
        basis=world.basis,
        understood=draft.understood,
        speculates=draft.speculates,
        method=draft.method,
        method_origin=draft.origin,
        runner=draft.runner,
        architecture=draft.architecture,
        draft_class=draft.draft_class,
        takes_aux=draft.takes_aux,
        parallel_drafting=draft.parallel,
        trained_steps=draft.trained_steps,
        steps=tuple(notes.steps),
        refusals=tuple(notes.refusals),
        capture=draft.capture,
        fc=draft.fc,
        head=draft.head,
        embedding=draft.embedding,
        map=draft.map,
        tensors=draft.tensors,
        parameters=draft.parameters,
        schemes=draft.schemes,
        ignored_fields=tuple(notes.ignored_fields),
        ignored_flags=tuple(notes.ignored_flags),
        rewrites=tuple(notes.rewrites),
    )
