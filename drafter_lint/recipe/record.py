"""From a checkpoint to its recipe: what ``record`` prints. No weights, and nothing that is nobody else's business."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from drafter_lint.checkpoint.card import FILE as CARD
from drafter_lint.checkpoint.checkpoint import Checkpoint
from drafter_lint.checkpoint.selection import select
from drafter_lint.checkpoint.tensors import TensorTable
from drafter_lint.checkpoint.vocab_map import VocabMap
from drafter_lint.errors import Trouble, Unavailable, UsageError
from drafter_lint.recipe.build import INDEX, WHOLE
from drafter_lint.recipe.lines import TensorLine, literal_head
from drafter_lint.recipe.private import redacted, redacted_json
from drafter_lint.recipe.recipe import Recipe
from drafter_lint.recipe.values import written
from drafter_lint.sources.local import LocalSource

#: Other files larger than this are left out; of a tokenizer its digest is kept.
MAX_TEXT_BYTES = 64 * 1024
#: Of a card, its beginning: the front matter and what it says of the model.
MAX_CARD_CHARACTERS = 8 * 1024
#: What people put into a bug report; a longer recipe is refused.
MAX_RECIPE_BYTES = 256 * 1024
#: Shards from which on it is no longer told which of them holds which tensor.
MANY_SHARDS = 4
#: Files a check may read. Others that a trainer leaves behind speak of its runs and its machine.
TEXTS = (
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.json",
    "chat_template.jinja",
    "hf_quant_config.json",
    "quantize_config.json",
    "quant_config.json",
    "params.json",
    "adapter_config.json",
)
#: The vocabulary of a tokenizer: recorded where it is small.
TOKENIZERS = ("tokenizer.json", "vocab.json", "merges.txt", "tokenizer.model", "tekken.json", "tiktoken.model")
_MAX_TOKENIZER_BYTES = 64 * 1024 * 1024

_NUMBER = re.compile(r"(?:(?<=\.)|^)(?:\d+|\{\d+\.\.\d+\})(?=\.|$)")
_SHARD = re.compile(r"model-(\d{5})-of-(\d{5})\.safetensors")


def record(checkpoint: Checkpoint, *, about: str = "") -> Recipe:
    """The recipe of a checkpoint: its configuration, every tensor, d2t and t2d by value, the beginning of its card.

    Raises:
        UsageError: a tensor's name has a brace in it, which in a recipe means a range.
        Unavailable: a header, a vocabulary tensor or the configuration cannot be read for another reason than absence;
            or the recipe would be longer than anybody would read.
    """
    files = checkpoint.source.files
    table = _table(checkpoint)
    values = _values(checkpoint.vocab_map, table) if table else {}
    by_file: dict[str, list[tuple[str, str]]] = {}
    for tensor in table.values() if table else ():
        if literal_head(tensor.name) != tensor.name:
            raise UsageError(f"{_shown(checkpoint)}: the tensor name {tensor.name!r} cannot be written in a recipe")
        line = TensorLine(tensor.dtype, tensor.shape, values.get(tensor.name))
        by_file.setdefault(tensor.file, []).append((tensor.name, line.text))
    odd_index = table is not None and bool(table.disagreements or table.missing_files)
    spread = len(by_file) if len(by_file) > MANY_SHARDS and not odd_index and _numbered(by_file) else 0
    lines = {WHOLE: [row for file in sorted(by_file) for row in by_file[file]]} if spread else by_file
    tensors = {file: dict(collapsed(rows)) for file, rows in lines.items()}
    unread = select(files)
    recipe = Recipe(
        about=about or f"Recorded from {_shown(checkpoint)}.",
        name=_name(checkpoint),
        config=redacted_json(_decoded(checkpoint, "config.json")) if "config.json" in files else None,
        tensors=tensors,
        text=dict(_texts(checkpoint, odd_index=odd_index)),
        opaque={name: files[name].size for name in (*unread.unopened, *(table.set_aside if table else ()))},
        shards=spread,
        index=INDEX in files and not odd_index,
        metadata={key: redacted(text) for key, text in table.metadata.items()} if table else {},
        sourced=(f"everything: {_shown(checkpoint)}", *_digests(checkpoint)),
        computed=(f"which of the {spread} shards holds which tensor: spread by count",) if spread else (),
    )
    size = len(recipe.toml().encode())
    if size > MAX_RECIPE_BYTES:
        told = f"its recipe would have {size} bytes, over the bound of {MAX_RECIPE_BYTES}: its names follow no pattern"
        raise Unavailable(Trouble.TOO_LARGE, _shown(checkpoint), told)
    return recipe


def _name(checkpoint: Checkpoint) -> str:
    """The id it stands for; of a folder its own name, which engines sniff, and not where it lies."""
    name = checkpoint.source.identity.name
    if not isinstance(checkpoint.source, LocalSource):
        return name
    parts = [part for part in re.split(r"[\\/]+", name) if part not in {"", ".", "..", "~"}]
    return parts[-1] if parts else ""


def _shown(checkpoint: Checkpoint) -> str:
    commit = checkpoint.source.identity.commit
    return " @ ".join(filter(None, (_name(checkpoint) or "a folder", commit)))


def _numbered(files: Iterable[str]) -> bool:
    """True if these are all the shards of one model, under the names shards have."""
    found = [_SHARD.fullmatch(file) for file in files]
    numbers = sorted((int(match[1]), int(match[2])) for match in found if match)
    return numbers == [(number, len(found)) for number in range(1, len(found) + 1)]


def _texts(checkpoint: Checkpoint, *, odd_index: bool) -> Iterator[tuple[str, str]]:
    files = checkpoint.source.files
    for name in (*TEXTS, *TOKENIZERS, *((INDEX,) if odd_index else ())):
        if name in files and files[name].size <= MAX_TEXT_BYTES and (text := _text(checkpoint, name)) is not None:
            yield name, redacted_json(text) if name.endswith(".json") else redacted(text)
    if (card := checkpoint.card) is not None:
        yield CARD, redacted(_beginning(card))


def _beginning(card: str) -> str:
    """Whole lines of it."""
    return card if len(card) <= MAX_CARD_CHARACTERS else card[:MAX_CARD_CHARACTERS].rpartition("\n")[0] + "\n"


def _digests(checkpoint: Checkpoint) -> Iterator[str]:
    """Of a tokenizer too large to be recorded: enough to tell whether two are the same."""
    for name in TOKENIZERS:
        entry = checkpoint.source.files.get(name)
        if entry is None or not MAX_TEXT_BYTES < entry.size <= _MAX_TOKENIZER_BYTES:
            continue
        digest = hashlib.sha256(checkpoint.source.read(name)).hexdigest()
        yield f"{name}, left out: {entry.size} bytes, sha256:{digest}"


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
        beside = vocab.d2t_tensor is not None and vocab.d2t_tensor.file == vocab.t2d_tensor.file and "d2t" in table
        agrees = vocab.targets is not None and drafted == frozenset(vocab.targets) and beside
        mask = written(int(token in drafted) for token in range(vocab.t2d_length))
        values[vocab.t2d_tensor.name] = "matches(d2t)" if agrees else mask
    return values


def _decoded(checkpoint: Checkpoint, name: str) -> str:
    return checkpoint.source.read(name).decode(errors="replace")


def _text(checkpoint: Checkpoint, name: str) -> str | None:
    """A small file; None if it is no text, such as a tokenizer.model."""
    try:
        return checkpoint.source.read(name).decode()
    except UnicodeDecodeError:
        return None
