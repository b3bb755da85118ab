"""The fields of two configurations under common names, wherever each of them keeps its layers' part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drafter_lint.checkpoint import Config
from drafter_lint.comparing import knowledge
from drafter_lint.comparing.model import Of
from drafter_lint.comparing.values import shown, shown_object
from drafter_lint.findings import JsonValue, Location
from drafter_lint.looking import Look

#: Where trainers and wrappers keep the decoder layers' fields of a drafter.
_LAYERS = ("transformer_layer_config", "model")
#: Fields that mean one thing outside a wrapper and another inside; the inner one is called ``text:architectures``.
_OUTER = ("architectures", "model_type", "auto_map", "transformers_version")
_INNER = "text:"


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a config under its common name."""

    name: str
    value: JsonValue
    at: Location

    @property
    def text(self) -> str:
        """As shown beside another."""
        return shown_object(self.value) if isinstance(self.value, dict) and self.value else shown(self.value)


def fields(seen: Look, of: Of) -> Mapping[str, Field]:
    """Every field by its common name; empty if config.json could not be read."""
    if seen.target is None:
        return {}
    whole = seen.checkpoint.config
    nested = _nested(seen, whole, of)
    found: dict[str, Field] = {}
    for field in _leaves(whole, of, skip=nested.base if nested else ""):
        found.setdefault(field.name, field)
    if nested is None:
        return found
    for field in _leaves(nested, of, skip=""):
        head = field.name.partition(".")[0]
        if head in _OUTER:
            found[_INNER + field.name] = Field(_INNER + field.name, field.value, field.at)
        else:
            found[field.name] = field  # the part that describes the layers has the last word on them
    return found


def inner_of(name: str) -> str:
    """What the outer field is called that an inner one is to be held against where the other side has no wrapper."""
    return name.removeprefix(_INNER)


def _nested(seen: Look, whole: Config, of: Of) -> Config | None:
    if of == "target":
        return seen.target.text if seen.target and seen.target.text.base else None
    return next((part for key in _LAYERS if (part := whole.object(key))), None)


def _leaves(config: Config, of: Of, *, skip: str) -> Iterator[Field]:
    def walk(part: Config, prefix: str) -> Iterator[Field]:
        for key, value in part.value.items():
            if skip and part.pointer(key) == skip:
                continue
            name = _common(f"{prefix}{key}", of)
            known = knowledge.find(of, "field", name)
            inside = part.object(key)
            if inside is None or not value or (known is not None and known.whole):
                yield Field(name, value, part.at(key))
            else:
                yield from walk(inside, f"{prefix}{key}.")

    yield from walk(config, "")


def _common(name: str, of: Of) -> str:
    """One name for all spellings: those the table lists, and the two ways of writing how positions are turned."""
    if name.startswith("rope_parameters."):
        name = {"rope_parameters.rope_theta": "rope_theta"}.get(name, name.replace("rope_parameters.", "rope_scaling."))
    if name == "rope_scaling.type":
        return "rope_scaling.rope_type"
    for known in knowledge.of(of, "field"):
        if known.one and name in known.names:
            return known.names[0]
    return name
