"""What follows from a comparison for whoever wants to put one checkpoint in the place of the other."""

from __future__ import annotations

from drafter_lint.comparing.model import Of
from drafter_lint.drafters import BlockDrafter, Eagle
from drafter_lint.looking import Look


def conclusion(a: Look, b: Look, of: Of) -> str:
    """One sentence; "" if nothing follows."""
    return _targets(a, b) if of == "target" else _drafters(a, b)


def _targets(a: Look, b: Look) -> str:
    if a.target is None or b.target is None:
        return ""
    sizes = [
        (name, getattr(a.target, key), getattr(b.target, key))
        for name, key in (("hidden size", "hidden_size"), ("layers", "num_layers"), ("vocabulary", "vocab_size"))
    ]
    if not all(left and right for _, left, right in sizes):
        return ""
    apart = [f"{name} {left.value} against {right.value}" for name, left, right in sizes if left.value != right.value]
    if apart:
        return f"a drafter of the one does not fit the other: {', '.join(apart)}"
    return (
        f"the same in all that a drafter's shapes depend on ({a.target.title}): a drafter of the one loads beside the "
        "other; whether it drafts well there does not show in shapes"
    )


def _drafters(a: Look, b: Look) -> str:
    one, other = a.drafter, b.drafter
    if one.method and other.method and one.method != other.method:
        return "two methods: each is started with flags of its own"
    if not isinstance(one, (Eagle, BlockDrafter)) or not isinstance(other, (Eagle, BlockDrafter)):
        return ""
    if type(one) is not type(other):
        return "two methods: each is started with flags of its own"
    widths = [
        (drafter.state_width, drafter.vocab_size.value if drafter.vocab_size else None) for drafter in (one, other)
    ]
    (width, vocabulary), (second, ids) = widths
    if None in (width, vocabulary, second, ids):
        return ""
    if widths[0] == widths[1]:
        return (
            f"both are built for targets of hidden size {width} and vocabulary {vocabulary}: shapes do not say which "
            "of them belongs to a target"
        )
    return f"built for two targets: hidden size {width} and vocabulary {vocabulary}, against {second} and {ids}"
