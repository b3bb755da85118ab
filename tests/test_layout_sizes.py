"""The formulas of parameter counts against figures their publishers gave, and what a file's size alone tells."""

from __future__ import annotations

import json
from dataclasses import replace
from math import prod

import pytest

import census_entries as census
import layout_tensors as made
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Eagle, Layout
from drafter_lint.drafters import sizes as formulas
from drafter_lint.drafters.recognise import recognise
from drafter_lint.drafters.sizes import Sizes
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

KIMI_K3 = Sizes(
    hidden=7168, inner=14336, heads=64, pairs=16, head=64, vocabulary=163840, layers=5, states=5, rank=256
)  # fmt: skip


def test_nebius_eagle3_gpt_oss_20b() -> None:
    """Its file is listed with 669 MB: 668.3 MiB with the map and without an embedding."""
    sizes = Sizes(hidden=2880, inner=11520, heads=64, pairs=8, head=64, vocabulary=201088, drafted=64000)
    size = 2 * formulas.eagle3(sizes) + formulas.vocabulary_map(sizes)
    assert round(size / 2**20, 1) == 668.3


def test_zlab_qwen3_4b_dflash_b16() -> None:
    """About 1.07 GB in bfloat16."""
    sizes = Sizes(hidden=2560, inner=9728, heads=32, pairs=8, head=128, vocabulary=151936, layers=5, states=5)
    assert formulas.dflash(sizes) == 537_427_200


def test_radixark_kimi_k3_dspark() -> None:
    """The count on its page, to the last parameter."""
    assert formulas.dspark(KIMI_K3) == 2_249_289_601


def test_redhatai_kimi_k3_dspark() -> None:
    """The same with embedding and head, and 96 query heads."""
    sizes = replace(KIMI_K3, heads=96)
    assert formulas.dspark(sizes, embedding=True, head=True) == 4_744_900_481


def _elements(layout: Layout, config: dict[str, object]) -> int:
    lines = census.GENERATORS[layout](config, made.sizes(config, states=5))
    counted = (line.split() for name, line in lines if name not in ("d2t", "t2d"))
    return sum(prod(int(part) for part in shape.split("x")) for _, shape, *_ in counted)


@pytest.mark.parametrize(
    ("layout", "formula"),
    [
        (Layout.EAGLE1, formulas.eagle1),
        (Layout.EAGLE3_MIDLAYER, formulas.eagle3),
        (Layout.EAGLE3_LAYERS, formulas.eagle3),
        (Layout.DFLASH, formulas.dflash),
        (Layout.DSPARK, formulas.dspark),
        (Layout.DSPARK_SPECULATORS, lambda sizes: formulas.dspark(sizes, embedding=True, head=True)),
    ],
)
def test_formulas_count_the_tensors(layout: Layout, formula: object) -> None:
    """A formula and the tensors of its layout are two ways to the same number."""
    config: dict[str, object] = {
        "hidden_size": 96, "intermediate_size": 200, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 32, "vocab_size": 640, "num_hidden_layers": 1 if layout.value.startswith("eagle3") else 2,
    }  # fmt: skip
    sizes = Sizes(hidden=96, inner=200, heads=4, pairs=2, head=32, vocabulary=640, states=5)
    sizes = replace(sizes, layers=int(str(config["num_hidden_layers"])))
    assert callable(formula)
    assert formula(sizes) == _elements(layout, config)


LLAMA2 = {
    "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 1,
    "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000,
}  # fmt: skip


@pytest.mark.parametrize(
    ("size", "known"),
    [
        (1_468_039_168, True),  # published: float32, with embedding and bias
        (1_468_039_168 // 2 + 4000, True),
        (1_468_039_168 - 4 * 32000 * 4096, True),  # without the embedding
        (1_468_039_168 - 4 * 4096 * 4096, False),  # another fc
        (2 * (2 * 32000 * 4096 + 4 * 4096 * 4096 + 3 * 4096 * 11008 + 3 * 4096), False),  # a model of one layer
        (4096, False),
    ],
)
def test_a_pickled_file_is_known_by_its_size(size: int, known: bool) -> None:
    recipe = Recipe(config=json.dumps(LLAMA2), opaque={"pytorch_model.bin": size})
    files = Checkpoint(Reference(spelling="x", kind="local", name="x"), recipe.source(), role="drafter")
    found = recognise(files)
    assert isinstance(found.drafter, Eagle) is known
    assert found.drafter.layout is (Layout.EAGLE1 if known else Layout.UNKNOWN)
