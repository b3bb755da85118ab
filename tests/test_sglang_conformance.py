"""Thirty-nine small triples of drafter, target and flags, and what each SGLang release does with them.

Each is stated as it follows from the sources of the releases read; those that a real engine was also run with are in
fixtures/truth. N = 32 layers, H = 64, unless a case says otherwise.
"""

from __future__ import annotations

from typing import Any

import pytest

from drafter_lint.engines import Plan
from drafter_lint.engines.plan import RefusalKind
from test_engine_sglang import (
    COUNTS,
    DRAFTED,
    RELEASES,
    H,
    V,
    deepseek,
    eagle3,
    ids,
    kinds,
    llama,
    lost,
    plan,
    weights,
    without,
)
from test_engine_sglang_methods import block, small

FIRST, LAST = RELEASES[0], RELEASES[-1]
WIDE = {"hidden_size": 128, "head_dim": 64, "intermediate_size": 256}
EAGLE2 = {"architectures": ["LlamaForCausalLMEagle"], "num_hidden_layers": 1}
MLA = {
    "architectures": ["Eagle3DeepseekV2ForCausalLM"], "model_type": "deepseek_v3", "q_lora_rank": 16,
    "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
}  # fmt: skip


def between(first: str, last: str) -> set[str]:
    return set(RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1])


def stage(made: Plan) -> str:
    """When the first refusal comes, "" if none does."""
    order = ("arguments", "config", "load", "first-request")
    stages = {refusal.stage for refusal in made.refusals}
    return next((name for name in order if name in stages), "")


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("method", ["EAGLE", "NEXTN"])
def test_t1_t2_an_eagle3_drafter_under_eagle_is_bypassed(version: str, method: str) -> None:
    target = llama() if method == "EAGLE" else deepseek()
    made = plan(version, eagle3(), method=method, target=target)
    assert (stage(made), made.fc and made.fc.runs) == ("", False)


@pytest.mark.parametrize("version", RELEASES)
def test_t3_under_eagle3_it_runs(version: str) -> None:
    made = plan(version, eagle3())
    assert (stage(made), made.fc and made.fc.runs) == ("", True)


@pytest.mark.parametrize("version", RELEASES)
def test_t4_another_width_than_the_targets(version: str) -> None:
    drafter, target, lines = eagle3(target_hidden_size=128), llama(**WIDE), weights(width=128)
    assert stage(plan(version, drafter, lines, method="EAGLE", target=target)) == "first-request"
    own = {**lines, "embed_tokens.weight": f"BF16 {V}x{H}"}
    assert stage(plan(version, drafter, own, target=target)) == ""
    bare = plan(version, drafter, lines, target=target)
    assert (stage(bare), bare.embedding and bare.embedding.provider) == ("", "uninitialised")


@pytest.mark.parametrize("version", RELEASES)
def test_t5_an_eagle2_class_under_eagle3(version: str) -> None:
    assert stage(plan(version, llama(**EAGLE2))) == "load"


@pytest.mark.parametrize("version", RELEASES)
def test_t6_no_draft_vocab_size(version: str) -> None:
    config = {key: value for key, value in eagle3().items() if key != "draft_vocab_size"}
    assert stage(plan(version, config)) == "load"
    tied = plan(version, {**config, "tie_word_embeddings": True})
    assert (RefusalKind.CONFIG_FIELD in kinds(tied)) is (version in between("0.5.4.post3", LAST))


@pytest.mark.parametrize("version", RELEASES)
def test_t7_a_null_draft_vocab_size(version: str) -> None:
    made = plan(version, eagle3(draft_vocab_size=None))
    assert (RefusalKind.CONFIG_FIELD in kinds(made)) is (version in between(FIRST, "0.5.1.post3"))


@pytest.mark.parametrize("version", RELEASES)
def test_t8_layers_0_names(version: str) -> None:
    made = plan(version, eagle3(), weights(layer="layers.0."))
    assert bool(lost(made)) is (version in between(FIRST, "0.5.11"))


@pytest.mark.parametrize("version", RELEASES)
def test_t9_two_layers(version: str) -> None:
    made = plan(version, eagle3(num_hidden_layers=2))
    assert (RefusalKind.LAYER_COUNT in kinds(made)) is (version in between(FIRST, "0.5.11"))


@pytest.mark.parametrize("version", RELEASES)
def test_t10_four_states(version: str) -> None:
    made = plan(version, eagle3(**ids(1, 9, 17, 25)), weights(states=4))
    assert (RefusalKind.TENSOR_SHAPE in kinds(made)) is (version in between(FIRST, "0.5.11"))


