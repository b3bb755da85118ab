"""What a checkpoint is, on one screen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from drafter_lint.drafters import BlockDrafter, Drafter, DraftModel, Eagle, Recognition, Unsupported
from drafter_lint.renderers.ink import paint, plain, plural, size, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.report import Cost, Subject
from drafter_lint.targets import Target

_WORD = 24


def facts(recognition: Recognition, target: Target | None) -> Mapping[str, object]:
    """What is known of a checkpoint, by name, for text and JSON alike; what is not known is left out."""
    drafter = recognition.drafter
    known: dict[str, object] = {
        "what": drafter.title,
        "layout": drafter.layout.value,
        "method": drafter.method,
        "because": [reason for match in recognition.matches for reason in match.reasons],
        "architecture": drafter.architecture.value if drafter.architecture else None,
        "model_type": drafter.model_type.value if drafter.model_type else None,
        "conflicts": [f"{item.config_says} / {item.tensors_say}" for item in recognition.conflicts],
        "trained_for": [f"{claim.target.value} ({claim.source})" for claim in drafter.claims],
    }
    known |= _eagle(drafter) if isinstance(drafter, Eagle) else _other(drafter) | _target(target)
    return {key: value for key, value in known.items() if value not in (None, "", [], ())}


def as_json(subject: Subject, known: Mapping[str, object], troubles: tuple[str, ...], cost: Cost, style: Style) -> str:
    """One JSON object: the name, every fact, what could not be read, what reading cost."""
    entry = {
        "schema": 1,
        "spelling": subject.spelling,
        "name": subject.name,
        "commit": subject.commit,
        **known,
        "not_read": list(troubles),
        "io": {"requests": cost.requests, "bytes": cost.bytes, "seconds": cost.seconds},
    }
    return json.dumps(entry, indent=2, ensure_ascii=not style.unicode) + "\n"


def render(subject: Subject, known: Mapping[str, object], troubles: tuple[str, ...], cost: Cost, style: Style) -> str:
    """The screen."""
    lines = [paint(line, style, "bold") for line in wrapped(subject.shown, style, first=" ", rest="   ")]
    lines += _rows(known, troubles, style)
    if cost.requests and not style.quiet:
        lines.append(f" {plural(cost.requests, 'request')}, {size(cost.bytes)}, {cost.seconds:.1f} s")
    return plain(lines, style)


def _rows(known: Mapping[str, object], troubles: tuple[str, ...], style: Style) -> Iterator[str]:
    for name, value in known.items():
        word = name.replace("_", " ") if name != "model_type" else name
        for index, said in enumerate(value if isinstance(value, list) else [value]):
            text = {True: "yes", False: "no"}[said] if isinstance(said, bool) else str(said)
            yield from wrapped(text, style, first=f"   {'' if index else word:<{_WORD}}", rest=" " * (_WORD + 3))
    for trouble in troubles:
        yield from wrapped(f"not read: {trouble}", style, first=" ! ", rest="   ")


def _eagle(drafter: Eagle) -> dict[str, object]:
    def value(located: object) -> object:
        return getattr(located, "value", None)

    return {
        "hidden_size": value(drafter.hidden_size),
        "target_hidden_size": value(drafter.target_hidden_size),
        "vocabulary": value(drafter.vocab_size),
        "draft_vocabulary": value(drafter.draft_vocab_size),
        "states_joined_by_fc": drafter.states,
        "fc": f"{list(drafter.fc.shape)}" if drafter.fc else None,
        "attention": drafter.attention,
        "layers": drafter.layers_in_file or value(drafter.num_layers),
        "layer_ids": [f"{list(item.ids.value)} ({item.place})" for item in drafter.layer_ids],
        "own_lm_head": "lm_head.weight" in drafter.canonical,
        "own_embed_tokens": "embed_tokens.weight" in drafter.canonical,
        "d2t": "d2t" in drafter.canonical,
        "names_stripped": drafter.prefix,
        "written_by": drafter.writer,
    }


def _other(drafter: Drafter) -> dict[str, object]:
    if isinstance(drafter, Unsupported):
        return {}
    common: dict[str, object] = {
        "hidden_size": drafter.hidden_size.value if drafter.hidden_size else None,
        "vocabulary": drafter.vocab_size.value if drafter.vocab_size else None,
        "layers": drafter.layers_in_file or (drafter.num_layers.value if drafter.num_layers else None),
        "names_stripped": "" if isinstance(drafter, DraftModel) else drafter.prefix,
        "written_by": drafter.writer,
    }
    if not isinstance(drafter, BlockDrafter):
        return common
    return common | {
        "states_joined_by_fc": drafter.states,
        "fc": f"{list(drafter.fc.shape)}" if drafter.fc else None,
        "attention": drafter.attention,
        "layer_ids": [f"{list(item.ids.value)} ({item.place}, {drafter.counts})" for item in drafter.layer_ids],
        "block_size": drafter.block_size.value if drafter.block_size else None,
        "mask_token": drafter.mask_token.value if drafter.mask_token else None,
        "own_lm_head": "lm_head.weight" in drafter.canonical,
        "own_embed_tokens": "embed_tokens.weight" in drafter.canonical,
    }


def _target(target: Target | None) -> dict[str, object]:
    if target is None:
        return {}
    return {
        "as_a_target": target.title,
        "text_config": target.text.base or "/",
        "quantization": target.quantization.value if target.quantization else None,
        "mtp_layers": target.mtp_layers.value if target.mtp_layers else None,
    }
