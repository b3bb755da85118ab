"""From a recipe to files: true safetensors headers, the few values that matter, and holes for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import UsageError
from drafter_lint.recipe.lines import TensorLine, expand, parse_line
from drafter_lint.recipe.values import drafted_ids, encoded, referenced, values_of
from drafter_lint.sources.memory import VirtualFile

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"

Content: TypeAlias = bytes | VirtualFile


def expanded(lines: Mapping[str, str]) -> dict[str, TensorLine]:
    """The tensors of one file by name, in the order written.

    Raises:
        UsageError: a line is malformed, or two patterns stand for the same name.
    """
    tensors: dict[str, TensorLine] = {}
    for pattern, text in lines.items():
        line = parse_line(text)
        for name in expand(pattern):
            if name in tensors:
                raise UsageError(f"recipe: the tensor {name} is written twice")
            tensors[name] = line
    return tensors


def values_in(tensors: Mapping[str, TensorLine], name: str) -> tuple[int, ...]:
    """The values of one tensor of a file.

    Raises:
        UsageError: the line gives no values, or they do not follow the grammar.
    """
    line = tensors[name]
    if line.values is None:
        raise UsageError(f"recipe: {name} has no values")
    return values_of(line.values, line.elements, lambda other: _drafted(tensors, other))


def _drafted(tensors: Mapping[str, TensorLine], name: str) -> tuple[int, ...]:
    found = [known for known in tensors if known == name or known.endswith(f".{name}")]
    if len(found) != 1:
        raise UsageError(f"recipe: matches({name}) needs one tensor of that name, there are {len(found)}")
    if referenced(tensors[found[0]].values or ""):  # a mask of a mask, or of itself
        raise UsageError(f"recipe: matches({name}) needs a map, and {name} is made by matches as well")
    return drafted_ids(tensors[found[0]].values or "", values_in(tensors, found[0]))


def weight_files(
    lines: Mapping[str, Mapping[str, str]], *, shards: int, index: bool, metadata: Mapping[str, str] | None
) -> dict[str, Content]:
    """The safetensors files, and the index if one is asked for.

    Args:
        lines: per file its tensor lines.
        shards: over how many files the tensors of ``model.safetensors`` are spread, in the order written; 0 for none.
        index: write ``model.safetensors.index.json``.
        metadata: the ``__metadata__`` of every file, None for none.
    """
    files: dict[str, Content] = {}
    home: dict[str, str] = {}
    size = 0
    tables = {file: expanded(part) for file, part in lines.items()}
    for file, tensors in _shards(tables, shards).items():
        whole = tables[WHOLE if shards else file]
        header, offsets = safetensors_header(
            {name: (line.dtype, line.shape) for name, line in tensors.items()}, metadata
        )
        length = max((end for _, end in offsets.values()), default=0)
        parts = [(0, header)]
        for name, line in tensors.items():
            if line.values is not None:
                parts.append((len(header) + offsets[name][0], encoded(values_in(whole, name), line.dtype)))
        files[file] = VirtualFile(len(header) + length, tuple(parts))
        home.update(dict.fromkeys(tensors, file))
        size += length
    if index:
        files[INDEX] = _index(size, home).encode()
    return files


def _index(size: int, home: Mapping[str, str]) -> str:
    """What ``json.dumps(…, indent=2)`` makes of it, which takes Python's own encoder a second for 200,000 names."""
    places = ",\n".join(f"    {json.dumps(name)}: {json.dumps(file)}" for name, file in sorted(home.items()))
    weight_map = f"{{\n{places}\n  }}" if places else "{}"
    return f'{{\n  "metadata": {{\n    "total_size": {size}\n  }},\n  "weight_map": {weight_map}\n}}\n'


def weight_names(lines: Mapping[str, Mapping[str, str]], *, shards: int, index: bool) -> Iterator[str]:
    """The names of the files that :func:`weight_files` makes, without making them."""
    yield from (shard_name(shard, shards) for shard in range(1, shards + 1)) if shards else lines
    if index:
        yield INDEX


def shard_name(shard: int, count: int) -> str:
    """The name of one of several files, counted from 1."""
    return f"model-{shard:05d}-of-{count:05d}.safetensors"


def _shards(files: dict[str, dict[str, TensorLine]], count: int) -> dict[str, dict[str, TensorLine]]:
    if not count:
        return files
    if set(files) != {WHOLE}:
        raise UsageError(f"recipe: layout.shards spreads the tensors of {WHOLE}, and no other file may have any")
    names = iter(files[WHOLE].items())
    total = len(files[WHOLE])
    return {
        shard_name(shard, count): dict(islice(names, shard * total // count - (shard - 1) * total // count))
        for shard in range(1, count + 1)
    }


def word_tokenizer(words: int, first: int = 0) -> bytes:
    """A tokenizer.json whose vocabulary is ``t0 … t(n-2)`` and ``<unk>``, one id a word, counted from ``first``."""
    vocabulary = {f"t{first + token}": token for token in range(words - 1)} | {"<unk>": words - 1}
    document: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
    return json.dumps(document, indent=1).encode()


def truncated(file: str, content: Content, size: int) -> Content:
    """The first bytes of a file.

    Raises:
        UsageError: the file is shorter already.
    """
    whole = content.size if isinstance(content, VirtualFile) else len(content)
    if size > whole:
        raise UsageError(f"recipe: {file} has {whole} bytes and cannot be truncated to {size}")
    if isinstance(content, bytes):
        return content[:size]
    return VirtualFile(size, tuple((at, part[: size - at]) for at, part in content.parts if at < size))


def write_files(folder: Path, files: Iterable[tuple[str, Content]]) -> None:
    """Write files into a folder that is made if need be; what is virtual becomes a hole."""
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as stream:
            if isinstance(content, bytes):
                stream.write(content)
                continue
            for offset, part in content.parts:
                stream.seek(offset)
                stream.write(part)
            stream.truncate(content.size)


class LazyFiles(Mapping[str, Content]):
    """Files of which the small ones are at hand and the others are made when one of them is asked for.

    Args:
        small: files that cost nothing.
        names: the names of all files, the small ones included.
        everything: makes all files; called at most once.
    """

    def __init__(
        self,
        small: Mapping[str, Content],
        names: Iterable[str],
        everything: Callable[[], Mapping[str, Content]],
    ) -> None:
        self._small = small
        self._names = dict.fromkeys(names)
        self._everything = everything
        self._made: Mapping[str, Content] | None = None

    @property
    def _all(self) -> Mapping[str, Content]:
        if self._made is None:
            self._made = self._everything()
        return self._made

    def __getitem__(self, path: str) -> Content:
        return self._small[path] if path in self._small else self._all[path]

    def __contains__(self, path: object) -> bool:
        return path in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
