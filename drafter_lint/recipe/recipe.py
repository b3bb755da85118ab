"""A checkpoint written as text: its config.json, one line per tensor, the values that matter, its other small files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from drafter_lint.errors import UsageError
from drafter_lint.findings import JsonValue
from drafter_lint.recipe.build import (
    Content,
    LazyFiles,
    expanded,
    truncated,
    values_in,
    weight_files,
    weight_names,
    word_tokenizer,
    write_files,
)
from drafter_lint.recipe.document import RecipeDocument, TomlValue, toml_table
from drafter_lint.recipe.lines import TensorLine
from drafter_lint.recipe.patch import patched_config, patched_tensors, read_patch
from drafter_lint.sources.base import Tally
from drafter_lint.sources.memory import MemorySource, VirtualFile
from drafter_lint.userfile import parse_toml

_METADATA = {"format": "pt"}


def misread(place: str, error: Exception) -> str:
    """What is wrong with a recipe, and where it stands."""
    return f"{place}: not a recipe: {str(error).removeprefix('recipe: ')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A checkpoint as text.

    Nothing is expanded until files are asked for, so a recipe of a target with 200,000 tensors costs as little to load
    as its text.

    Attributes:
        about: one sentence.
        name: the Hub id it stands for, or "".
        config: the text of config.json as written, None if there is no such file.
        tensors: per safetensors file, tensor name (or pattern with ``{0..60}``) to its line.
        text: other small files, by name.
        opaque: files of which only the size in bytes is known (``pytorch_model.bin``).
        words: how many words the generated tokenizer.json holds, None for no such file.
        first_word: the number of its first word: other than 0, its ids are those of another tokenizer, shifted.
        shards: over how many files the tensors of ``model.safetensors`` are spread, 0 for that one file.
        index: True if a ``model.safetensors.index.json`` is generated; one among ``text`` takes its place.
        metadata: the ``__metadata__`` of every safetensors file.
        truncate: files cut to this many bytes.
        sourced: values found somewhere, each with its citation.
        computed: values worked out from others.
    """

    about: str = ""
    name: str = ""
    config: str | None = None
    tensors: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    text: Mapping[str, str] = field(default_factory=dict)
    opaque: Mapping[str, int] = field(default_factory=dict)
    words: int | None = None
    first_word: int = 0
    shards: int = 0
    index: bool = False
    metadata: Mapping[str, str] = field(default_factory=lambda: dict(_METADATA))
    truncate: Mapping[str, int] = field(default_factory=dict)
    sourced: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read a recipe from TOML.

        Raises:
            UsageError: the text is no TOML, or has keys or values a recipe does not know.
        """
        try:
            table = parse_toml(text)
        except ValueError as error:
            raise UsageError(f"recipe: {error}") from error
        return cls.from_table(table)

    @classmethod
    def from_table(cls, table: Mapping[str, object]) -> Recipe:
        """Read a recipe that is a table of a larger document.

        Raises:
            UsageError: the table has keys or values a recipe does not know.
        """
        try:
            document = RecipeDocument.model_validate(table)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise UsageError(f"recipe: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        return cls(
            about=document.about,
            name=document.name,
            config=document.config,
            tensors=document.tensors,
            text=document.text,
            opaque=document.opaque,
            words=document.tokenizer.words if document.tokenizer else None,
            first_word=document.tokenizer.first_word if document.tokenizer else 0,
            shards=document.layout.shards,
            index=document.layout.index,
            metadata=_METADATA if document.metadata is None else document.metadata,
            truncate=document.damage.truncate,
            sourced=tuple(document.provenance.sourced),
            computed=tuple(document.provenance.computed),
        )

    def toml(self) -> str:
        """The recipe as TOML, as :meth:`parse` reads it."""
        table: dict[str, TomlValue] = {"about": self.about, "name": self.name}
        if self.config is not None:
            table["config"] = self.config
        if self.sourced or self.computed:
            table["provenance"] = {"sourced": self.sourced, "computed": self.computed}
        if self.shards or self.index:
            table["layout"] = {"shards": self.shards, "index": self.index}
        if self.metadata != _METADATA:
            table["metadata"] = dict(self.metadata)
        if self.tensors:
            table["tensors"] = {file: dict(lines) for file, lines in self.tensors.items()}
        if self.words is not None:
            table["tokenizer"] = {"words": self.words} | ({"first_word": self.first_word} if self.first_word else {})
        if self.text:
            table["text"] = dict(self.text)
        if self.opaque:
            table["opaque"] = dict(self.opaque)
        if self.truncate:
            table["damage"] = {"truncate": dict(self.truncate)}
        return "\n".join(toml_table(table)) + "\n"

    @property
    def settings(self) -> dict[str, JsonValue]:
        """The value of config.json.

        Raises:
            UsageError: there is none, or it is no JSON object.
        """
        try:
            value = json.loads(self.config or "")
        except (ValueError, RecursionError) as error:
            raise UsageError(f"recipe: config: {error}") from error
        if not isinstance(value, dict):
            raise UsageError("recipe: config: is not an object")
        return value

    def table(self, file: str = "model.safetensors") -> dict[str, TensorLine]:
        """The tensors of one file by name, patterns expanded."""
        return expanded(self.tensors.get(file, {}))

    def values(self, tensor: str, file: str = "model.safetensors") -> tuple[int, ...]:
        """The values of one tensor.

        Raises:
            UsageError: the recipe gives it none.
        """
        return values_in(self.table(file), tensor)

    def _small(self) -> dict[str, bytes | VirtualFile]:
        """The files whose content stands in the recipe: no tensor is expanded for them."""
        config = {} if self.config is None else {"config.json": self.config}
        texts = {**config, **self.text}
        return {name: text.encode() for name, text in texts.items() if name not in self.truncate}

    def _names(self) -> Iterator[str]:
        """The names of all files, in no matter what order: no tensor is expanded for them either."""
        yield from () if self.config is None else ("config.json",)
        yield from weight_names(self.tensors, shards=self.shards, index=self.index)
        yield from () if self.words is None else ("tokenizer.json",)
        yield from (*self.text, *self.opaque)

    def files(self) -> dict[str, bytes | VirtualFile]:
        """Every file of the checkpoint."""
        files: dict[str, Content] = {}
        if self.config is not None:
            files["config.json"] = self.config.encode()
        files.update(weight_files(self.tensors, shards=self.shards, index=self.index, metadata=self.metadata or None))
        if self.words is not None:
            files["tokenizer.json"] = word_tokenizer(self.words, self.first_word)
        files.update({name: content.encode() for name, content in self.text.items()})
        files.update({name: VirtualFile(size) for name, size in self.opaque.items()})
        for name, size in self.truncate.items():
            if name not in files:
                raise UsageError(f"recipe: damage.truncate: there is no file {name}")
            files[name] = truncated(name, files[name], size)
        return files

    def source(self, tally: Tally | None = None, *, name: str | None = None, place: str = "") -> MemorySource:
        """The checkpoint in memory; ``name`` replaces the recipe's own (engines sniff names).

        Tensors are made when they are asked for; ``place`` is where the recipe stands, for what is found then.
        """

        def files() -> dict[str, bytes | VirtualFile]:
            try:
                return self.files()
            except UsageError as error:
                raise UsageError(misread(place, error) if place else str(error)) from error

        return MemorySource(name or self.name or "recipe", LazyFiles(self._small(), self._names(), files), tally=tally)

    def write(self, folder: Path) -> Path:
        """Write the checkpoint into a folder, data as holes, and return the folder."""
        write_files(folder, self.files().items())
        return folder

    def without_weights(self) -> Recipe:
        """The same checkpoint as far as its configuration goes: no tensor is expanded."""
        return replace(self, tensors={}, shards=0, index=False, truncate={}, opaque={})

    def patched(self, patch: Mapping[str, object]) -> Recipe:
        """The recipe with a small change; :class:`~drafter_lint.recipe.patch.Patch` says what a patch may hold.

        Raises:
            UsageError: the patch has unknown keys, or names something that is not there.
        """
        change = read_patch(patch)
        gone = change.drop_files
        if absent := [
            name for name in gone if not any(name in part for part in (self.tensors, self.text, self.opaque))
        ]:
            raise UsageError(f"patch: there is no file {absent[0]!r} to leave out")
        return replace(
            self,
            name=self.name if change.name is None else change.name,
            config=patched_config(self.config, change),
            tensors=patched_tensors(self.tensors, change),
            text={name: text for name, text in self.text.items() if name not in gone} | change.text,
            opaque={name: size for name, size in self.opaque.items() if name not in gone} | change.opaque,
            truncate={**self.truncate, **change.truncate},
            words=self.words if change.words is None else change.words,
            first_word=self.first_word if change.first_word is None else change.first_word,
        )
