"""From a checkpoint to its recipe: what ``record`` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby

from drafter_lint.checkpoint.checkpoint import Checkpoint
from drafter_lint.checkpoint.tensors import TensorTable
from drafter_lint.checkpoint.vocab_map import VocabMap
from drafter_lint.errors import Trouble, Unavailable, UsageError
from drafter_lint.recipe.build import INDEX
from drafter_lint.recipe.lines import TensorLine, literal_head
from drafter_lint.recipe.recipe import Recipe
from drafter_lint.recipe.values import written

#: Other JSON files larger than this are left out: tokenizers and indices, which a recipe can do without.
MAX_TEXT_BYTES = 64 * 1024

_NUMBER = re.compile(r"(?:(?<=\.)|^)(?:\d+|\{\d+\.\.\d+\})(?=\.|$)")


def record(checkpoint: Checkpoint, *, about: str = "") -> Recipe:
    """The recipe of a checkpoint: its configuration as written, every tensor, d2t and t2d by value, its card.

    Raises:
        UsageError: a tensor's name has a brace in it, which in a recipe means a range.
        Unavailable: a header, a vocabulary tensor or the configuration cannot be read for another reason than absence.
    """
    files = checkpoint.source.files
    table = _table(checkpoint)
    values = _values(checkpoint.vocab_map, table) if table else {}
    by_file: dict[str, list[tuple[str, str]]] = {}
    for tensor in table.values() if table else ():
        if literal_head(tensor.name) != tensor.name:
            raise UsageError(f"{checkpoint.subject}: the tensor name {tensor.name!r} cannot be written in a recipe")
        line = TensorLine(tensor.dtype, tensor.shape, values.get(tensor.name))
        by_file.setdefault(tensor.file, []).append((tensor.name, line.text))
    texts = [
        name
        for name, entry in files.items()
        if "/" not in name and name.endswith(".json") and entry.size <= MAX_TEXT_BYTES and name != "config.json"
    ]
    odd_index = table is not None and bool(table.disagreements or table.missing_files)
    text = {name: _decoded(checkpoint, name) for name in texts if name != INDEX or odd_index}
    if (card := checkpoint.card) is not None:
        text["README.md"] = card
    return Recipe(
        about=about or f"Recorded from {checkpoint.subject}.",
        name=checkpoint.source.identity.name if checkpoint.source.identity.commit else "",
        config=_decoded(checkpoint, "config.json") if "config.json" in files else None,
        tensors={file: dict(collapsed(lines)) for file, lines in by_file.items()},
        text=text,
        opaque={name: files[name].size for name in checkpoint.unopened},
        index=INDEX in files and not odd_index,
        metadata=dict(table.metadata) if table else {},
        sourced=(f"everything: {checkpoint.subject}",),
    )


def collapsed(lines: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Names that differ in one number and share a line, written as one pattern; the last number goes first."""
    rows = list(lines)
    depth = max((len(_NUMBER.findall(name)) for name, _ in rows), default=0)
    for place in range(depth):
        rows = _collapsed_at(rows, place)
    return rows


def _collapsed_at(rows: list[tuple[str, str]], place: int) -> list[tuple[str, str]]:
    groups: dict[tuple[str, str, str], list[int]] = {}
    for name, line in rows:
        numbers = list(_NUMBER.finditer(name))
        found = numbers[-1 - place] if place < len(numbers) else None
        if found and found[0].isdecimal():
            groups.setdefault((name[: found.start()], name[found.end() :], line), []).append(int(found[0]))
        else:
            groups.setdefault((name, "", line), [])
    result: list[tuple[str, str]] = []
    for (head, tail, line), numbers_here in groups.items():
        if not numbers_here:
            result.append((head, line))
        for _, run in groupby(enumerate(sorted(numbers_here)), key=lambda pair: pair[1] - pair[0]):
            span = [number for _, number in run]
            number = str(span[0]) if len(span) == 1 else f"{{{span[0]}..{span[-1]}}}"
            result.append((f"{head}{number}{tail}", line))
    return result


def _table(checkpoint: Checkpoint) -> TensorTable | None:
    try:
        return checkpoint.tensors
    except Unavailable as reason:
        if reason.trouble in {Trouble.MISSING, Trouble.NOT_SAFETENSORS}:
            return None
        raise


def _values(vocab: VocabMap, table: Mapping[str, object]) -> dict[str, str]:
    values: dict[str, str] = {}
    if vocab.d2t_tensor is not None and vocab.d2t is not None:
        values[vocab.d2t_tensor.name] = written(vocab.d2t)
    if vocab.t2d_tensor is not None and vocab.drafted is not None and vocab.t2d_length is not None:
        drafted = frozenset(vocab.drafted)
        agrees = vocab.targets is not None and drafted == frozenset(vocab.targets) and "d2t" in table
        mask = written(int(token in drafted) for token in range(vocab.t2d_length))
        values[vocab.t2d_tensor.name] = "matches(d2t)" if agrees else mask
    return values


def _decoded(checkpoint: Checkpoint, name: str) -> str:
    return checkpoint.source.read(name).decode(errors="replace")
