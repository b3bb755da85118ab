"""The catalogue's facts in the place of a target that cannot be read: labelled, less sure, and silent on all else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from drafter_lint import catalogue
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import JsonValue
from drafter_lint.sources.base import FileEntry, Identity
from drafter_lint.targets import Target, read_target

CONFIG = "config.json"
#: It is there, and not for us; whether a repository that is not found ever was there, nobody knows.
_TROUBLES = {Trouble.GATED, Trouble.DENIED, Trouble.OFFLINE, Trouble.UNREACHABLE}
#: Without these an entry was not taken from a whole config, and a field that it lacks is no field that is absent.
_NEEDED = (
    "architectures",
    "hidden_size",
    "num_hidden_layers",
    "vocab_size",
    "num_attention_heads",
    "num_key_value_heads",
    "max_position_embeddings",
)
#: What a wrapper says of itself; everything else belongs to the language model inside.
_OUTER = ("architectures", "model_type", "tie_word_embeddings", "torch_dtype")


def stand_in(target: Checkpoint, trouble: Unavailable) -> Target | None:
    """What the catalogue knows of a target of the Hub that could not be read; None if that is too little."""
    reference = target.reference
    if reference.kind != "hub" or reference.subfolder or trouble.trouble not in _TROUBLES:
        return None
    known = catalogue.target(reference.name)
    if known is None or any(fact not in known.facts for fact in _NEEDED):
        return None
    files = Checkpoint(reference, _Known(f"{reference.name} (the catalogue's)", _config(known), trouble), role="target")
    return replace(read_target(files), standin=known.said)


def _config(known: catalogue.Target) -> str:
    """A config.json that holds what is known. How it is quantised is left out: the name of a method is not enough."""
    facts = {name: value for name, value in known.facts.items() if name not in {"quant_method", "text_model_type"}}
    inner = known.facts.get("text_model_type")
    if inner is None or inner == facts.get("model_type"):
        return json.dumps(facts, indent=2)
    text: dict[str, JsonValue] = {name: value for name, value in facts.items() if name not in _OUTER}
    outer: dict[str, JsonValue] = {name: facts[name] for name in _OUTER if name in facts}
    return json.dumps({**outer, "text_config": {"model_type": inner, **text}}, indent=2)


class _Files(Mapping[str, FileEntry]):
    """A listing of which one file is known; of every other, whether it is there could not be read."""

    def __init__(self, size: int, trouble: Unavailable) -> None:
        self._entry = FileEntry(size)
        self._trouble = trouble

    def __getitem__(self, path: str) -> FileEntry:
        if path == CONFIG:
            return self._entry
        raise self._trouble

    def __contains__(self, path: object) -> bool:
        if path == CONFIG:
            return True
        raise self._trouble

    def __iter__(self) -> Iterator[str]:
        raise self._trouble

    def __len__(self) -> int:
        raise self._trouble


class _Known:
    """A source that has a config.json made of what is known, and for everything else the reason why it is not read."""

    def __init__(self, name: str, config: str, trouble: Unavailable) -> None:
        self._identity = Identity(name=name)
        self._config = config.encode()
        self._trouble = trouble

    @property
    def identity(self) -> Identity:
        """The id, and whose word this is."""
        return self._identity

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """config.json, and nothing else that could be told."""
        return _Files(len(self._config), self._trouble)

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """The made config.json.

        Raises:
            Unavailable: anything else was asked for.
        """
        if path != CONFIG:
            raise self._trouble
        return self._config[start : None if length is None else start + length]
