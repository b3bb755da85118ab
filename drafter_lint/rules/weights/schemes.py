"""Which switches a drafter needs on or off, from its tensors and its config; the rules compare the plan's with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from drafter_lint.drafters import Drafter, Eagle
from drafter_lint.engines.plan import Plan, Scheme
from drafter_lint.findings import Location
from drafter_lint.scope import Deployment


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One switch and the position the drafter was trained with.

    Attributes:
        name: of the switch, as in ``Plan.schemes``.
        on: the position.
        because: what says so.
        key: the config key that sets it where it is read, "" if no key can.
        places: where it is said.
        tensors: names of the tensors that come with it.
    """

    name: str
    on: bool
    because: str
    key: str = ""
    places: tuple[Location, ...] = ()
    tensors: tuple[str, ...] = ()


#: Switch, the canonical tensors that come with it (a name or the start of one), the config key that turns it on.
_WITH_TENSORS = (
    ("fc_norm", "fc_norm.", "fc_norm"),
    ("input_norm", "input_norm.", "norm_before_fc"),
)
#: Switch and config key that say how the same tensors are used. A key that is false asks for what is done without it.
_RESIDUAL = "norm_before_residual"
_WITHOUT_TENSORS = (_RESIDUAL, "norm_output")
#: Field names under which engines speak of a switch.
_FIELDS = {"norm_before_fc": "input_norm", "use_aux_norm": "fc_norm"}


def needs(drafter: Eagle) -> Iterator[Need]:
    """The switches a drafter says something about."""
    for name, prefix, key in _WITH_TENSORS:
        found = [tensor for canonical, tensor in drafter.canonical.items() if canonical.startswith(prefix)]
        if found:
            yield Need(
                name=name,
                on=True,
                because=f"it ships {found[0].name}",
                key=key,
                places=(drafter.checkpoint.tensors.at(found[0].name, "needs it"),),
                tensors=tuple(tensor.name for tensor in found),
            )
    told = drafter.trained.norm_before_residual
    if told is not None:
        says = f"it was trained with{'' if told else 'out'} it, as told"
        yield Need(name=_RESIDUAL, on=told, because=says, key=_RESIDUAL)
    for key in _WITHOUT_TENSORS:
        if key == _RESIDUAL and told is not None:
            continue
        config = drafter.checkpoint.config
        # Under eagle_config it is a wish all the same; which engine reads it there is told by the plan.
        written = config.boolean(key) or config.boolean("eagle_config", key)
        if written is not None:
            says = f"{key} is {str(written.value).lower()}"
            yield Need(name=key, on=written.value, because=says, places=(written.at,))


def scheme_of(plan: Plan, name: str) -> Scheme | None:
    """The plan's switch, under the part's name or the name of its key."""
    keys = (name, *(field for field, switch in _FIELDS.items() if switch == name))
    return next((plan.schemes[key] for key in keys if key in plan.schemes), None)


def told_by(at: Deployment[Drafter], tensors: Iterable[str]) -> Literal["field-ignored", "norm-scheme"] | None:
    """The rule that tells why tensors of a norm have no place: a field nobody reads, or a switch nobody set."""
    drafter, names = at.drafter, set(tensors)
    if not isinstance(drafter, Eagle) or not names:
        return None
    for need in needs(drafter):
        scheme = scheme_of(at.plan, need.name)
        if names <= set(need.tensors) and scheme is not None and scheme.on != need.on:
            return "field-ignored" if need.name in _ignored(at.plan) else "norm-scheme"
    return None


def at_odds(at: Deployment[Eagle]) -> Iterator[Need]:
    """Needs the plan's switches do not meet, and that no ignored field explains."""
    ignored = _ignored(at.plan)
    for need in needs(at.drafter):
        scheme = scheme_of(at.plan, need.name)
        if scheme is not None and scheme.on != need.on and need.name not in ignored:
            yield need


def ignored_and_needed(at: Deployment[Eagle], field: str) -> Need | None:
    """The need behind a field the engine does not read, None if the drafter would compute the same with it."""
    for need in needs(at.drafter):
        scheme = scheme_of(at.plan, need.name)
        got = scheme.on if scheme is not None else False
        if need.name == _switch(field) and need.on != got:
            return need
    return None


def switched_off(at: Deployment[Eagle]) -> frozenset[str]:
    """Tensors whose loss another finding explains: their norm is off in this engine."""
    explained = {need.name for need in at_odds(at)} | _ignored(at.plan)
    return frozenset(tensor for need in needs(at.drafter) if need.name in explained for tensor in need.tensors)


def _ignored(plan: Plan) -> set[str]:
    return {_switch(entry.field) for entry in plan.ignored_fields}


def _switch(field: str) -> str:
    name = field.rpartition(".")[2].rpartition("/")[2]
    return _FIELDS.get(name, name)