@pytest.mark.parametrize("version", RELEASES)
def test_t11_t12_ids_and_the_default(version: str) -> None:
    same, later = plan(version, eagle3(**ids(1, 15, 28))), plan(version, eagle3(**ids(2, 16, 29)))
    assert same.capture is not None
    assert later.capture is not None
    assert same.capture.boundaries == (2, 16, 29)
    assert later.capture.boundaries == ((2, 16, 29) if version == FIRST else (3, 17, 30))
    split = any(step.topic == "capture-graph" for step in later.steps)
    assert split is (version in between("0.4.9.post6", "0.5.10.post1"))


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("architecture", "hook"),
    [("DeepseekV3ForCausalLM", "0.5.4.post3"), ("KimiK25ForConditionalGeneration", "0.5.10.post1")],
)
def test_t13_t14_deepseeks_and_kimis_ids(version: str, architecture: str, hook: str) -> None:
    made = plan(version, eagle3(**ids(2, 30, 58)), target=deepseek(architectures=[architecture]))
    refused = RefusalKind.TARGET_UNSUPPORTED in kinds(made)
    registered = architecture != "KimiK25ForConditionalGeneration" or version in between("0.5.9", LAST)
    if version not in between(hook, LAST):
        assert refused or not registered
        return
    assert not refused
    assert made.capture is not None
    assert made.capture.boundaries == ((2, 30, 58) if version in between("0.5.13", LAST) else (3, 31, 59))


@pytest.mark.parametrize("version", sorted(between("0.4.9.post6", LAST)))
def test_t15_ids_past_the_last_layer(version: str) -> None:
    assert stage(plan(version, eagle3(**ids(1, 15, 31)))) == "first-request"
    alone = plan(version, eagle3(**ids(31, 40, 15)))
    assert (stage(alone), alone.fc and alone.fc.runs) == ("", False)


@pytest.mark.parametrize("version", sorted(between("0.5.4.post3", LAST)))
def test_t16_a_target_that_marks_its_layers(version: str) -> None:
    target = llama(architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe")
    assert stage(plan(version, eagle3(**ids(1, 15, 31)), target=target)) == "load"


@pytest.mark.parametrize("version", RELEASES)
def test_t17_t18_t19_the_map_and_the_head(version: str) -> None:
    unmapped = plan(version, eagle3(), without(weights(), "d2t"))
    assert (stage(unmapped) == "load") is (version == FIRST)
    assert unmapped.map is not None
    assert unmapped.map.use == "identity"
    absolute = plan(version, eagle3())  # a map of absolute ids has the same shape: the plan adds what is there
    assert (stage(absolute), absolute.map and absolute.map.use) == ("", "offsets")
    headless = plan(version, eagle3(), without(weights(), "lm_head.weight"))
    assert (stage(headless), headless.head and headless.head.provider) == ("", "uninitialised")


@pytest.mark.parametrize("version", RELEASES)
def test_t20_a_shorter_context(version: str) -> None:
    drafter, target = eagle3(max_position_embeddings=2048), llama(max_position_embeddings=32768)
    assert bool(stage(plan(version, drafter, target=target))) is (version in between("0.5.1.post3", LAST))
    allowed = plan(version, drafter, target=target, before=("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1",))
    assert not stage(allowed)


@pytest.mark.parametrize("version", RELEASES)
def test_t21_t22_eagle2_without_a_bias_and_with_a_prefix(version: str) -> None:
    lines = {
        f"layers.0.{name.removeprefix('midlayer.')}": line for name, line in weights().items() if "midlayer" in name
    }
    lines = {
        name: line.replace(f"x{2 * H}", f"x{H}") if "_proj" in name and "mlp" not in name else line
        for name, line in lines.items()
    }
    lines |= {"fc.weight": f"BF16 {H}x{2 * H}"}
    made = plan(version, llama(**EAGLE2), lines, method="EAGLE")
    assert stage(made) == ""
    assert "model.fc.bias" in {state.name for state in made.parameters if state.state == "unfilled"}
    prefixed = plan(version, llama(**EAGLE2), {f"model.{name}": line for name, line in lines.items()}, method="EAGLE")
    assert len(lost(prefixed)) > 5 or stage(prefixed)


@pytest.mark.parametrize("version", RELEASES)
def test_t23_the_mla_class(version: str) -> None:
    made = plan(version, eagle3(**MLA), target=deepseek())
    assert (RefusalKind.ARCHITECTURE_UNREGISTERED in kinds(made)) is (version in between(FIRST, "0.5.11"))


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("architecture", "first"), [("MiMoV2FlashForCausalLM", "0.5.7"), ("DeepseekV4ForCausalLM", "0.5.12.post1")]
)
def test_t24_targets_without_the_hook(version: str, architecture: str, first: str) -> None:
    made = plan(version, eagle3(), target=llama(architectures=[architecture]))
    # Before the release that brings the class there is no target to speak of.
    assert (RefusalKind.TARGET_UNSUPPORTED in kinds(made)) is (version in between(first, LAST))


@pytest.mark.parametrize("version", RELEASES)
def test_t25_no_path(version: str) -> None:
    assert stage(plan(version, eagle3(), path=False)) == "load"


