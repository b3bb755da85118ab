"""Recognition: every drafter for what it is, with reasons, and never for something it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import (
    BlockDrafter,
    Drafter,
    DraftModel,
    Eagle,
    Layout,
    Medusa,
    MlpSpeculator,
    Mtp,
    Recognition,
    Unsupported,
)
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
LANGUAGE_MODEL = {
    "model.embed_tokens.weight": "BF16 512x64",
    "model.layers.0.self_attn.q_proj.weight": "BF16 64x64",
    "model.layers.1.self_attn.q_proj.weight": "BF16 64x64",
}
BACKBONE = {"hidden_norm.weight": "BF16 64", "fc.weight": "BF16 64x192", "norm.weight": "BF16 64", **LAYER0}
TYPES: dict[str, type[Drafter]] = {
    "eagle1": Eagle,
    "eagle3": Eagle,
    "block": BlockDrafter,
    "mtp": Mtp,
    "medusa": Medusa,
    "mlp_speculator": MlpSpeculator,
    "language_model": DraftModel,
    "none": Unsupported,
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
        ({}, {"hidden_norm.weight": "BF16 64", "fc.weight": "BF16 64x192", **LAYER0}, Layout.DFLASH, "dflash"),
        ({"dflash_config": {}}, {"fc.weight": "BF16 64x128", **LAYER0}, Layout.DFLASH, "dflash"),
        ({"speculators_model_type": "dflash"}, None, Layout.DFLASH_SPECULATORS, "dflash"),
        ({}, {"markov_head.markov_w1.weight": "BF16 8x8"}, Layout.DSPARK, "dspark"),
        ({}, {"model.layers.61.eh_proj.weight": "BF16 64x128"}, Layout.MTP_NEXTN, "mtp"),
        ({}, {"mtp.fc.weight": "BF16 64x128"}, Layout.MTP_QWEN, "mtp"),
        (
            {"speculators_model_type": "eagle"},
            {"fusion_fc.weight": "BF16 64x128", "transformer.mlp.up_proj.weight": "BF16 128x64"},
            Layout.EAGLE1_SPECULATORS,
            "eagle",
        ),
        (
            {},
            {"eagle_linear.weight": "BF16 64x128", "layers.0.attention.wq.weight": "BF16 64x64"},
            Layout.EAGLE1,
            "eagle",
        ),
        ({"architectures": ["Qwen3Eagle3Model"]}, None, Layout.EAGLE3_DEEPSPEC, "eagle3"),
        ({}, {"medusa_head.0.0.linear.weight": "BF16 8x8"}, Layout.MEDUSA, "medusa"),
        ({}, {"0.0.linear.weight": "BF16 8x8", "0.1.weight": "BF16 16x8"}, Layout.MEDUSA, "medusa"),
        ({}, {"blocks.0.layers.0.weight": "BF16 8x8"}, Layout.MEDUSA_VLLM, "medusa"),
        ({}, {"hydra_mlp.0.0.linear.weight": "BF16 8x8"}, Layout.HYDRA, "hydra"),
        (
            {},
            {"speculator.emb.0.weight": "BF16 8x8", "speculator.proj.0.weight": "BF16 8x8"},
            Layout.MLP_SPECULATOR,
            "mlp_speculator",
        ),
        ({"architectures": ["LlamaForCausalLM"]}, LANGUAGE_MODEL, Layout.DRAFT_MODEL, "draft_model"),
        ({"spd_type": "pard", "pard_token": 7}, LANGUAGE_MODEL, Layout.PARD, "pard"),
        ({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 16}, None, Layout.DRAFT_MODEL, "draft_model"),
        # One layer and an ordinary name: an EAGLE drafter as likely as a model.
        ({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1}, None, Layout.UNKNOWN, ""),
        ({}, BACKBONE | {"candidate_selector.hidden_projection.weight": "BF16 8x64"}, Layout.DFLASH2, "dflash"),
        ({"speculators_model_type": "dflash2"}, BACKBONE, Layout.DFLASH_SPECULATORS, "dflash"),
        (
            {"speculators_model_type": "dflash2"},
            BACKBONE | {"layers.0.attention_conv.base_kernel": "BF16 2x2x64"},
            Layout.DFLASH2_SPECULATORS,
            "dflash",
        ),
        ({}, BACKBONE | {"prefix_gru.weight_ih_l0": "BF16 24x64"}, Layout.DOMINO, "dflash"),
        (
            {"architectures": ["DFlashDraftModel"]},
            BACKBONE | {"logit_head.prefix_gru.weight_ih_l0": "BF16 24x64"},
            Layout.DOMINO,
            "dflash",
        ),
        (
            {"speculators_model_type": "xpress"},
            BACKBONE | {"refiner_head.readout": "BF16 512x8"},
            Layout.XPRESS_SPECULATORS,
            "dflash",
        ),
        ({}, BACKBONE | {"layers.0.self_attn.k_proj_target.weight": "BF16 64x64"}, Layout.DFLARE, "dflash"),
        ({}, BACKBONE | {"aux_hidden_norms.0.weight": "BF16 64"}, Layout.DFLASH_LAGUNA, "dflash"),
        (
            {},
            {"encoder.fc.weight": "BF16 64x192", "encoder.output_norm_enc.weight": "BF16 64", **LAYER0},
            Layout.DFLASH_MUSE,
            "dflash",
        ),
        ({"architectures": ["MuseGlimmerAssistantModel"]}, None, Layout.DFLASH_MUSE, "dflash"),
        ({"architectures": ["LiLiCorrDraftModel"]}, BACKBONE, Layout.LILICORR, "dflash"),
        (
            {"architectures": ["DFlashDraftModel"], "dflash_config": {"projector_type": "dspark"}},
            BACKBONE | {"markov_head.markov_w1.weight": "BF16 512x8"},
            Layout.DSPARK,
            "dspark",
        ),
        (
            {"architectures": ["DFlashDraftModel"]},
            BACKBONE | {"markov_w1.weight": "BF16 512x8"},
            Layout.DSPARK_MODELOPT,
            "dspark",
        ),
        (
            {"speculators_model_type": "dspark", "architectures": ["DSparkDraftModel"]},
            BACKBONE | {"markov_head.markov_w1.weight": "BF16 512x8"},
            Layout.DSPARK_SPECULATORS,
            "dspark",
        ),
        (
            {"architectures": ["Qwen3DSparkModel"], "markov_rank": 8},
            BACKBONE | {"markov_head.markov_w1.weight": "BF16 512x8"},
            Layout.DSPARK_DEEPSPEC,
            "dspark",
        ),
        ({"architectures": ["Qwen3DSparkModel"], "markov_rank": 0}, BACKBONE, Layout.DFLASH_DEEPSPEC, "dspark"),
        (
            {"dspark_block_size": 7},
            {"layers.0.attn.wq_a.weight": "BF16 8x8", "mtp.0.markov_head.embed.weight": "BF16 8x8"},
            Layout.DSPARK_FUSED,
            "dspark",
        ),
        (
            {"num_nextn_predict_layers": 1},
            LANGUAGE_MODEL | {"model.layers.2.eh_proj.weight": "BF16 64x128"},
            Layout.MTP_DEEPSEEK,
            "mtp",
        ),
        ({}, LANGUAGE_MODEL | {"mtp.0.attn.wq_a.weight": "BF16 8x8"}, Layout.MTP_DEEPSEEK_V4, "mtp"),
        ({}, LANGUAGE_MODEL | {"mtp.layers.0.eh_proj.weight": "BF16 8x8"}, Layout.MTP_LAYERS, "mtp"),
        ({}, LANGUAGE_MODEL | {"model.mtp_layers.0.input_proj.weight": "BF16 8x8"}, Layout.MTP_MIMO, "mtp"),
        ({}, LANGUAGE_MODEL | {"model.mtp_block.0.mlp.up_proj.weight": "BF16 8x8"}, Layout.MTP_ERNIE, "mtp"),
        (
            {"speculators_model_type": "mtp"},
            {"mtp_layers.0.input_proj.weight": "BF16 64x128"},
            Layout.MTP_SPECULATORS,
            "mtp",
        ),
        (
            {"model_type": "gemma4_assistant"},
            {"pre_projection.weight": "BF16 32x128", "post_projection.weight": "BF16 64x32", **LANGUAGE_MODEL},
            Layout.MTP_GEMMA4,
            "mtp",
        ),
        ({"architectures": ["DeepseekV3ForCausalLMNextN"]}, None, Layout.MTP_NEXTN, "mtp"),
        ({"architectures": ["EdsdDraftModel"]}, None, Layout.OTHER, "edsd"),
        ({}, {"hot_tokens": "I64 64"}, Layout.NOT_A_DRAFTER, ""),
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
    assert type(found.drafter) is TYPES[layout.family]
    if layout is not Layout.UNKNOWN:
        assert found.matches[0].layout is layout
        assert found.matches[0].reasons


def eagle3(config: dict[str, object], **more: str) -> Eagle:
    """An EAGLE-3 drafter of the smallest kind."""
    drafter = seen(config, {"fc.weight": "BF16 64x192", "midlayer.hidden_norm.weight": "BF16 64", **more}).drafter
    assert isinstance(drafter, Eagle)
    return drafter


def test_eagle_3_1_is_told_by_its_norms() -> None:
    """The tensors decide; without any, the declaration does."""
    assert eagle3({}).variant == "EAGLE-3"
    shown = eagle3({}, **{"fc_norm.0.weight": "BF16 64"})
    assert (shown.variant, shown.title.split(",")[0], shown.fc_norm) == ("EAGLE-3.1", "EAGLE-3.1", None)
    flags: dict[str, object] = {"fc_norm": True, "norm_output": True, "norm_before_fc": False}
    declared = eagle3(flags)
    assert declared.variant == "EAGLE-3", "a flag over tensors without the norms: norm-scheme tells"
    assert [flag.value for flag in (declared.fc_norm, declared.norm_output, declared.norm_before_fc) if flag] == [
        True,
        True,
        False,
    ]
    alone = seen({"architectures": ["LlamaForCausalLMEagle3"], "use_aux_norm": True}).drafter
    assert isinstance(alone, Eagle)
    assert alone.variant == "EAGLE-3.1"


@pytest.mark.parametrize(
    ("config", "tensors", "token"),
    [
        ({"architectures": ["PEagleDraftModel"]}, {}, None),
        ({"speculators_model_type": "peagle", "mask_token_id": 7}, {}, 7),
        ({"pard_token": 9}, {"mask_hidden": "BF16 1x1x192"}, 9),
        ({"ptd_token_id": 5, "parallel_drafting": True}, {}, 5),
    ],
)
def test_p_eagle_is_a_flag(config: dict[str, object], tensors: dict[str, str], token: int | None) -> None:
    drafter = eagle3(config, **tensors)
    assert (drafter.variant, drafter.method, drafter.parallel) == ("P-EAGLE", "eagle3", True)
    assert (drafter.mask_token.value if drafter.mask_token else None) == token


@pytest.mark.parametrize(
    ("width", "declared", "states"), [(320, None, 5), (256, 128, 2), (384, 128, 3), (200, None, None)]
)
def test_any_number_of_states_of_any_width(width: int, declared: int | None, states: int | None) -> None:
    config: dict[str, object] = {"hidden_size": 64, "target_hidden_size": declared}
    found = seen(config, {"fc.weight": f"BF16 64x{width}", "midlayer.hidden_norm.weight": "BF16 64"}).drafter
    assert isinstance(found, Eagle)
    assert (found.state_width, found.states) == (declared or 64, states)


def test_the_head_is_named_where_the_backbone_is_too() -> None:
    config: dict[str, object] = {"architectures": ["DFlashDraftModel"], "dflash_config": {"projector_type": "domino"}}
    assert seen(config).drafter.layout is Layout.DOMINO
    over = seen(config, BACKBONE)
    assert over.drafter.layout is Layout.DFLASH
    assert "domino" in over.conflicts[0].config_says


def test_what_cannot_be_decided_names_both() -> None:
    """An ordinary class of one layer is as often an EAGLE drafter: without tensors nothing decides."""
    found = seen({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 1})
    assert [match.layout for match in found.matches] == [Layout.EAGLE1, Layout.DRAFT_MODEL]
    assert found.drafter.layout is Layout.UNKNOWN
    assert found.drafter.title.startswith("EAGLE-1/2 or an ordinary language model")


@pytest.mark.parametrize("infix", ["_fsdp_wrapped_module.", "_orig_mod.", "_checkpoint_wrapped_module."])
def test_wrappers_inside_names(infix: str) -> None:
    names = {"fc.weight": "BF16 64x192", f"midlayer.{infix}hidden_norm.weight": "BF16 64"}
    drafter = seen({}, names).drafter
    assert isinstance(drafter, Eagle)
    assert drafter.prefix == infix
    assert drafter.canonical["layers.0.hidden_norm.weight"].name == f"midlayer.{infix}hidden_norm.weight"


def test_needs_of_a_block_drafter() -> None:
    config: dict[str, object] = {
        "architectures": ["DSparkDraftModel"], "hidden_size": 64, "num_target_layers": 8, "block_size": 4,
        "dspark_config": {"mask_token_id": 7, "target_layer_ids": [1, 3, 5], "markov_rank": 8,
                          "sample_from_anchor": False, "enable_confidence_head": True},
    }  # fmt: skip
    drafter = seen(config, BACKBONE | {"markov_head.markov_w1.weight": "BF16 512x8"}).drafter
    assert isinstance(drafter, BlockDrafter)
    assert (drafter.variant, drafter.container, drafter.attention, drafter.counts) == (
        "DSpark",
        "alone",
        "gqa",
        "outputs",
    )
    assert (drafter.states, drafter.state_width, drafter.layers_in_file) == (3, 64, 1)
    assert [(ids.ids.value, ids.place) for ids in drafter.layer_ids] == [((1, 3, 5), "nested")]
    located = (drafter.mask_token, drafter.block_size, drafter.markov_rank, drafter.sample_from_anchor)
    assert [value.value for value in located if value] == [7, 4, 8, False]
    assert drafter.mask_token
    assert drafter.mask_token.at.pointer == "/dspark_config/mask_token_id"


def test_needs_of_prediction_layers() -> None:
    config: dict[str, object] = {"text_config": {"hidden_size": 64, "mtp_num_hidden_layers": 2}}
    drafter = seen(
        config, LANGUAGE_MODEL | {"mtp.fc.weight": "BF16 64x128", "mtp.layers.0.mlp.weight": "F32 1"}
    ).drafter
    assert isinstance(drafter, Mtp)
    assert (drafter.container, drafter.indices, drafter.layers_in_file) == ("target", (0,), 1)
    assert drafter.num_layers
    assert (drafter.num_layers.value, drafter.num_layers.at.pointer) == (2, "/text_config/mtp_num_hidden_layers")
    assistant = seen(
        {"model_type": "gemma4_assistant", "backbone_hidden_size": 128, "text_config": {"hidden_size": 64}},
        {"pre_projection.weight": "BF16 64x256", "post_projection.weight": "BF16 128x64"},
    ).drafter
    assert isinstance(assistant, Mtp)
    assert assistant.container == "alone"
    assert assistant.state_width
    assert assistant.state_width.value == 128


def test_needs_of_heads() -> None:
    heads = seen(
        {"medusa_num_heads": 2, "medusa_num_layers": 1},
        {f"medusa_head.{index}.0.linear.weight": "BF16 64x64" for index in range(5)},
    ).drafter
    assert isinstance(heads, Medusa)
    assert heads.num_layers
    assert (heads.num_layers.value, heads.layers_in_file, heads.chained) == (2, 5, False)
    stack = seen(
        {"model_type": "mlp_speculator", "emb_dim": 64, "inner_dim": 0, "n_predict": 3, "tie_weights": True},
        {f"{part}.{index}.weight": "BF16 64x64" for index in range(3) for part in ("emb", "proj", "head", "ln")},
    ).drafter
    assert isinstance(stack, MlpSpeculator)
    assert stack.hidden_size
    assert (stack.hidden_size.value, stack.layers_in_file) == (64, 3)


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
def test_published_drafters(path: Path) -> None:
    recipe = Recipe.parse(path.read_text("utf-8"))
    found = recognise(
        Checkpoint(Reference(spelling="x", kind="hub", name=recipe.name), recipe.source(), role="drafter")
    )
    assert not found.conflicts
    if recipe.name.startswith(("Qwen/", "meta-llama/")):
        assert isinstance(found.drafter, DraftModel)
        assert found.drafter.layers_in_file == (found.drafter.num_layers and found.drafter.num_layers.value)
    elif recipe.tensors or recipe.opaque:
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
    assert type(found.drafter) is TYPES[found.drafter.layout.family]
