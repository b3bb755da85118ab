"""What the small files beside a vocabulary declare: special tokens by id and by name, and tokens added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from drafter_lint.checkpoint.config import Config
from drafter_lint.checkpoint.document import Document
from drafter_lint.checkpoint.text import TEXT_KEYS
from drafter_lint.checkpoint.tokenizer.vocabulary import MAX_ID, AddedToken
from drafter_lint.findings import Located

CONFIG = "config.json"
GENERATION = "generation_config.json"
TOKENIZER = "tokenizer_config.json"
SPECIAL_MAP = "special_tokens_map.json"
ADDED = "added_tokens.json"

Part = Literal["bos", "eos", "pad"]
Documents = Callable[[str], Document | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialIds:
    """The ids of one special token, in every place that declares them.

    Attributes:
        part: which one.
        generation: of generation_config.json.
        config: of config.json, of the language model inside it if the whole names none.
        name: its text as tokenizer_config.json or special_tokens_map.json gives it.
        named: the id of that text among the added tokens, None if it is not among them.
    """

    part: Part
    generation: tuple[Located[int], ...] = ()
    config: tuple[Located[int], ...] = ()
    name: Located[str] | None = None
    named: int | None = None

    @property
    def everywhere(self) -> tuple[Located[int], ...]:
        """Every id declared, each once, generation_config.json first.

        Engines end an answer at any of them: sglang 0.5.23, configs/model_config.py, _get_hf_eos_token_id joins
        config.json and generation_config.json; vllm 0.33.0, sampling_params.py, update_from_generation_config takes
        those of generation_config.json, or of config.json where there is no such file, beside the tokenizer's own.
        """
        found: dict[int, Located[int]] = {}
        for located in (*self.generation, *self.config):
            found.setdefault(located.value, located)
        if self.named is not None and self.name is not None:
            found.setdefault(self.named, Located(self.named, self.name.at))
        return tuple(found.values())


def special_ids(part: Part, documents: Documents) -> SpecialIds:
    """Read the ids of a special token.

    Raises:
        Unavailable: a file that may declare them cannot be read.
    """
    key = f"{part}_token_id"
    generation, config = documents(GENERATION), documents(CONFIG)
    name = _name(f"{part}_token", documents)
    added = added_tokens(documents) if name else {}
    return SpecialIds(
        part=part,
        generation=_ids(Config(generation), key) if generation else (),
        config=_nested_ids(Config(config), key) if config else (),
        name=name,
        named=next((index for index, token in added.items() if name and token.text == name.value), None),
    )


def _nested_ids(config: Config, key: str) -> tuple[Located[int], ...]:
    found = _ids(config, key)
    for inner in TEXT_KEYS:
        nested = config.object(inner)
        if not found and nested is not None:
            found = _nested_ids(nested, key)
    return found


def _ids(config: Config, key: str) -> tuple[Located[int], ...]:
    one, several = config.integer(key), config.integers(key)
    if one is not None:
        return (one,)
    if several is None:
        return ()
    return tuple(Located(value, config.at(key, str(place))) for place, value in enumerate(several.value))


def _name(key: str, documents: Documents) -> Located[str] | None:
    for file in (TOKENIZER, SPECIAL_MAP):
        document = documents(file)
        if document is None:
            continue
        config = Config(document)
        name = config.string(key) or config.string(key, "content")
        if name is not None:
            return name
    return None


def added_tokens(documents: Documents) -> dict[int, AddedToken]:
    """The tokens that tokenizer_config.json and added_tokens.json put on top of a vocabulary, by id.

    Entries that are no ids or no tokens are left out: the files are made by hand as often as not.
    """
    added: dict[int, AddedToken] = {}
    older, newer = documents(ADDED), documents(TOKENIZER)
    for text, index in (older.root if older else {}).items():
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index <= MAX_ID:
            added[index] = AddedToken(text, special=False)
    added.update(_decoder(newer) if newer else ())
    return added


def _decoder(document: Document) -> Iterator[tuple[int, AddedToken]]:
    table = document.root.get("added_tokens_decoder")
    for key, entry in table.items() if isinstance(table, dict) else ():
        index = int(key) if len(key) < 10 and key.isascii() and key.isdigit() else MAX_ID + 1
        text = entry.get("content") if isinstance(entry, dict) else None
        if index <= MAX_ID and isinstance(entry, dict) and isinstance(text, str):
            yield index, AddedToken(text, special=entry.get("special") is True)
