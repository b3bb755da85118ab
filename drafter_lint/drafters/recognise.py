"""What a checkpoint is, with reasons: from its config and its tensor names, the tensors deciding."""

from __future__ import annotations

from collections.abc import Iterator

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import apart, block, eagle, language_model, mtp, sizes
from drafter_lint.drafters.block import BLOCKS
from drafter_lint.drafters.heads import HEADS
from drafter_lint.drafters.known import Known
from drafter_lint.drafters.layout import Family, Layout
from drafter_lint.drafters.model import Conflict, Drafter, Match, Recognition
from drafter_lint.drafters.mtp import MTPS
from drafter_lint.drafters.view import View, view

_KNOWN: dict[Layout, Known] = {
    known.layout: known for known in (*BLOCKS, *MTPS, *HEADS, language_model.PARD, apart.NAMED_ONLY)
}
#: Names that belong to some drafter; without any of them the tensors are something else's than a drafter's.
_OF_DRAFTERS = ("fc.", "layers.0.", "lm_head", "d2t", "embed_tokens.")


def recognise(checkpoint: Checkpoint) -> Recognition:
    """Recognise a checkpoint; total: never raises on what the files say, or on what cannot be read of them."""
    seen = view(checkpoint)
    if (match := _apart(seen)) is not None:
        return match
    named = _named(seen)
    shown = _shown(seen, named)
    if shown is None and (named is None or _contradicted(seen)):
        return _by_files(seen) or _unknown(seen)
    conflict = _conflict(seen, shown, named)
    layout = _settled(seen, shown, named if conflict is None else None)
    if layout is Layout.DRAFT_MODEL and (size := language_model.too_large(seen)):
        drafter: Drafter = apart.something(seen, Layout.NOT_A_DRAFTER, method="draft_model", title=f"a target: {size}")
        return Recognition(matches=(Match(Layout.NOT_A_DRAFTER, (size,)),), drafter=drafter)
    reasons = shown.reasons if shown else named.reasons if named else ()
    matches = (Match(layout, reasons), *((named,) if named and conflict else ()))
    return Recognition(matches=matches, drafter=_built(seen, layout), conflicts=(conflict,) if conflict else ())


def _apart(seen: View) -> Recognition | None:
    """What is no drafter, by marks no drafter has."""
    for title, reasons in (
        ("a LoRA adapter", apart.adapter(seen)),
        ("an FR-Spec token map", apart.token_map(seen)),
        ("training state", apart.training_state(seen)),
    ):
        if reasons:
            drafter = apart.something(seen, Layout.NOT_A_DRAFTER, title=title)
            return Recognition(matches=(Match(Layout.NOT_A_DRAFTER, reasons),), drafter=drafter)
    return None


def _shown(seen: View, named: Match | None) -> Match | None:
    """The layout the tensors show."""
    eagles = eagle.by_tensors(seen)
    if eagles and eagles.layout.family == "eagle3":
        return eagles
    for known in _KNOWN.values():
        if reasons := known.shown(seen):
            return Match(known.layout, reasons)
    if eagles and not (named and named.layout.family == "block"):
        # An fc of [H, 2H] over plain layers is weak evidence: block drafters of two states look the same.
        return eagles
    reasons = language_model.shown(seen)
    if reasons:
        parallel = bool(language_model.PARD.named(seen))
        return Match(Layout.PARD if parallel else Layout.DRAFT_MODEL, reasons)
    return None


def _named(seen: View) -> Match | None:
    """The layout the config names: what was made to name it first, then the architecture, then other keys."""
    found = list(_all_named(seen))
    if not found:
        return None
    best = min(found, key=lambda match: _strength(match.reasons[0]))
    if best.layout is Layout.DFLASH:
        # The backbone's name over fields of a head on it: exporters keep the class and add the head.
        return next((match for match in found if match.layout.family == "block"), best)
    return best


def _all_named(seen: View) -> Iterator[Match]:
    for known in _KNOWN.values():
        if reasons := known.named(seen):
            yield Match(known.layout, reasons)
    if match := eagle.by_config(seen):
        yield match
    if reasons := language_model.named(seen):
        yield Match(Layout.DRAFT_MODEL, reasons)


def _strength(reason: str) -> int:
    words = ("speculators_model_type", "architecture", "model_type", "config key")
    place = next((rank for rank, word in enumerate(words) if reason.startswith(word)), len(words))
    # An ordinary architecture is worth less than any field only drafters have.
    generic = reason.endswith(("ForCausalLM", "ForConditionalGeneration")) and "Eagle" not in reason
    return len(words) + 1 if generic and place == 1 else place


