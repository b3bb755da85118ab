"""What is fed with anything: every reader of what other people write. Each may refuse; none may fail otherwise."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from unittest.mock import patch

from drafter_lint import lock as locks
from drafter_lint.aliases import Aliases
from drafter_lint.api import check
from drafter_lint.checkpoint import Checkpoint, Tokenizer
from drafter_lint.checkpoint.card import base_models, listed_target, served_models
from drafter_lint.checkpoint.header import HeaderReader
from drafter_lint.checkpoint.index import parse_index
from drafter_lint.checkpoint.scanner import scan
from drafter_lint.checkpoint.tokenizer.declared import Part
from drafter_lint.errors import DrafterLintError
from drafter_lint.findings import SetConfig
from drafter_lint.fixes.config_text import edited
from drafter_lint.launch import parse_command, split_command
from drafter_lint.launch.files import find_commands
from drafter_lint.recipe import Recipe
from drafter_lint.recipe.private import redacted_json
from drafter_lint.reference import Reference, parse_reference
from drafter_lint.settings import understood
from drafter_lint.settings_file import SettingsFile
from drafter_lint.sources import MemorySource, Tally, VirtualFile
from drafter_lint.sources.hub import HubSource
from drafter_lint.sources.wire import Got
from drafter_lint.survey import count
from drafter_lint.survey.output import Output

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
#: Larger inputs are other people's business: every reader has a bound of its own, which other tests hold.
MAX_INPUT = 64 * 1024


@cache
def _small(name: str) -> Mapping[str, bytes | VirtualFile]:
    return Recipe.parse((FIXTURES / "small" / f"{name}.recipe.toml").read_text("utf-8")).files()


def _with(name: str, path: str, content: bytes) -> MemorySource:
    return MemorySource(name, {**_small(name), path: content})


def header(data: bytes) -> None:
    """A header whose length is right, whatever it says."""
    _read_header(len(data).to_bytes(8, "little") + data + bytes(512))


def raw_header(data: bytes) -> None:
    """A file of any bytes."""
    _read_header(data)


def _read_header(data: bytes) -> None:
    HeaderReader(MemorySource("fuzzed", {"model.safetensors": data})).read("model.safetensors")


def index(data: bytes) -> None:
    """An index."""
    parse_index(data, file="model.safetensors.index.json", what="fuzzed")


def config(data: bytes) -> None:
    """A config.json, as it is written."""
    scan(data, file="config.json", subject="fuzzed", role="drafter")


def drafter_config(data: bytes) -> None:
    """A whole check of a drafter with any config.json, against every engine; said in every way."""
    report = check(_with("eagle3-llama", "config.json", data), _with("target-llama", "README.md", b""))
    report.render("text")
    report.render("json")


def target_config(data: bytes) -> None:
    """A whole check on a target with any config.json."""
    check(_with("eagle3-llama", "README.md", b""), _with("target-llama", "config.json", data)).render("markdown")


def card(data: bytes) -> None:
    """A model card."""
    text = data.decode(errors="replace")
    for read in (base_models, served_models, listed_target):
        read(text, subject="fuzzed", role="drafter")


def _tokenizer(name: str, data: bytes) -> Tokenizer:
    reference = Reference(spelling="fuzzed", kind="hub", name="fuzzed")
    return Checkpoint(reference, MemorySource("fuzzed", {name: data}), role="drafter").tokenizer


def tokenizer_json(data: bytes) -> None:
    """A tokenizer.json."""
    _ = _tokenizer("tokenizer.json", data).vocabulary


def tokenizer_model(data: bytes) -> None:
    """A tokenizer.model: SentencePiece's message, or lines of tiktoken's."""
    _ = _tokenizer("tokenizer.model", data).vocabulary


def tiktoken(data: bytes) -> None:
    """A tiktoken file."""
    _ = _tokenizer("qwen.tiktoken", data).vocabulary


def tekken(data: bytes) -> None:
    """A tekken.json."""
    _ = _tokenizer("tekken.json", data).vocabulary


def vocab_json(data: bytes) -> None:
    """A vocab.json."""
    _ = _tokenizer("vocab.json", data).vocabulary


def declared(data: bytes) -> None:
    """A small file beside a vocabulary: its name in the first line, then what it holds."""
    first, _, content = data.partition(b"\n")
    name = first.decode(errors="replace")
    read = _tokenizer(name if name in _DECLARING else "tokenizer_config.json", content)
    for part in _PARTS:
        with contextlib.suppress(DrafterLintError):
            read.special(part)
    with contextlib.suppress(DrafterLintError):
        _ = read.chat_templates
    _ = read.added


_PARTS: tuple[Part, ...] = ("bos", "eos", "pad")
_DECLARING = frozenset({
    "added_tokens.json", "chat_template.jinja", "chat_template.json", "config.json", "generation_config.json",
    "special_tokens_map.json", "tokenizer_config.json",
})  # fmt: skip


def vocabulary_map(data: bytes) -> None:
    """The values of d2t: their dtype in the first line, then their bytes."""
    dtype, _, content = data.partition(b"\n")
    entry = {"dtype": dtype.decode(errors="replace"), "shape": [len(content)], "data_offsets": [0, len(content)]}
    if dtype in {b"I64", b"F64"}:
        entry["shape"] = [len(content) // 8]
    head = json.dumps({"d2t": entry}).encode()
    files = {"model.safetensors": len(head).to_bytes(8, "little") + head + content}
    reference = Reference(spelling="fuzzed", kind="hub", name="fuzzed")
    _ = Checkpoint(reference, MemorySource("fuzzed", files), role="drafter").vocab_map


def launch(data: bytes) -> None:
    """A document: its name in the first line, then what it holds."""
    name, _, text = data.decode(errors="replace").partition("\n")
    find_commands(text, file=name[:100], variables={"MODEL": "owner/name"})


def command(data: bytes) -> None:
    """A command typed behind --launch."""
    parse_command(split_command(data.decode(errors="replace")), engine=None)


def reference(data: bytes) -> None:
    """A checkpoint as somebody types it."""
    parse_reference(data.decode(errors="replace"), exists=lambda _: False, aliases=Aliases({}))


def recipe(data: bytes) -> None:
    """A recipe, made into files."""
    Recipe.parse(data.decode(errors="replace")).files()


def lock(data: bytes) -> None:
    """A lock file."""
    with tempfile.NamedTemporaryFile(suffix=".lock") as file:
        file.write(data)
        file.flush()
        locks.read(Path(file.name))


def records(data: bytes) -> None:
    """What an earlier survey is said to have written."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(data)
        file.flush()
        with Output(file.name) as output:
            list(output.records(output.held))


