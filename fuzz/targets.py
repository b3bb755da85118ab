"""What is fed with anything: every reader of what other people write. Each may refuse; none may fail otherwise."""

from __future__ import annotations

import contextlib
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from drafter_lint.api import check
from drafter_lint.checkpoint.card import base_models
from drafter_lint.checkpoint.header import HeaderReader
from drafter_lint.checkpoint.index import parse_index
from drafter_lint.checkpoint.scanner import scan
from drafter_lint.errors import DrafterLintError
from drafter_lint.launch import parse_command, split_command
from drafter_lint.launch.files import find_commands
from drafter_lint.recipe import Recipe
from drafter_lint.settings import understood
from drafter_lint.settings_file import SettingsFile
from drafter_lint.sources import MemorySource, VirtualFile
from drafter_lint.survey import count

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
    base_models(data.decode(errors="replace"), subject="fuzzed", role="drafter")


def launch(data: bytes) -> None:
    """A document: its name in the first line, then what it holds."""
    name, _, text = data.decode(errors="replace").partition("\n")
    find_commands(text, file=name[:100], variables={"MODEL": "owner/name"})


def command(data: bytes) -> None:
    """A command typed behind --launch."""
    parse_command(split_command(data.decode(errors="replace")), engine=None)


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
        header, raw_header, index, config, drafter_config, target_config, card, launch, command, settings, pairs,
    )
}  # fmt: skip


def attempt(target: Callable[[bytes], None], data: bytes) -> None:
    """Feed a target; a refusal of ours is as good as an answer."""
    with contextlib.suppress(DrafterLintError):
        target(data[:MAX_INPUT])


def seeds(name: str) -> Iterator[bytes]:
    """Where to start from: what the fixtures hold, and what once made a target fail."""
    for path in sorted((HERE / "corpus" / name).glob("*")):
        yield path.read_bytes()
    small = [_small(recipe) for recipe in ("eagle3-llama", "target-llama")]
    if name in ("config", "drafter_config", "target_config"):
        yield from (content for files in small if isinstance(content := files["config.json"], bytes))
    elif name in ("header", "raw_header"):
        for files in small:
            content = files["model.safetensors"]
            start = content.span(0, 4096) if isinstance(content, VirtualFile) else content[:4096]
            yield start[8:] if name == "header" else start
    elif name == "launch":
        for path in sorted((FIXTURES / "launch").glob("*")):
            if not path.name.endswith(".expect.toml"):
                yield path.name.encode() + b"\n" + path.read_bytes()
