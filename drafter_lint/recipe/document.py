"""The recipe as a TOML document: the keys it may have, and how it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

TomlValue: TypeAlias = "str | int | Sequence[str] | Mapping[str, TomlValue]"

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*")


def _inside(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or "\\" in name or ".." in parts:
        raise ValueError("a file name must stay inside the folder")
    return name


FileName = Annotated[str, AfterValidator(_inside)]


#: Bytes, or another number that a file system can count.
Size = Annotated[int, Field(ge=0, lt=2**60)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Provenance(_Strict):
    """Which values were found somewhere, with the citation, and which were computed."""

    sourced: list[str] = Field(default_factory=list)
    computed: list[str] = Field(default_factory=list)


class Layout(_Strict):
    """How the tensors of ``model.safetensors`` are laid out over files."""

    shards: Annotated[int, Field(ge=0, le=100_000)] = 0
    index: bool = False


class Tokenizer(_Strict):
    """A generated tokenizer.json of one-word tokens, counted from ``first_word``."""

    words: Annotated[int, Field(ge=1, le=500_000)]
    first_word: Size = 0


class Damage(_Strict):
    """What was done to the files afterwards."""

    truncate: dict[FileName, Size] = Field(default_factory=dict)


class RecipeDocument(_Strict):
    """A recipe as written.

    ``config`` is the text of config.json (no file if it is absent), ``tensors`` holds per file the tensor lines,
    ``text`` other small files, ``opaque`` files of which only the size is known.
    """

    about: str = ""
    name: str = ""
    config: str | None = None
    provenance: Provenance = Provenance()
    layout: Layout = Layout()
    metadata: dict[str, str] | None = None
    tensors: dict[FileName, dict[str, str]] = Field(default_factory=dict)
    tokenizer: Tokenizer | None = None
    text: dict[FileName, str] = Field(default_factory=dict)
    opaque: dict[FileName, Size] = Field(default_factory=dict)
    damage: Damage = Damage()


def toml_table(values: Mapping[str, TomlValue], path: str = "") -> Iterable[str]:
    """The lines of a table: its own values first, then its sub-tables, as TOML wants them."""
    nested = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    if path and (plain or not nested):
        yield f"\n[{path}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, table in nested.items():
        yield from toml_table(table, f"{path}.{_key(key)}" if path else _key(key))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _basic(key)


def _value(value: TomlValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        readable = "\n" in value and "'''" not in value and not value.endswith("'") and _LITERAL.fullmatch(value)
        return f"'''\n{value}'''" if readable else _basic(value)
    return "[" + "".join(f"\n  {_basic(str(item))}," for item in value) + "\n]" if value else "[]"


def _basic(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped; lone surrogates cannot be written in either.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
