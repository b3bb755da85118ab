"""Two checkpoints, field by field and tensor by tensor: what differs, in which group, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drafter_lint.comparing import knowledge
from drafter_lint.comparing.conclusion import conclusion
from drafter_lint.comparing.fields import Field, fields, inner_of
from drafter_lint.comparing.meanings import meanings
from drafter_lint.comparing.model import Comparison, Difference, Group, Kind, Of, Value
from drafter_lint.comparing.tensors import differing_tensors
from drafter_lint.comparing.values import same
from drafter_lint.findings import Evidence
from drafter_lint.looking import Look

_NOT_WRITTEN = "–"
_UNKNOWN_WHY = "no engine fact and no layout we know speaks of it"


def compare(a: Look, b: Look) -> Comparison:
    """Compare two drafters, or two targets; total: what cannot be read is named among what was not compared."""
    of: Of = "target" if a.is_model and b.is_model else "drafter"
    worked_out = tuple(meanings(a, b, of))
    covered = {name for item in worked_out for name in item.covers}
    found = [_difference(of, "meaning", item.name, item.a, item.b, item.says, item.evidence) for item in worked_out]
    left, right = fields(a, of), fields(b, of)
    shared = 0
    if left and right:
        for name in dict.fromkeys((*left, *right)):
            one, other = _pair(name, left, right)
            if one and other and same(one.value, other.value):
                shared += 1
            elif name not in covered and (item := _field(of, name, one, other)):
                found.append(item)
    rows, same_tensors, missing = differing_tensors(a, b, of, covered)
    found += rows
    order = list(Group)
    return Comparison(
        of=of,
        conclusion=conclusion(a, b, of),
        differences=tuple(sorted(found, key=lambda item: (order.index(item.group), item.rank, item.name))),
        same_fields=shared,
        same_tensors=same_tensors,
        not_compared=tuple(_not_compared(a, b)) + missing,
    )


def _pair(name: str, left: Mapping[str, Field], right: Mapping[str, Field]) -> tuple[Field | None, Field | None]:
    """Both sides of a field; what one side keeps in a wrapper is held against the other's only one."""
    outer = inner_of(name)
    return left.get(name) or left.get(outer), right.get(name) or right.get(outer)


def _field(of: Of, name: str, one: Field | None, other: Field | None) -> Difference | None:
    known = knowledge.find(of, "field", name)
    lone = one or other
    if lone is None:
        return None
    a, b = _value(one), _value(other)
    if one is None or other is None:
        if known and known.as_if_absent(lone.value):
            why = f"not written means {lone.text}"
            return Difference(kind="field", name=name, a=a, b=b, group=Group.NOTHING, why=why, rank=known.rank)
        if lone.value is None and not (known and known.group is Group.DECIDES and known.facts):
            why = "null is read as not written"
            return Difference(kind="field", name=name, a=a, b=b, group=Group.NOTHING, why=why)
    return _difference(of, "field", name, a, b)


def _value(field: Field | None) -> Value:
    return Value(text=_NOT_WRITTEN) if field is None else Value(text=field.text, raw=field.value, at=field.at)


def _difference(
    of: Of,
    kind: Kind,
    name: str,
    a: Value,
    b: Value,
    says: tuple[str, ...] = (),
    evidence: tuple[Evidence, ...] = (),
) -> Difference:
    known = knowledge.find(of, kind, name)
    if known is None:
        rank = len(knowledge.everything())
        return Difference(kind=kind, name=name, a=a, b=b, group=Group.UNKNOWN, why=_UNKNOWN_WHY, rank=rank)
    return Difference(
        kind=kind,
        name=name,
        a=a,
        b=b,
        group=known.group,
        why=known.why,
        says=says + tuple(fact.spoken() for fact in known.facts),
        evidence=evidence + tuple(item for fact in known.facts for item in fact.evidence()),
        rank=known.rank,
    )


def _not_compared(a: Look, b: Look) -> Iterator[str]:
    if a.is_model is not b.is_model:
        model, drafter = ("A", "B") if a.is_model else ("B", "A")
        yield f"{model} is a whole model and {drafter} a drafter: each field is told as a drafter's"
    for name, seen in (("A", a), ("B", b)):
        for trouble in seen.troubles:
            yield f"{name}: {trouble}"
