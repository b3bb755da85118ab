"""Loading weights on paper: which parameter takes each tensor, what is dropped or refused, what stays unfilled.

An engine describes its draft class as *slots*: the names it looks tensors up by, the shape each must have, and the
parameter it ends in (several slots may end in one fused parameter). How a file's names become slot names, and what
happens to a name without a slot, is the engine's *policy*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from drafter_lint.checkpoint import Tensor, TensorTable
from drafter_lint.engines.plan import ParameterState, Refusal, RefusalKind, Stage, TensorFate
from drafter_lint.findings import Confidence, Evidence

#: ``exact``: every dimension must be equal. ``columns``: a row-parallel weight, whose loader takes the columns of its
#: own shard and never looks whether there are more; fewer are refused. ``rows``: the same of a column-parallel weight
#: or bias and its rows.
Fit = Literal["exact", "columns", "rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for one checkpoint tensor.

    Attributes:
        parameter: the engine's parameter it ends in.
        shape: the shape the tensor must have, at tensor-parallel size 1.
        fit: how strictly, see :data:`Fit`.
        holds: what the parameter holds if nothing fills it.
        matters: False if nothing reads the parameter in this plan.
        pads: True if the loader fills up with zeros what is too short along the axis of ``fit``.
    """

    parameter: str
    shape: tuple[int, ...]
    fit: Fit = "exact"
    holds: str = "uninitialised memory"
    matters: bool = True
    pads: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """Look the tensor up under this slot name."""

    slot: str


@dataclass(frozen=True, slots=True)
class Discard:
    """The loader skips it on purpose (``expected``: by everyone's agreement, like t2d)."""

    says: str
    expected: bool = False


@dataclass(frozen=True, slots=True)
class Consume:
    """The loader uses it outside the parameters (d2t as a map)."""

    says: str


Route = Lookup | Discard | Consume


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How an engine's loader treats names and misfits.

    Attributes:
        route: from a name in the file to what the loader does with it.
        unexpected: what happens to a name without a slot.
        unexpected_says: how the user would learn of it.
        bias_dropped: True if an unexpected ``.bias`` is dropped even where other names are refused.
        evidence: where the loader stands.
        stage: when a refusal shows.
    """

    route: Callable[[str], Route]
    unexpected: Literal["drop", "refuse"]
    unexpected_says: str
    bias_dropped: bool = False
    evidence: tuple[Evidence, ...] = ()
    stage: Stage = "load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The result of loading on paper."""

    tensors: tuple[TensorFate, ...]
    parameters: tuple[ParameterState, ...]
    refusals: tuple[Refusal, ...]
    filled: frozenset[str] = field(default_factory=frozenset)


def load(slots: Mapping[str, Slot], table: TensorTable, policy: Policy) -> Loaded:
    """Load every tensor of ``table`` into ``slots``; goes on after a refusal, so that all of them are seen."""
    fates: list[TensorFate] = []
    refusals: list[Refusal] = []
    filled: set[str] = set()
    cut: set[str] = set()
    for name, tensor in sorted(table.items()):
        route = policy.route(name)
        if isinstance(route, Discard):
            fates.append(TensorFate(name=name, fate="dropped", says=route.says, expected=route.expected))
        elif isinstance(route, Consume):
            fates.append(TensorFate(name=name, fate="consumed", says=route.says, evidence=policy.evidence))
        elif route.slot not in slots:
            fate, refusal = _unexpected(name, table, policy)
            fates.append(fate)
            refusals += refusal
        else:
            slot = slots[route.slot]
            fit = _fit(tensor, slot)
            fates.append(_placed(tensor, slot, fit, policy))
            if fit == "refused":
                refusals.append(_misfit(tensor, slot, table, policy))
            filled.add(route.slot)
            cut |= {route.slot} if fit == "cut" else set()
    return Loaded(
        tensors=tuple(fates),
        parameters=tuple(_states(slots, filled)),
        refusals=tuple(refusals),
        filled=frozenset(filled),
    )


def _fit(tensor: Tensor, slot: Slot) -> Literal["taken", "cut", "refused"]:
    if tensor.shape == slot.shape:
        return "taken"
    axis = {"exact": None, "rows": 0, "columns": 1}[slot.fit]
    if axis is None or len(tensor.shape) != len(slot.shape) or axis >= len(slot.shape):
        return "refused"
    others = [
        have == want for place, (have, want) in enumerate(zip(tensor.shape, slot.shape, strict=True)) if place != axis
    ]
    if not all(others):
        return "refused"
    if tensor.shape[axis] > slot.shape[axis]:
        return "cut"
    return "taken" if slot.pads else "refused"


def _placed(tensor: Tensor, slot: Slot, fit: Literal["taken", "cut", "refused"], policy: Policy) -> TensorFate:
    says = "" if tensor.shape == slot.shape else f"filled up with zeros to {list(slot.shape)}"
    along: Literal["rows", "columns"] | None = None
    if fit == "cut" and slot.fit != "exact":
        along, axis = slot.fit, 0 if slot.fit == "rows" else 1
        says = f"only {slot.shape[axis]} of {tensor.shape[axis]} {along} are loaded"
    elif fit == "refused":
        says = f"has shape {list(tensor.shape)}, its parameter expects {list(slot.shape)}"
    return TensorFate(
        name=tensor.name, fate=fit, parameter=slot.parameter, says=says, cut_along=along, evidence=policy.evidence
    )


def _misfit(tensor: Tensor, slot: Slot, table: TensorTable, policy: Policy) -> Refusal:
    return Refusal(
        kind=RefusalKind.TENSOR_SHAPE,
        stage=policy.stage,
        says=f"{tensor.name} has shape {list(tensor.shape)}; the parameter built for it expects {list(slot.shape)}",
        locations=(table.at(tensor.name, f"expected {list(slot.shape)}"),),
        evidence=policy.evidence,
        measured={"shape": list(tensor.shape), "expected": list(slot.shape)},
        tensors=(tensor.name,),
    )


def _unexpected(name: str, table: TensorTable, policy: Policy) -> tuple[TensorFate, list[Refusal]]:
    dropped = policy.unexpected == "drop" or (policy.bias_dropped and name.endswith(".bias"))
    says = (
        policy.unexpected_says if policy.unexpected == "drop" or not dropped else "biases without a place are skipped"
    )
    fate = TensorFate(name=name, fate="dropped" if dropped else "refused", says=says, evidence=policy.evidence)
    if dropped:
        return fate, []
    refusal = Refusal(
        kind=RefusalKind.TENSOR_UNEXPECTED,
        stage=policy.stage,
        says=f"{name} has no parameter to go to",
        locations=(table.at(name, "no parameter of that name"),),
        evidence=policy.evidence,
        tensors=(name,),
        confidence=Confidence.CERTAIN,
    )
    return fate, [refusal]


def _states(slots: Mapping[str, Slot], filled: Iterable[str]) -> Iterable[ParameterState]:
    have = set(filled)
    grouped: dict[str, list[str]] = {}
    for key, slot in slots.items():
        grouped.setdefault(slot.parameter, []).append(key)
    for parameter, keys in grouped.items():
        present = sum(key in have for key in keys)
        first = slots[keys[0]]
        yield ParameterState(
            name=parameter,
            shape=first.shape if len(keys) == 1 else (sum(slots[key].shape[0] for key in keys), *first.shape[1:]),
            state="filled" if present == len(keys) else "partly" if present else "unfilled",
            holds="" if present == len(keys) else first.holds,
            matters=any(slots[key].matters for key in keys),
        )
