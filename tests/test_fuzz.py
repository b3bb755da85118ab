"""Every reader of what other people write, fed with what it does not expect; ``make fuzz`` does the same for longer."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NAMES = (
    "header", "raw_header", "index", "vocabulary_map", "config", "config_edit", "redaction", "drafter_config",
    "target_config", "card", "tokenizer_json", "tokenizer_model", "tiktoken", "tekken", "vocab_json", "declared",
    "listing", "reference", "launch", "command", "settings", "pairs", "records", "recipe", "lock",
)  # fmt: skip
CONFIGS = ("drafter_config", "target_config")
#: What a value of a config is replaced by.
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    float("nan"),
    "",
    "\ud800",
    "a" * 300,
    [],
    [None],
    [-1, 2**70],
    {},
    {"": {}},
)
_BROKEN = (b"", b"{", b"\xff\xfe", b"\0" * 9, b"[" * 5000, b'{"a":' * 2000, b"9" * 5000, "\u202e\ud7ff".encode())


@pytest.fixture(scope="module")
def targets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("targets", ROOT / "fuzz" / "targets.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["targets"] = module
    spec.loader.exec_module(module)
    return module


def test_every_target_is_tried(targets: ModuleType) -> None:
    assert tuple(targets.TARGETS) == NAMES
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert f"FUZZED := {' '.join(NAMES)}\n" in makefile
    for folder in (ROOT / "fuzz" / "corpus").iterdir():
        assert folder.name in NAMES
        for path in folder.iterdir():
            path.read_text("utf-8")  # a corpus is text, and reads as such


@pytest.mark.parametrize("name", NAMES)
def test_what_is_cut_off_swapped_or_broken_is_refused_and_no_more(targets: ModuleType, name: str) -> None:
    chance = random.Random(name)
    seeds = list(targets.seeds(name))
    assert seeds
    few = 4 if name in CONFIGS else 25
    for data in (*_BROKEN, *seeds[:40]):
        targets.attempt(targets.TARGETS[name], data)
    for _ in range(few):
        data = bytearray(chance.choice(seeds))
        if data:
            start = chance.randrange(len(data))
            piece = bytes(data[start : start + chance.randrange(1, 30)])
            data[(at := chance.randrange(len(data))) : at + chance.randrange(len(piece) + 1)] = piece
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        targets.attempt(
            targets.TARGETS[name], bytes(data[: chance.choice((len(data), chance.randrange(1 + len(data))))])
        )


def odd(config: dict[str, Any]) -> Iterator[bytes]:
    """The config with each value of it in turn replaced by each odd one, and with each left out."""
    for path in paths(config):
        for value in (*ODD, ...):
            made = copy.deepcopy(config)
            holder: Any = made
            for key in path[:-1]:
                holder = holder[key]
            if value is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            yield json.dumps(made).encode()


def paths(node: Any) -> Iterator[tuple[str | int, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (key,)
        yield from ((key, *rest) for rest in paths(value))


@pytest.mark.parametrize("name", CONFIGS)
def test_odd_values_in_a_config_are_judged_or_named(targets: ModuleType, name: str) -> None:
    """Some of all there are; which ones is the same in every run."""
    config = json.loads(list(targets.seeds("config"))[-2 if name == "drafter_config" else -1])
    made = list(odd(config))
    assert len(made) > 200
    for data in itertools.islice(made, 0, None, max(1, len(made) // 25)):
        targets.attempt(targets.TARGETS[name], data)
