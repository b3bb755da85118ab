"""What a checkpoint is, on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from drafter_lint.findings import Located
from drafter_lint.inspection import Inspection
from drafter_lint.renderers.ink import paint, plain, plural, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.summary import spent
from drafter_lint.targets import Target

if TYPE_CHECKING:  # the text needs no pydantic
    from drafter_lint.renderers.inspection_models import TargetModel

_WORD = 16
#: Drafters and copies named without -v.
_NAMED = 4
_MEANS = {
    "H": "width",
    "Ht": "the target's",
    "K": "states",
    "V": "vocabulary",
    "Vd": "drafted",
    "n": "layers",
}


def render(seen: Inspection, style: Style) -> str:
    """The screen."""
    return plain(_lines(seen, style), style)


def as_json(seen: Inspection, style: Style) -> str:
    """One JSON object in the shape of schemas/inspection.schema.json."""
    from drafter_lint.renderers import inspection_models as models  # noqa: PLC0415 - brings pydantic
    from drafter_lint.renderers.json_models import CostModel, ToolModel, dumped  # noqa: PLC0415
    from drafter_lint.renderers.json_text import written  # noqa: PLC0415
    from drafter_lint.renderers.tool_version import tool_version  # noqa: PLC0415

    look, subject, cost = seen.look, seen.subject, seen.cost
    drafter, target = look.drafter, (look.target if look.is_model else None) or seen.hearsay
    model = models.InspectionModel(
        tool=ToolModel(name="drafter-lint", version=tool_version()),
        spelling=subject.spelling,
        name=subject.name,
        commit=subject.commit,
        kind=_kind(seen),
        title=subject.title,
        layout=drafter.layout.value,
        method=drafter.method or None,
        because=tuple(_because(seen)),
        conflicts=tuple(_conflicts(seen)),
        architecture=_value(drafter.architecture),
        model_type=_value(drafter.model_type),
        written_by=_writer(seen) or None,
        needs=seen.needs,
        symbols=seen.symbols,
        parts=tuple(
            models.PartModel(
                name=part.tensor.name,
                dtype=part.tensor.dtype,
                shape=part.tensor.shape,
                symbols=part.symbols,
                fits=part.fits,
            )
            for part in seen.parts
        ),
        vocabulary_map=seen.vocabulary_map or None,
        trained_for=tuple(models.ClaimModel(target=target, source=source) for target, source in seen.provenance),
        wanted=tuple(
            models.WantedModel(engine=item.engine, version=item.version, argv=item.argv) for item in seen.wanted
        ),
        target=_target_model(seen, target) if target else None,
        weights=models.WeightsModel(
            files=look.files,
            sampled=look.sampled,
            tensors=None if look.tensors is None else len(look.tensors),
            unopened=look.unopened,
        ),
        not_read=tuple(map(str, look.troubles)),
        io=CostModel.of(cost),
    )
    return written(dumped(model), style)


def _lines(seen: Inspection, style: Style) -> Iterator[str]:
    subject, look = seen.subject, seen.look
    for line in wrapped(subject.shown, style, first=" ", rest="   "):
        yield paint(line, style, "bold")
    yield from _row("what", [subject.title or "nothing of it could be read"], style)
    if not look.is_model:
        yield from _row("layout", [look.drafter.layout.value], style)
    yield from _row("because", _because(seen), style)
    yield from _row("conflict", _conflicts(seen), style)
    yield from _row("architecture", [f"{name}{kind}" for name, kind in _classes(seen)], style)
    yield from _row("needs", seen.needs, style)
    if seen.symbols and not look.is_model:
        yield from _row("shapes", [_symbols(seen)], style)
    yield from _row("", (_part(seen, index) for index in range(len(seen.parts))), style)
    yield from _row("vocabulary map", [seen.vocabulary_map] if seen.vocabulary_map else [], style)
    if look.target and look.is_model:
        yield from _target(seen, look.target, style)
    elif seen.hearsay:
        yield from _row("as a target", [seen.hearsay.title], style)
        yield from _drafting(seen, style)
    yield from _row("written by", [_writer(seen)] if _writer(seen) else [], style)
    yield from _row("trained for", (f"{target} ({source})" for target, source in seen.provenance), style)
    for item in seen.wanted:
        yield from _row(f"{item.engine} {item.version}", [item.text], style)
    yield from _row("weights", _weights(seen), style)
    for trouble in look.troubles:
        yield from wrapped(f"not read: {trouble}", style, first=" ! ", rest="   ")
    cost = seen.cost
    if (said := spent(cost)) and not style.quiet:
        yield f" {', '.join(said)}"


def _row(word: str, said: Iterable[str], style: Style) -> Iterator[str]:
    for index, text in enumerate(said):
        yield from wrapped(text, style, first=f"   {'' if index else word:<{_WORD}}  ", rest=" " * (_WORD + 5))


def _kind(seen: Inspection) -> Literal["drafter", "model", "unknown"]:
    if seen.look.is_model and seen.symbols:
        return "model"
    return "drafter" if seen.look.drafter.method else "unknown"


def _because(seen: Inspection) -> Iterator[str]:
    for match in seen.look.recognition.matches:
        yield from match.reasons


def _conflicts(seen: Inspection) -> Iterator[str]:
    for item in seen.look.recognition.conflicts:
        yield f"the config says {item.config_says}; the tensors say {item.tensors_say}"


def _classes(seen: Inspection) -> Iterator[tuple[str, str]]:
    """Class and type, the language model's own behind the wrapper's."""
    drafter, target = seen.look.drafter, seen.look.target
    name, kind = _value(drafter.architecture), _value(drafter.model_type)
    if name or kind:
        yield name or "no architecture", f", model_type {kind}" if kind else ""
    if target and target.text.base:
        yield (
            _value(target.text_architecture) or "",
            f" inside, under {target.text.base}, model_type {_value(target.text_model_type)}",
        )


def _symbols(seen: Inspection) -> str:
    return ", ".join(f"{name} {number} ({_MEANS[name]})" for name, number in seen.symbols.items())


def _part(seen: Inspection, index: int) -> str:
    part = seen.parts[index]
    if not part.symbols:
        return part.tensor.shown
    return (
        f"{part.tensor.name} {part.symbols} = {list(part.tensor.shape)}"
        if part.fits
        else (f"{part.tensor.shown}, where {part.symbols} was to be expected")
    )


def _target(seen: Inspection, target: Target, style: Style) -> Iterator[str]:
    sizes = (
        ("attention heads", target.num_attention_heads),
        ("context", target.max_position_embeddings),
        ("quantization", target.quantization),
        ("prediction layers inside (MTP)", target.mtp_layers),
    )
    said = [f"{name} {value.value}" for name, value in sizes if value]
    said += ["the head is the embedding"] if target.tie_word_embeddings and target.tie_word_embeddings.value else []
    yield from _row("as a target", [", ".join(said)] if said else [], style)
    yield from _drafting(seen, style)


def _drafting(seen: Inspection, style: Style) -> Iterator[str]:
    """Who lets it be drafted for, and with what."""
    hooks = (f"{item.engine} {item.says}" for item in seen.hooks)
    yield from _row("EAGLE-3 states", hooks, style)
    yield from _row("drafters for it", _few(seen.known_for, style), style)
    yield from _row("copies", _few(seen.copies, style), style)


def _few(names: tuple[str, ...], style: Style) -> list[str]:
    if not names:
        return []
    shown = names if style.verbose else names[:_NAMED]
    more = f" and {len(names) - len(shown)} more (-v)" if len(names) > len(shown) else ""
    return [f"{', '.join(shown)}{more}: the catalogue's"]


def _weights(seen: Inspection) -> Iterator[str]:
    look = seen.look
    if look.sampled:
        names = " and ".join(look.sampled)
        yield f"{plural(look.files, 'file')}, of which only the headers of {names} were read"
    elif look.tensors is not None:
        yield f"{plural(len(look.tensors), 'tensor')} in {plural(look.files, 'file')}"
    if look.unopened:
        yield f"{', '.join(look.unopened[:_NAMED])}: never opened"


def _writer(seen: Inspection) -> str:
    return str(getattr(seen.look.drafter, "writer", ""))


def _value(located: Located[str] | None) -> str | None:
    return located.value if located else None


def _target_model(seen: Inspection, target: Target) -> TargetModel:
    from drafter_lint.renderers import inspection_models as models  # noqa: PLC0415 - brings pydantic

    return models.TargetModel(
        architecture=_value(target.architecture),
        text_architecture=_value(target.text_architecture),
        model_type=_value(target.model_type),
        text_model_type=_value(target.text_model_type),
        text_config=target.text.base or "/",
        hidden_size=_integer(target.hidden_size),
        num_layers=_integer(target.num_layers),
        vocab_size=_integer(target.vocab_size),
        num_attention_heads=_integer(target.num_attention_heads),
        max_position_embeddings=_integer(target.max_position_embeddings),
        tie_word_embeddings=target.tie_word_embeddings.value if target.tie_word_embeddings else None,
        mtp_layers=_integer(target.mtp_layers),
        quantization=_value(target.quantization),
        auxiliary_states=tuple(models.HookModel(engine=item.engine, releases=item.spans) for item in seen.hooks),
        drafters=seen.known_for,
        copies=seen.copies,
        standin=target.standin or None,
    )


def _integer(located: Located[int] | None) -> int | None:
    return located.value if located else None
