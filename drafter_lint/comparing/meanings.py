"""What two checkpoints mean, where that is worked out from several places: methods, maps, claims, captured states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.checkpoint import VocabMap
from drafter_lint.comparing.captured import boundaries
from drafter_lint.comparing.hooks import hooks
from drafter_lint.comparing.model import Of, Value
from drafter_lint.comparing.values import shown_list
from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.drafters.claims import OWN_NAME
from drafter_lint.drafters.view import view
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence, Location
from drafter_lint.looking import Look

_IDS = ("eagle_aux_hidden_state_layer_ids", "eagle_config.eagle_aux_hidden_state_layer_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One thing that is not the same, worked out.

    Attributes:
        name: what it is called.
        a: the one side.
        b: the other.
        says: what more there is to say.
        evidence: where the engines' part of that is to be seen.
        covers: the fields and tensors that it tells for good.
    """

    name: str
    a: Value
    b: Value
    says: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    covers: tuple[str, ...] = ()


def meanings(a: Look, b: Look, of: Of) -> Iterator[Meaning]:
    """Everything worked out that differs."""
    if of == "target":
        yield from _architectures(a, b)
        # The tokenizers of two targets belong here, once they are read.
        return
    yield from _plain("method", a.drafter.method or "not known", b.drafter.method or "not known")
    yield from _claims(a, b)
    one, other = a.drafter, b.drafter
    if isinstance(one, (Eagle, BlockDrafter)) and isinstance(other, (Eagle, BlockDrafter)):
        yield from _plain("attention", one.attention, other.attention)
        yield from _plain("states joined by fc", _states(one), _states(other))
    if not isinstance(one, Eagle) or not isinstance(other, Eagle):
        return
    if "mla" not in (one.attention, other.attention):
        yield from _plain("tensor names", _names(a), _names(b))
    yield from _vocabulary(a, b, one, other)
    yield from _boundaries(one, other)


def _plain(name: str, one: str, other: str, *, covers: tuple[str, ...] = ()) -> Iterator[Meaning]:
    """A difference between two texts; where one side does not know, there is none to tell."""
    if one and other and one != other:
        yield Meaning(name=name, a=Value(text=one), b=Value(text=other), covers=covers)


def _states(drafter: Eagle | BlockDrafter) -> str:
    if (isinstance(drafter, Eagle) and drafter.generation == 1) or not drafter.canonical:
        return ""
    if drafter.fc is None:
        return "none: no fc"
    return f"{drafter.states} x {drafter.state_width}" if drafter.states else ""


def _names(seen: Look) -> str:
    if seen.tensors is None:
        return ""
    written = view(seen.checkpoint).written
    stem = "midlayer.*" if any(name.startswith("midlayer.") for name in written) else "layers.0.*"
    prefix = getattr(seen.drafter, "prefix", "")
    return f"{prefix}{stem}"


def _claims(a: Look, b: Look) -> Iterator[Meaning]:
    sides = [
        {claim.target.value: claim for claim in seen.drafter.claims if claim.source != OWN_NAME} for seen in (a, b)
    ]
    if not any(sides) or set(sides[0]) == set(sides[1]):
        return
    left, right = (
        Value(
            text=", ".join(f"{name} ({claim.source})" for name, claim in side.items()) or "nothing said",
            at=next((claim.target.at for claim in side.values()), None),
        )
        for side in sides
    )
    said = ("speculators_config.verifier.name_or_path", "target_model_name_or_path", "base_model_name_or_path")
    covers = (*said, "speculators_config.verifier.architectures", "_name_or_path")
    yield Meaning(name="trained for", a=left, b=right, covers=covers)


def _vocabulary(a: Look, b: Look, one: Eagle, other: Eagle) -> Iterator[Meaning]:
    left, right = _drafted(one), _drafted(other)
    if left != right and left and right:
        covers = ("draft_vocab_size",) if one.draft_vocab_size and other.draft_vocab_size else ()
        yield from _plain("drafted vocabulary", left, right, covers=(*covers, "d2t", "t2d"))
        return
    maps = _map(a), _map(b)
    if maps[0] is None or maps[1] is None or maps[0][0] == maps[1][0]:
        return
    (first, place), (second, elsewhere) = maps[0], maps[1]
    differ = sum(x != y for x, y in zip(first, second, strict=False)) + abs(len(first) - len(second))
    ours, theirs = set(first), set(second)
    told = (
        f"{differ} of {max(len(first), len(second))} entries lead elsewhere; {len(ours & theirs)} ids are drafted by "
        f"both, {len(ours - theirs)} by A alone, {len(theirs - ours)} by B alone"
    )
    yield Meaning(
        name="d2t",
        a=Value(text=shown_list(first), at=place),
        b=Value(text=shown_list(second), at=elsewhere),
        says=(told,),
        covers=("t2d",),
    )


def _drafted(drafter: Eagle) -> str:
    """``32000 of 163840, d2t``."""
    if drafter.vocab_size is None or not drafter.canonical:
        return ""
    head = drafter.canonical.get("lm_head.weight")
    declared = drafter.draft_vocab_size
    rows = head.shape[0] if head and head.shape else declared.value if declared else drafter.vocab_size.value
    return f"{rows} of {drafter.vocab_size.value}, {'d2t' if 'd2t' in drafter.canonical else 'no map'}"


def _map(seen: Look) -> tuple[tuple[int, ...], Location | None] | None:
    """The target id of each draft id, and where the map stands; None without a map that can be read."""
    try:
        read: VocabMap = seen.checkpoint.vocab_map
    except Unavailable:
        return None
    if read.targets is None or read.d2t_tensor is None or seen.tensors is None:
        return None
    return read.targets, seen.tensors.at(read.d2t_tensor.name)


def _boundaries(one: Eagle, other: Eagle) -> Iterator[Meaning]:
    """Layer ids as the states they stand for, where the depth of the target is known."""
    left, right = boundaries(one), boundaries(other)
    if left is None or right is None:
        return
    if left.need.boundaries == right.need.boundaries and left.need.boundaries is not None:
        return
    yield Meaning(
        name="boundaries",
        a=Value(text=left.text, at=left.at),
        b=Value(text=right.text, at=right.at),
        says=tuple(dict.fromkeys((f"A: {left.need.reason}", f"B: {right.need.reason}", left.depth, right.depth))),
        covers=_IDS,
    )


def _architectures(a: Look, b: Look) -> Iterator[Meaning]:
    """Another class: whether each release lets it hand over auxiliary states."""
    if a.target is None or b.target is None or a.target.architecture is None or b.target.architecture is None:
        return
    one, other = a.target.architecture, b.target.architecture
    if one.value == other.value:
        return
    both = list(zip(hooks(one.value), hooks(other.value), strict=True))
    yield Meaning(
        name="architectures",
        a=Value(text=one.value, raw=[one.value], at=one.at),
        b=Value(text=other.value, raw=[other.value], at=other.at),
        says=tuple(f"{left.engine}: A {left.says}; B {right.says}" for left, right in both),
        evidence=tuple(left.evidence for left, _ in both),
        covers=("architectures",),
    )