@pytest.mark.parametrize("version", sorted(between("0.5.2", LAST)))
def test_t26_standalone_with_a_class_that_is_rewritten(version: str) -> None:
    made = plan(version, llama(architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe"), {}, method="STANDALONE")
    assert (made.architecture == "Qwen3MoeForCausalLMMTP") is (version in between("0.5.13", LAST))
    assert (RefusalKind.METHOD_UNSUITABLE in kinds(made)) is (version in between("0.5.13", LAST))


@pytest.mark.parametrize("version", RELEASES)
def test_t27_t28_counts(version: str) -> None:
    made = plan(version, eagle3(), counts=(*COUNTS[:-1], "8"))
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert ("--speculative-num-draft-tokens", "8", "4") in written
    alone = plan(version, eagle3(), counts=("--speculative-eagle-topk", "4"))
    assert stage(alone) == "arguments"


@pytest.mark.parametrize("version", RELEASES)
def test_t29_a_tree_over_pages(version: str) -> None:
    tree = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8")
    made = plan(version, eagle3(), None, "--page-size", "16", "--attention-backend", "triton", counts=tree)
    assert (stage(made) == "arguments") is (version in between("0.5.2", "0.5.12.post1"))
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert (("--speculative-eagle-topk", "4", "1") in written) is (version == FIRST)


@pytest.mark.parametrize("version", RELEASES)
def test_t30_dflash(version: str) -> None:
    made = block(version, small("dflash"))
    assert (stage(made) == "arguments") is (version in between(FIRST, "0.5.10.post1"))
    assert not stage(made) or version in between(FIRST, "0.5.10.post1")


@pytest.mark.parametrize("version", RELEASES)
def test_t31_auxiliary_states_turned_off(version: str) -> None:
    made = plan(version, eagle3(eagle_config={"use_aux_hidden_state": False}), without(weights(), "fc.weight"))
    assert made.capture is not None
    assert made.capture.active is (version in between(FIRST, "0.5.7"))
    unfilled = [state.name for state in made.parameters if state.matters and state.state == "unfilled"]
    assert ("model.fc.weight" in unfilled) is made.capture.active


@pytest.mark.parametrize("version", RELEASES)
def test_t32_a_speculators_config(version: str) -> None:
    config = {"architectures": ["Eagle3Speculator"], "speculators_config": {}, "transformer_layer_config": llama()}
    assert RefusalKind.CONFIG_UNREADABLE in kinds(plan(version, config))


@pytest.mark.parametrize("version", RELEASES)
def test_t33_a_null_width_of_the_target(version: str) -> None:
    assert stage(plan(version, eagle3(target_hidden_size=None))) == "load"


@pytest.mark.parametrize("version", RELEASES)
def test_t34_heads_no_multiple_of_the_ranks(version: str) -> None:
    made = plan(version, eagle3(num_attention_heads=24, num_key_value_heads=8), None, "--tp", "16")
    assert RefusalKind.TENSOR_PARALLEL in kinds(made)


@pytest.mark.parametrize("version", RELEASES)
def test_t35_quantisation_is_inherited(version: str) -> None:
    assert RefusalKind.QUANTIZATION in kinds(plan(version, eagle3(), None, "--quantization", "awq"))
    own = ("--quantization", "awq", "--speculative-draft-model-quantization", "unquant")
    made = plan(version, eagle3(), None, *own)
    assert (not kinds(made)) is (version in between("0.5.7", LAST))


@pytest.mark.parametrize("version", sorted(between("0.5.2", LAST)))
def test_t36_the_last_boundary_of_gpt_oss(version: str) -> None:
    target = llama(architectures=["GptOssForCausalLM"], model_type="gpt_oss", num_hidden_layers=36)
    made = plan(version, eagle3(**ids(2, 18, 36)), target=target)
    assert (stage(made) == "") is (version in between("0.5.17", LAST))
    if version in between("0.5.17", LAST):
        assert made.capture is not None
        assert made.capture.boundaries == (2, 18, 36)


@pytest.mark.parametrize("version", sorted(between("0.5.12.post1", LAST)))
def test_t37_an_mla_drafter_with_no_prediction_layers(version: str) -> None:
    made = plan(version, eagle3(**MLA, num_nextn_predict_layers=0), target=deepseek())
    refused = any("num_nextn_predict_layers" in refusal.says for refusal in made.refusals)
    assert refused is (version == "0.5.12.post1")


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("flag", "first", "last"),
    [
        (("--speculative-dflash-draft-window-size", "512"), "0.5.11", "0.5.19"),
        (("--speculative-skip-dp-mlp-sync",), "0.5.11", "0.5.22"),
    ],
)
def test_t38_t39_flags_that_came_and_went(version: str, flag: tuple[str, ...], first: str, last: str) -> None:
    made: Any = plan(version, eagle3(), None, *flag)
    assert (RefusalKind.FLAG_UNKNOWN in kinds(made)) is (version not in between(first, last))


def test_every_number_has_its_case() -> None:
    """The names above count from 1 to 39."""
    numbers = {
        int(part[1:])
        for name in globals()
        if name.startswith("test_t")
        for part in name.removeprefix("test_").split("_")
        if part[:1] == "t" and part[1:].isdigit()
    }
    assert numbers == set(range(1, 40))
    assert DRAFTED < V
