"""The tensors of two checkpoints under common names: what one lacks, what has another shape or type."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from drafter_lint.checkpoint import Tensor
from drafter_lint.comparing import knowledge
from drafter_lint.comparing.model import Difference, Group, Of, Value
from drafter_lint.drafters.view import view
from drafter_lint.findings import Location
from drafter_lint.looking import Look
from drafter_lint.recipe.record import collapsed

_ABSENT = "not in the file"
#: What engines convert to the type they run in while they load.
_PLAIN = {"F16", "BF16", "F32", "F64"}
_WHOLE = {"I8", "U8", "I16", "I32", "I64", "BOOL"}
_WRAPPER = re.compile(r"^(?:language_model|text_model|model)\.")
_UNKNOWN_WHY = "no layout we know has a tensor of this name"


def differing_tensors(
    a: Look, b: Look, of: Of, covered: Collection[str]
) -> tuple[list[Difference], int, tuple[str, ...]]:
    """Every difference, how many tensors are the same on both sides, and what was not compared."""
    if a.tensors is None or b.tensors is None:
        return [], 0, ()
    left, right = named(a, of), named(b, of)
    names: Collection[str] = dict.fromkeys((*left, *right))
    missing: tuple[str, ...] = ()
    if a.sampled or b.sampled:
        names = [name for name in left if name in right]
        missing = tuple(_sampled(a, b))
    rows: dict[tuple[Group, str, str, str, int], list[tuple[str, str]]] = {}
    same = 0
    for name in names:
        one, other = left.get(name), right.get(name)
        if one and other and (one.dtype, one.shape) == (other.dtype, other.shape):
            same += 1
        elif name not in covered:
            group, why, rank = _judged(of, name, one, other)
            rows.setdefault((group, why, _text(one), _text(other), rank), []).append((name, ""))
    found = [
        _difference(of, pattern, key, (left, right), (a, b))
        for key, lines in rows.items()
        for pattern, _ in collapsed(lines)
    ]
    return found, same, missing


def named(seen: Look, of: Of) -> Mapping[str, Tensor]:
    """The tensors under their common names: without the prefixes of wrappers, ``midlayer.`` as ``layers.0.``."""
    tensors = view(seen.checkpoint).tensors
    if of == "drafter":
        return tensors
    return {_unwrapped(name): tensor for name, tensor in tensors.items()}


def _unwrapped(name: str) -> str:
    while found := _WRAPPER.match(name):
        name = name[found.end() :]
    return name


def _judged(of: Of, name: str, one: Tensor | None, other: Tensor | None) -> tuple[Group, str, int]:
    known = knowledge.find(of, "tensor", name)
    rank = known.rank if known else len(knowledge.everything())
    if one and other and one.shape == other.shape:
        if {one.dtype, other.dtype} <= _PLAIN:
            return Group.NOTHING, "stored in another type; engines convert it to the one they run in", rank
        if {one.dtype, other.dtype} <= _WHOLE:
            return Group.NOTHING, "the same integers in another type", rank
    return (known.group, known.why, rank) if known else (Group.UNKNOWN, _UNKNOWN_WHY, rank)


def _difference(
    of: Of,
    pattern: str,
    key: tuple[Group, str, str, str, int],
    tables: tuple[Mapping[str, Tensor], Mapping[str, Tensor]],
    looks: tuple[Look, Look],
) -> Difference:
    group, why, one, other, rank = key
    first = re.sub(r"\{(\d+)\.\.\d+\}", r"\1", pattern)
    known = knowledge.find(of, "tensor", first)
    facts = known.facts if known and known.group is group else ()
    values = tuple(
        Value(text=text, at=_at(seen, table.get(first)))
        for text, table, seen in zip((one, other), tables, looks, strict=True)
    )
    return Difference(
        kind="tensor",
        name=pattern,
        a=values[0],
        b=values[1],
        group=group,
        why=why,
        says=tuple(fact.spoken() for fact in facts),
        evidence=tuple(item for fact in facts for item in fact.evidence()),
        rank=rank,
        count=_count(pattern),
    )


def _at(seen: Look, tensor: Tensor | None) -> Location | None:
    return seen.tensors.at(tensor.name) if tensor and seen.tensors else None


def _text(tensor: Tensor | None) -> str:
    return f"{tensor.dtype} {list(tensor.shape)}" if tensor else _ABSENT


def _count(pattern: str) -> int:
    count = 1
    for first, last in re.findall(r"\{(\d+)\.\.(\d+)\}", pattern):
        count *= int(last) - int(first) + 1
    return count


def _sampled(a: Look, b: Look) -> Iterator[str]:
    for name, seen in (("A", a), ("B", b)):
        if seen.sampled:
            yield (
                f"{name} has {seen.files} weight files, of which the headers of two were read: only tensors found on "
                "both sides were compared"
            )