class _Answering(HubSource):
    """A repository whose every answer is the same."""

    answer, link = b"", ""

    def _talk(self) -> object:  # type: ignore[override]
        return self

    token = None

    def get(self, url: str, **_: object) -> Got:
        """What is answered."""
        return Got(self.answer, url, self.link)


def listing(data: bytes) -> None:
    """What a Hub answers when it is asked for a listing: the header that names the next page in the first line."""
    link, _, answer = data.partition(b"\n")
    with patch.dict(os.environ, {"DRAFTER_LINT_CACHE": "", "HF_HUB_CACHE": "/absent", "HF_TOKEN": ""}):
        source = _Answering(Reference(spelling="a/b", kind="hub", name="a/b"), tally=Tally())
        source.answer, source.link = answer, link.decode("latin-1")
        for path in source.files:
            with contextlib.suppress(DrafterLintError):
                source.read(path, 0, 1)


def config_edit(data: bytes) -> None:
    """A config.json with fields changed in place, as --fix does it."""
    for pointer in ("/hidden_size", "/eagle_config/eagle_aux_hidden_state_layer_ids"):
        with contextlib.suppress(DrafterLintError):
            edited(data, [SetConfig(pointer=pointer, value=[1, 2])])


def redaction(data: bytes) -> None:
    """A document that private words are taken out of."""
    redacted_json(data.decode(errors="replace"))


def settings(data: bytes) -> None:
    """A drafter-lint.toml."""
    text = data.decode(errors="replace")
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        understood(SettingsFile(path=Path("drafter-lint.toml"), text=text, table=tomllib.loads(text)))


def pairs(data: bytes) -> None:
    """A list of pairs: how its name ends in the first line, then what it holds."""
    kind, _, text = data.partition(b"\n")
    suffix = {b"csv": ".csv", b"toml": ".toml"}.get(kind, ".jsonl")
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(text)
        file.flush()
        count(file.name)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        header, raw_header, index, vocabulary_map, config, config_edit, redaction, drafter_config, target_config,
        card, tokenizer_json, tokenizer_model, tiktoken, tekken, vocab_json, declared, listing, reference, launch,
        command, settings, pairs, records, recipe, lock,
    )
}  # fmt: skip


def attempt(target: Callable[[bytes], None], data: bytes) -> None:
    """Feed a target; a refusal of ours is as good as an answer."""
    with contextlib.suppress(DrafterLintError):
        target(data[:MAX_INPUT])


#: What is no text starts from here.
_MADE: Mapping[str, tuple[bytes, ...]] = {
    "tokenizer_model": (
        b"\x0a\x0c\x0a\x03<s>\x15\0\0\0\0\x18\x03\x0a\x09\x0a\x02fo\x15\0\0\0\0\x12\x03\x18\xac\x02",
        b"YQ== 0\nYg== 1\n",
    ),
    "vocabulary_map": (
        b"I64\n" + (5).to_bytes(8, "little") * 3,
        b"F64\n\0\0\0\0\0\0\xf0\x3f",
        b"BOOL\n\0\1\1",
        b"BF16\n\x80\x3f",
    ),
}


def seeds(name: str) -> Iterator[bytes]:
    """Where to start from: what the fixtures hold, and what once made a target fail."""
    for path in sorted((HERE / "corpus" / name).glob("*")):
        yield path.read_bytes()
    yield from _MADE.get(name, ())
    small = [_small(recipe) for recipe in ("eagle3-llama", "target-llama")]
    if name in ("config", "config_edit", "redaction", "drafter_config", "target_config"):
        yield from (content for files in small if isinstance(content := files["config.json"], bytes))
    elif name in ("header", "raw_header"):
        for files in small:
            content = files["model.safetensors"]
            start = content.span(0, 4096) if isinstance(content, VirtualFile) else content[:4096]
            yield start[8:] if name == "header" else start
    elif name == "recipe":
        for path in sorted((FIXTURES / "small").glob("*.recipe.toml")):
            yield path.read_bytes()
    elif name == "launch":
        for path in sorted((FIXTURES / "launch").glob("*")):
            if not path.name.endswith(".expect.toml"):
                yield path.name.encode() + b"\n" + path.read_bytes()
