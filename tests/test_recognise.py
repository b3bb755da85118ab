"""Recognition: every drafter for what it is, with reasons, and never for something it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Eagle, Layout, Recognition, Unsupported
from drafter_lint.drafters.recognise import recognise
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from truth_cases import TruthCase, load_cases

FIXTURES = Path(__file__).parents[1] / "fixtures"
PUBLISHED = sorted((FIXTURES / "recipes").glob("*.recipe.toml"))

LAYER0 = {
    "layers.0.self_attn.q_proj.weight": "BF16 64x64",
    "layers.0.mlp.up_proj.weight": "BF16 128x64",
}


def seen(config: dict[str, object] | None, tensors: dict[str, str] | None = None) -> Recognition:
    files = {"model.safetensors": tensors} if tensors else {}
    recipe = Recipe(config=None if config is None else json.dumps(config), tensors=files)
    return recognise(Checkpoint(Reference(spelling="x", kind="local", name="x"), recipe.source(), role="drafter"))


@pytest.mark.parametrize(
    ("config", "tensors", "layout", "method"),
    [
        ({}, {"fc.weight": "BF16 64x128", **LAYER0}, Layout.EAGLE1, "eagle"),
        ({}, {"fc.weight": "BF16 64x192", "midlayer.hidden_norm.weight": "BF16 64"}, Layout.EAGLE3_MIDLAYER, "eagle3"),
        ({}, {"fc.weight": "BF16 64x192", "layers.0.hidden_norm.weight": "BF16 64"}, Layout.EAGLE3_LAYERS, "eagle3"),
        (
            {"speculators_model_type": "eagle3"},
            {"fc.weight": "BF16 64x192", "layers.0.hidden_norm.weight": "BF16 64"},
            Layout.EAGLE3_SPECULATORS,
            "eagle3",
        ),
        (
            {},
            {"midlayer.hidden_norm.weight": "BF16 64", "midlayer.self_attn.kv_b_proj.weight": "BF16 8x8"},
            Layout.EAGLE3_MLA,
            "eagle3",
        ),
        # Two auxiliary states look like EAGLE-1 by the width of fc; the attention of 2H tells.
        (
            {"hidden_size": 64},
            {"fc.weight": "BF16 64x128", "layers.0.self_attn.q_proj.weight": "BF16 64x128"},
            Layout.EAGLE3_LAYERS,
            "eagle3",
        ),
        ({}, {"hidden_norm.weight": "BF16 64", "fc.weight": "BF16 64x192", **LAYER0}, Layout.OTHER, "dflash"),
        ({"dflash_config": {}}, {"fc.weight": "BF16 64x128", **LAYER0}, Layout.OTHER, "dflash"),
        ({"speculators_model_type": "dflash"}, None, Layout.OTHER, "dflash"),
        ({}, {"markov_head.markov_w1.weight": "BF16 8x8"}, Layout.OTHER, "dspark"),
        ({}, {"model.layers.61.eh_proj.weight": "BF16 64x128"}, Layout.OTHER, "mtp"),
        ({}, {"mtp.fc.weight": "BF16 64x128"}, Layout.OTHER, "mtp"),
        ({"speculators_model_type": "eagle"}, {"fusion_fc.weight": "BF16 64x128"}, Layout.OTHER, "eagle"),
        ({}, {"medusa_head.0.0.linear.weight": "BF16 8x8"}, Layout.OTHER, "medusa"),
        ({}, {"hydra_mlp.0.0.linear.weight": "BF16 8x8"}, Layout.OTHER, "hydra"),
        (
            {"architectures": ["LlamaForCausalLM"]},
            {"model.embed_tokens.weight": "BF16 64x64", "model.layers.0.self_attn.q_proj.weight": "BF16 64x64"},
            Layout.OTHER,
            "draft_model",
        ),
        ({}, {"base_model.layers.0.q_proj.lora_A.weight": "BF16 8x8"}, Layout.NOT_A_DRAFTER, ""),
        ({}, {"nothing.known": "BF16 8x8"}, Layout.UNKNOWN, ""),
        (None, None, Layout.UNKNOWN, ""),
        ({"architectures": ["LlamaForCausalLMEagle3"]}, None, Layout.EAGLE3_MIDLAYER, "eagle3"),
        ({"architectures": ["LlamaForCausalLMEagle"]}, None, Layout.EAGLE1, "eagle"),
    ],
)
def test_layouts(config: dict[str, object] | None, tensors: dict[str, str] | None, layout: Layout, method: str) -> None:
    found = seen(config, tensors)
    assert (found.drafter.layout, found.drafter.method) == (layout, method)
    assert isinstance(found.drafter, Eagle) is layout.value.startswith("eagle")
    if layout is not Layout.UNKNOWN:
        assert found.matches[0].layout is layout
        assert found.matches[0].reasons


@pytest.mark.parametrize("prefix", ["model.", "module.", "module._orig_mod.", "draft_model.model."])
def test_wrappers_are_stripped_and_kept_in_mind(prefix: str) -> None:
    found = seen({}, {f"{prefix}fc.weight": "BF16 64x192", f"{prefix}midlayer.hidden_norm.weight": "BF16 64"})
    assert isinstance(found.drafter, Eagle)
    assert found.drafter.layout is Layout.EAGLE3_MIDLAYER
    assert found.drafter.prefix == prefix
    assert found.drafter.canonical["fc.weight"].name == f"{prefix}fc.weight"


def test_tensors_win_over_the_config_and_the_conflict_is_said() -> None:
    config: dict[str, object] = {"architectures": ["LlamaForCausalLMEagle"]}
    found = seen(config, {"fc.weight": "BF16 64x192", "midlayer.hidden_norm.weight": "BF16 64"})
    assert found.drafter.layout is Layout.EAGLE3_MIDLAYER
    assert len(found.conflicts) == 1
    assert {match.layout for match in found.matches} == {Layout.EAGLE1, Layout.EAGLE3_MIDLAYER}


def test_a_generic_architecture_is_no_conflict() -> None:
    config: dict[str, object] = {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}
    assert not seen(config, {"fc.weight": "BF16 64x192", "midlayer.hidden_norm.weight": "BF16 64"}).conflicts


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.name.removesuffix(".recipe.toml"))
def test_published_drafters_are_eagle(path: Path) -> None:
    recipe = Recipe.parse(path.read_text("utf-8"))
    found = recognise(
        Checkpoint(Reference(spelling="x", kind="hub", name=recipe.name), recipe.source(), role="drafter")
    )
    assert not found.conflicts
    if recipe.tensors:
        assert isinstance(found.drafter, Eagle)
        expected = 1 if "EAGLE-" in path.name else 3
        assert found.drafter.generation == expected
        assert found.drafter.hidden_size
    else:
        assert isinstance(found.drafter, Unsupported)


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.id)
def test_truth_cases(case: TruthCase) -> None:
    found = recognise(
        Checkpoint(Reference(spelling="x", kind="local", name="x"), case.drafter.source(), role="drafter")
    )
    names = [name for table in case.drafter.tensors.values() for name in table]
    if any("midlayer" in name or ("hidden_norm" in name and "layers.0" in name) for name in names):
        assert isinstance(found.drafter, Eagle)
        assert found.drafter.generation == 3
    if case.family == "other":
        assert not isinstance(found.drafter, Eagle)


names = st.sampled_from(
    [
        "fc.weight", "norm.weight", "lm_head.weight", "embed_tokens.weight", "d2t", "hidden_norm.weight",
        "midlayer.hidden_norm.weight", "midlayer.self_attn.q_proj.weight", "layers.0.self_attn.q_proj.weight",
        "layers.0.hidden_norm.weight", "layers.1.mlp.up_proj.weight", "mtp.fc.weight", "markov_head.markov_w1.weight",
        "model.layers.3.eh_proj.weight", "medusa_head.0.0.linear.weight", "x",
    ]
)  # fmt: skip
shapes = st.sampled_from(["BF16 64x192", "BF16 64x128", "BF16 64", "F32 0", "I64 8", "BF16 2x3x4"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
keys = st.sampled_from(
    ["architectures", "model_type", "hidden_size", "eagle_config", "speculators_model_type", "transformer_layer_config",
     "draft_vocab_size", "num_hidden_layers", "dflash_config", "eagle_aux_hidden_state_layer_ids", "target_hidden_size"]
)  # fmt: skip


@given(st.dictionaries(keys, values, max_size=6), st.dictionaries(names, shapes, max_size=8))
@settings(max_examples=150, deadline=None)
def test_recognition_is_total(config: dict[str, object], tensors: dict[str, str]) -> None:
    found = seen(config, tensors)
    assert found.drafter.title
    assert isinstance(found.drafter, Eagle) is found.drafter.layout.value.startswith("eagle")
