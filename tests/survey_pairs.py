"""Long lists of pairs to survey: every published drafter, each time changed in another way, on published targets.

The n-th pair is the same in every list, so a short list is the beginning of a long one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import published
from drafter_lint.errors import UsageError
from drafter_lint.recipe import Recipe

LAYOUTS = published.FIXTURES / "recipes" / "layouts"
#: What is asked for besides the pair itself.
ASKED: Sequence[Mapping[str, Sequence[object]]] = (
    {"engines": ["sglang==0.5.23"]},
    {"engines": ["vllm==0.33.0"]},
    {"engines": ["sglang==0.5.9", "vllm==0.12.0"]},
    {"engines": ["sglang==0.5.23"], "flags": ["--speculative-algorithm", "EAGLE"]},
    {"engines": ["vllm==0.33.0"], "trained_on": [2, 16, 29]},
    {"engines": ["sglang==0.5.23", "vllm==0.33.0"]},
    {"engines": ["vllm==0.1.0"]},  # older than all that was read: an error
)
#: What is wrong with a drafter, or merely other than usual; what does not fit one is passed over for the next.
CHANGES: Sequence[Mapping[str, object]] = (
    {},
    {"set": {"/hidden_size": 1234}},
    {"drop": ["fc.weight"]},
    {"set": {"/draft_vocab_size": 4242}},
    {"set": {"/max_position_embeddings": 512}},
    {"drop": ["d2t"]},
    {"set": {"/architectures": ["NobodyForCausalLM"]}},
    {"prefix": "model.model."},
    {"tensors": {"norm.weight": "F32 17"}},
    {"set": {"/vocab_size": 99_999}},
    {"drop": ["*q_proj.weight"]},
    {"set": {"/num_hidden_layers": 3}},
    {"remove": ["/architectures"]},
    {"set": {"/eagle_aux_hidden_state_layer_ids": [1, 1, 900]}},
    {"truncate": {"model.safetensors": 40}},
    {"config": '{"architectures": ["LlamaForCausalLMEagle3"'},
    {"no_config": True},
    {"tensors": {"d2t": "I64 32000 = absolute(128256)"}},
    {"set": {"/torch_dtype": "float64", "/num_key_value_heads": 3}},
)
#: One drafter of so many is a folder with files, the others are recipes.
FOLDERS = 4


class _Base(NamedTuple):
    recipe: Recipe
    target: str


@cache
def _bases() -> tuple[_Base, ...]:
    """Every published drafter with its own target, then every other layout with some target."""
    others = published.targets()
    own = [_Base(published.drafter(pair.drafter), pair.target) for pair in published.pairs() if not pair.wrong]
    layouts = [Recipe.parse(path.read_text("utf-8")) for path in sorted(LAYOUTS.glob("*.recipe.toml"))]
    return (*own, *(_Base(recipe, others[number % len(others)]) for number, recipe in enumerate(layouts)))


def write(folder: Path, count: int) -> Path:
    """Write so many pairs and their list into a folder, and return the list."""
    (folder / "targets").mkdir(parents=True)
    for name in published.targets():
        text = published.target(name).toml()
        (folder / "targets" / f"{name}.recipe.toml").write_text(text, encoding="utf-8")
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in _rows(folder, count))
    return folder / "pairs.jsonl"


def beginning(pairs: Path, count: int) -> Path:
    """The first pairs of a list as a list beside it."""
    short = pairs.with_name(f"first-{count}.jsonl")
    short.write_text("".join(pairs.read_text("utf-8").splitlines(keepends=True)[:count]), "utf-8")
    return short


def _rows(folder: Path, count: int) -> Iterator[Mapping[str, object]]:
    bases, others = _bases(), published.targets()
    for number in range(count):
        again, which = divmod(number, len(bases))
        base = bases[which]
        made = _changed(base.recipe, number, again)
        path = f"drafters/{number // 100}/{number}"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if number % FOLDERS:
            path += ".recipe.toml"
            (folder / path).write_text(made.toml(), encoding="utf-8")
        else:
            made.write(folder / path)
        # Every fifth is tried on somebody else's target.
        target = others[number % len(others)] if number % 5 == 4 else base.target
        yield {"drafter": path, "target": f"targets/{target}.recipe.toml", **ASKED[(number // 3) % len(ASKED)]}


def _changed(recipe: Recipe, number: int, again: int) -> Recipe:
    """A drafter as nobody else has it: one change, and a field nobody reads that numbers it."""
    recipe = recipe.patched({"set": {"/transformers_version": f"4.{number}"}})
    for step in range(len(CHANGES)):
        try:
            return recipe.patched(CHANGES[(number + again + step) % len(CHANGES)])
        except UsageError:
            continue
    raise AssertionError("an empty change fits every drafter")