def _settled(seen: View, shown: Match | None, named: Match | None) -> Layout:
    """One layout of both: the tensors decide the family and the head, the config which writer's spelling it is."""
    first = shown.layout if shown else None
    second = named.layout if named and (shown is None or named.layout.family == shown.layout.family) else None
    decide = {"block": block.settle, "mtp": mtp.settle, "eagle1": eagle.settle, "eagle3": eagle.settle}
    family: Family = (first or second or Layout.UNKNOWN).family
    return decide[family](seen, first, second) if family in decide else first or second or Layout.UNKNOWN


def _built(seen: View, layout: Layout) -> Drafter:
    if layout.family in {"eagle1", "eagle3"}:
        return eagle.build(seen, layout)
    if layout is Layout.DRAFT_MODEL:
        return language_model.build(seen, layout)
    known = _KNOWN.get(layout)
    # A layout that settle() alone decides upon is read like its neighbours.
    build = known.build if known else {"block": block.build, "mtp": mtp.build}[layout.family]
    return build(seen, layout)


def _by_files(seen: View) -> Recognition | None:
    """What only file names tell: weights that are never opened."""
    if reasons := apart.gguf(seen):
        drafter: Drafter = apart.something(seen, Layout.GGUF, title="a GGUF file, which is not read")
        return Recognition(matches=(Match(Layout.GGUF, reasons),), drafter=drafter)
    if seen.readable:
        return None
    for known in _KNOWN.values():
        if reasons := known.filed(seen):
            return Recognition(matches=(Match(known.layout, reasons),), drafter=known.build(seen, known.layout))
    if reason := sizes.weighs_as_eagle1(seen):
        return Recognition(matches=(Match(Layout.EAGLE1, (reason,)),), drafter=eagle.build(seen, Layout.EAGLE1))
    return None


def _unknown(seen: View) -> Recognition:
    if seen.readable:
        return Recognition(matches=(), drafter=apart.something(seen, Layout.UNKNOWN, title="unknown layout"))
    matches = _either(seen)
    what = "EAGLE-1/2 or an ordinary language model" if matches else "unknown layout"
    title = f"{what} (tensor names could not be read)"
    return Recognition(matches=matches, drafter=apart.something(seen, Layout.UNKNOWN, title=title))


def _either(seen: View) -> tuple[Match, ...]:
    """What a config of an ordinary class and one or two layers stands for: it is written in both ways."""
    declared = seen.config.integer("num_hidden_layers")
    name = seen.architecture.value if seen.architecture else ""
    if not name.endswith("ForCausalLM") or not declared or declared.value > 2:
        return ()
    reasons = (f"architecture {name}", f"{declared.value} layer{'s' if declared.value > 1 else ''}")
    return (Match(Layout.EAGLE1, reasons), Match(Layout.DRAFT_MODEL, reasons))


def _contradicted(seen: View) -> bool:
    """True if tensors were read and none of them belongs to a drafter the config might mean."""
    return seen.readable and bool(seen.tensors) and not seen.any_with(*_OF_DRAFTERS)


def _conflict(seen: View, shown: Match | None, named: Match | None) -> Conflict | None:
    """Where the config names another thing than the tensors show."""
    if shown is None or named is None or named.layout in (shown.layout, Layout.DRAFT_MODEL):
        return None
    left, right = named.layout.family, shown.layout.family
    if left == right:
        at_odds = left == "block" and block.at_odds(seen, shown.layout, named.layout)
        return _told(seen, named, shown) if at_odds else None
    if named.reasons == (eagle.GENERIC,):
        # draft_vocab_size and the like stand in block drafters' configs as well.
        return _told(seen, named, shown) if right in {"language_model", "eagle1"} else None
    return _told(seen, named, shown)


def _told(seen: View, named: Match, shown: Match) -> Conflict:
    first = next(iter(seen.tensors.values()), None)
    places = [seen.config.at("architectures", "0") if seen.architecture else seen.config.at("speculators_model_type")]
    places += [seen.checkpoint.tensors.at("fc.weight" if seen.has("fc.weight") else first.name)] if first else []
    return Conflict(
        config_says=f"{named.layout}: {'; '.join(named.reasons)}",
        tensors_say=f"{shown.layout}: {'; '.join(shown.reasons)}",
        locations=tuple(places),
    )
