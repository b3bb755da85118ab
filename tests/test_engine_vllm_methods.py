"""What the vLLM plan says of methods beside EAGLE: prediction layers, block drafters, heads, and laws of flags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines import Plan, engine
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Role
from drafter_lint.linter import EngineChoice, Selection, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from test_engine_vllm import INNER, LAYERS, RELEASES, V1, H, V, e3, first, kinds, layer, llama, plan, table, without

FIXTURES = Path(__file__).parent.parent / "fixtures"
MLA = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8}
EXPERTS = {"n_routed_experts": 2, "n_shared_experts": 1, "moe_intermediate_size": 32, "first_k_dense_replace": 1}
MTP = table(("0.9.2", "0.10.2", "deepseek_mtp"), ("0.11.2", "0.33.0", "mtp"))
NOW = RELEASES[RELEASES.index("0.10.2") :]


def bf16(shapes: Mapping[str, str]) -> dict[str, str]:
    return {name: f"BF16 {shape}" for name, shape in shapes.items()}


def deepseek(**changes: Any) -> dict[str, Any]:
    own = {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "topk_method": "noaux_tc"}
    return llama(**{**own, **MLA, **EXPERTS, "num_nextn_predict_layers": 1, **changes})


def experts(front: str) -> dict[str, str]:
    shapes = {"gate.weight": f"2x{H}", "gate.e_score_correction_bias": "2"}
    for part in ("experts.0", "experts.1", "shared_experts"):
        shapes |= {f"{part}.gate_proj.weight": f"32x{H}", f"{part}.up_proj.weight": f"32x{H}"}
        shapes |= {f"{part}.down_proj.weight": f"{H}x32"}
    return {f"{front}mlp.{name}": shape for name, shape in shapes.items()}


def latent(front: str) -> dict[str, str]:
    shapes = {
        "q_a_proj": f"16x{H}", "q_a_layernorm": "16", "q_b_proj": "32x16", "kv_a_proj_with_mqa": f"24x{H}",
        "kv_a_layernorm": "16", "kv_b_proj": "32x16", "o_proj": f"{H}x16",
    }  # fmt: skip
    return {f"{front}self_attn.{name}.weight": shape for name, shape in shapes.items()}


def grouped(front: str, *, gated: bool = False, biased: bool = False, normed: bool = False) -> dict[str, str]:
    found = {f"{front}self_attn.q_proj.weight": f"{128 if gated else 64}x{H}"}
    found |= {f"{front}self_attn.{name}.weight": f"32x{H}" for name in ("k_proj", "v_proj")}
    found |= {f"{front}self_attn.o_proj.weight": f"{H}x64"}
    if biased:
        found |= {f"{front}self_attn.{name}.bias": rows for name, rows in (("q_proj", "64"), ("k_proj", "32"))}
        found |= {f"{front}self_attn.v_proj.bias": "32"}
    return found | ({f"{front}self_attn.{name}.weight": "32" for name in ("q_norm", "k_norm")} if normed else {})


def dense(front: str) -> dict[str, str]:
    shapes = {"gate_proj": f"{INNER}x{H}", "up_proj": f"{INNER}x{H}", "down_proj": f"{H}x{INNER}"}
    return {f"{front}mlp.{name}.weight": shape for name, shape in shapes.items()}


def norms(front: str, *names: str) -> dict[str, str]:
    kept = names or ("input_layernorm", "post_attention_layernorm")
    return {f"{front}{name}.weight": f"{H}" for name in kept}


def shared() -> dict[str, str]:
    return {"model.embed_tokens.weight": f"{V}x{H}", "lm_head.weight": f"{V}x{H}", "model.norm.weight": f"{H}"}


def behind(block: Mapping[str, str], index: int = LAYERS) -> dict[str, str]:
    front = f"model.layers.{index}."
    own = norms(front, "enorm", "hnorm", "shared_head.norm")
    own |= {f"{front}eh_proj.weight": f"{H}x{2 * H}", f"{front}shared_head.head.weight": f"{V}x{H}"}
    return bf16({**shared(), **own, **norms(front), f"{front}embed_tokens.weight": f"{V}x{H}", **block})


def deepseek_weights(index: int = LAYERS) -> dict[str, str]:
    front = f"model.layers.{index}."
    return behind({**latent(front), **experts(front)}, index)


def mtp(version: str, config: Mapping[str, Any], lines: Mapping[str, str], tokens: int = 1, **keys: Any) -> Plan:
    method = dict(MTP)[version] if version in ("0.9.2", "0.10.2") else "mtp"
    asked = {"num_speculative_tokens": tokens, "method": method, **keys}
    return plan(version, config, lines, target=config, path="./target", **asked)


@pytest.mark.parametrize(
    ("declared", "rows"),
    [
        (1, table(("0.11.2", "0.33.0", ""))),
        (2, table(("0.11.2", "0.33.0", "config"))),
        (0, table(("0.11.2", "0.33.0", "config"))),
    ],
)
def test_c28_tokens_are_a_multiple_of_the_layers_declared(declared: int, rows: list[tuple[str, str]]) -> None:
    config = deepseek(num_nextn_predict_layers=declared)
    lines = deepseek_weights()
    seen = {version: first(mtp(version, config, lines, 3)) for version, _ in rows}
    assert seen == dict(rows)


@pytest.mark.parametrize(("version", "method"), MTP)
def test_c28_the_method_has_had_other_names(version: str, method: str) -> None:
    made = plan(version, deepseek(), deepseek_weights(), target=deepseek(), method="mtp", path="./target")
    assert (RefusalKind.METHOD_UNKNOWN in kinds(made)) == (method != "mtp")
    older = plan(version, deepseek(), deepseek_weights(), target=deepseek(), method="deepseek_mtp", path="./target")
    assert older.method == method
    assert not older.refusals


@pytest.mark.parametrize(("version", "stage"), table(("0.9.2", "0.10.2", ""), ("0.11.2", "0.33.0", "config")))
def test_c29_tokens_alone_once_meant_the_targets_own_layers(version: str, stage: str) -> None:
    made = plan(
        version,
        deepseek(),
        deepseek_weights(),
        target=deepseek(),
        method=None,
        path="./target",
        model=...,
        num_speculative_tokens=1,
    )
    assert first(made) == stage
    assert (RefusalKind.DRAFT_PATH_MISSING in kinds(made)) == bool(stage)


@pytest.mark.parametrize("version", NOW)
def test_a_whole_prediction_layer_loads_in_every_release(version: str) -> None:
    made = mtp(version, deepseek(), deepseek_weights())
    assert not made.refusals
    assert made.draft_class == "DeepSeekMTP"
    assert {fate.fate for fate in made.tensors} == {"taken"}
    assert {state.state for state in made.parameters} <= {"filled", "shared"}


@pytest.mark.parametrize(("version", "stage"), table(("0.10.2", "0.18.1", "load"), ("0.21.0", "0.33.0", "")))
def test_a_projection_that_is_missing_is_asked_after_until_0_18(version: str, stage: str) -> None:
    lines = without(deepseek_weights(), f"layers.{LAYERS}.self_attn.o_proj")
    made = mtp(version, deepseek(), lines)
    assert first(made) == stage
    assert [state.name for state in made.parameters if state.state == "unfilled"] == [
        f"model.layers.{LAYERS}.mtp_block.self_attn.o_proj.weight"
    ]


@pytest.mark.parametrize("version", NOW)
def test_a_norm_that_is_missing_is_asked_after_in_every_release(version: str) -> None:
    made = mtp(version, deepseek(), without(deepseek_weights(), "enorm"))
    assert kinds(made) == {RefusalKind.TENSOR_REQUIRED}


@pytest.mark.parametrize(("version", "stage"), table(("0.10.2", "0.15.1", ""), ("0.18.1", "0.33.0", "load")))
def test_a_quantised_target_without_its_prediction_layer(version: str, stage: str) -> None:
    config = deepseek(quantization_config={"quant_method": "fp8"})
    made = mtp(version, config, bf16(shared()))
    assert first(made) == stage


@pytest.mark.parametrize("version", ["0.18.1", "0.33.0"])
def test_a_prediction_layer_exported_alone_does_not_stand_where_it_is_looked_for(version: str) -> None:
    exported = deepseek(num_hidden_layers=1)
    made = plan(version, exported, deepseek_weights(0), method="mtp", target=deepseek(), num_speculative_tokens=1)
    assert RefusalKind.TENSOR_REQUIRED in kinds(made)


def family(model_type: str, architecture: str, **more: Any) -> dict[str, Any]:
    return llama(model_type=model_type, architectures=[architecture], **more)


GLM = family(
    "glm4_moe", "Glm4MoeForCausalLM", **EXPERTS, num_nextn_predict_layers=1, attention_bias=True, use_qk_norm=True
)
MIMO = family("mimo", "MiMoForCausalLM", num_nextn_predict_layers=1, auto_map={"AutoConfig": "c.C"})
ERNIE = family("ernie4_5_moe", "Ernie4_5_MoeForCausalLM", num_nextn_predict_layers=1)
QWEN = {"num_experts": 2, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32}
NEXT = family("qwen3_next", "Qwen3NextForCausalLM", **QWEN, num_nextn_predict_layers=1)
DENSE35 = {
    "model_type": "qwen3_5",
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "text_config": family("qwen3_5_text", "", mtp_num_hidden_layers=1),
}


def mimo_weights() -> dict[str, str]:
    front = "model.mtp_layers.0."
    own = norms(front, "token_layernorm", "hidden_layernorm", "final_layernorm")
    own |= {f"{front}input_proj.weight": f"{H}x{2 * H}"}
    return bf16({**shared(), **own, **norms(front), **grouped(front, biased=True), **dense(front)})


def ernie_weights() -> dict[str, str]:
    own = norms("model.", "mtp_emb_norm.0", "mtp_hidden_norm.0")
    own |= {"model.mtp_linear_proj.0.weight": f"{H}x{2 * H}"}
    front = "model.mtp_block.0."
    return bf16({**shared(), **own, **norms(front), **grouped(front), **dense(front)})


def qwen_weights(embedding: str = "model.embed_tokens.weight", *, sparse: bool = True) -> dict[str, str]:
    front = "mtp.layers.0."
    own = norms("mtp.", "norm", "pre_fc_norm_hidden", "pre_fc_norm_embedding")
    own |= {"mtp.fc.weight": f"{H}x{2 * H}", embedding: f"{V}x{H}", "lm_head.weight": f"{V}x{H}"}
    block = dense(front)
    if sparse:
        block = {name.replace("shared_experts", "shared_expert"): shape for name, shape in experts(front).items()}
        block = {name: shape for name, shape in block.items() if "correction" not in name}
        block |= {f"{front}mlp.shared_expert_gate.weight": f"1x{H}"}
    return bf16({**own, **norms(front), **grouped(front, gated=True, normed=True), **block})


def glm_weights() -> dict[str, str]:
    front = f"model.layers.{LAYERS}."
    return behind({**grouped(front, biased=True, normed=True), **experts(front)})


@pytest.mark.parametrize(
    ("config", "lines", "since", "name"),
    [
        (GLM, glm_weights(), "0.11.2", "Glm4MoeMTP"),
        (MIMO, mimo_weights(), "0.11.2", "MiMoMTP"),
        (ERNIE, ernie_weights(), "0.11.2", "ErnieMTP"),
        (NEXT, qwen_weights(), "0.11.2", "Qwen3NextMTP"),
        (
            DENSE35,
            qwen_weights("model.language_model.embed_tokens.weight", sparse=False),
            "0.18.1",
            "Qwen3_5MTP",
        ),
    ],
    ids=["glm", "mimo", "ernie", "qwen3-next", "qwen3.5"],
)
def test_every_followed_family_finds_all_its_tensors(
    config: Mapping[str, Any], lines: Mapping[str, str], since: str, name: str
) -> None:
    for version in RELEASES[RELEASES.index(since) :]:
        made = plan(
            version,
            config,
            lines,
            "--trust-remote-code",
            method="mtp",
            target=config,
            path="./target",
            num_speculative_tokens=1,
        )
        assert (version, made.refusals, made.draft_class) == (version, (), name)
        assert made.tensors
        assert {fate.fate for fate in made.tensors} == {"taken"}
        assert {state.state for state in made.parameters} <= {"filled", "shared"}


def test_mimo_without_its_count_cannot_be_built() -> None:
    config = {key: value for key, value in MIMO.items() if key != "num_nextn_predict_layers"}
    made = mtp("0.33.0", config, mimo_weights())
    assert RefusalKind.CONFIG_UNREADABLE in kinds(made)
    trusted = plan(
        "0.33.0", config, mimo_weights(), "--trust-remote-code", method="mtp", target=config, num_speculative_tokens=1
    )
    assert kinds(trusted) == {RefusalKind.CONFIG_FIELD}


def test_the_second_layer_runs_in_v2_and_not_in_v1() -> None:
    config, lines = deepseek(num_nextn_predict_layers=2), {**deepseek_weights(), **deepseek_weights(LAYERS + 1)}
    by_runner = {
        before: plan(
            "0.33.0",
            config,
            lines,
            method="mtp",
            target=config,
            path="./target",
            before=before,
            num_speculative_tokens=2,
        )
        for before in ((), V1)
    }
    assert {before: made.trained_steps for before, made in by_runner.items()} == {(): 2, V1: 1}
    assert not any(made.refusals for made in by_runner.values())


@pytest.mark.parametrize("version", ["0.11.2", "0.33.0"])
def test_method_mtp_compares_the_tokens_before_anything_could_stand_in(version: str) -> None:
    made = mtp(version, deepseek(), deepseek_weights(), num_speculative_tokens=...)
    assert RefusalKind.TOKEN_COUNTS in kinds(made)


MEDUSA = {
    "architectures": ["MedusaModel"], "model_type": "medusa", "hidden_size": H, "vocab_size": V, "num_heads": 3,
    "num_hidden_layers": 1,
}  # fmt: skip
MEDUSA_LINES = bf16(
    {f"blocks.{head}.layers.0.weight": f"{H}x{H}" for head in range(3)}
    | {f"lm_heads.{head}.weight": f"{V}x{H}" for head in range(3)}
)


@pytest.mark.parametrize(("version", "kind"), table(("0.8.5", "0.32.0", ""), ("0.33.0", "0.33.0", "gone")))
def test_c31_medusa_until_it_was_removed(version: str, kind: str) -> None:
    made = plan(version, MEDUSA, MEDUSA_LINES, method="medusa")
    assert (RefusalKind.METHOD_REMOVED in kinds(made)) == bool(kind)
    assert bool(made.refusals) == bool(kind)
    if not kind:
        assert {state.state for state in made.parameters} == {"filled"}


def test_medusa_builds_as_many_heads_as_tokens_are_drafted() -> None:
    fewer = plan("0.32.0", MEDUSA, MEDUSA_LINES, method="medusa", num_speculative_tokens=2)
    assert [(item.before, item.after) for item in fewer.rewrites] == [("3", "2")]
    assert {fate.name for fate in fewer.tensors if fate.fate == "dropped"} == {
        "blocks.2.layers.0.weight",
        "lm_heads.2.weight",
    }
    assert not fewer.refusals
    more = plan("0.32.0", MEDUSA, MEDUSA_LINES, method="medusa", num_speculative_tokens=4)
    assert kinds(more) == {RefusalKind.TENSOR_REQUIRED}


@pytest.mark.parametrize(("version", "stage"), [("0.24.0", "config"), ("0.27.1", "")])
def test_medusas_first_layout_is_read_since_0_27(version: str, stage: str) -> None:
    config = {"medusa_num_heads": 3, "medusa_num_layers": 1, "hidden_size": H}
    lines = bf16(
        {f"{head}.0.linear.weight": f"{H}x{H}" for head in range(3)}
        | {f"{head}.1.weight": f"{V}x{H}" for head in range(3)}
    )
    assert first(plan(version, config, lines, method="medusa")) == stage


MLP = {
    "architectures": ["MLPSpeculatorPreTrainedModel"], "model_type": "mlp_speculator", "emb_dim": H, "inner_dim": 32,
    "vocab_size": V, "n_predict": 3, "tie_weights": False,
}  # fmt: skip
MLP_LINES = bf16(
    {f"speculator.emb.{i}.weight": f"{V}x32" for i in range(3)}
    | {f"speculator.head.{i}.weight": f"{V}x32" for i in range(3)}
    | {f"speculator.ln.{i}.{part}": "32" for i in range(3) for part in ("weight", "bias")}
    | {f"speculator.proj.{i}.weight": f"32x{H if i == 0 else 32}" for i in range(3)}
)


@pytest.mark.parametrize(("version", "stage"), table(("0.8.5", "0.9.2", ""), ("0.10.2", "0.32.0", "config")))
def test_c32_mlp_speculator_lost_its_class_before_its_name(version: str, stage: str) -> None:
    made = plan(version, MLP, MLP_LINES, method="mlp_speculator")
    assert first(made) == stage
    assert (RefusalKind.ARCHITECTURE_UNREGISTERED in kinds(made)) == bool(stage)
    assert stage or {state.state for state in made.parameters} == {"filled"}


def dflash(**changes: Any) -> dict[str, Any]:
    own = {"architectures": ["DFlashDraftModel"], "model_type": "qwen3", "num_hidden_layers": 1, "block_size": 8}
    ids = {"mask_token_id": V - 1, "target_layer_ids": [1, 15, 28]}
    return llama(**{**own, "dflash_config": ids, "num_target_layers": LAYERS, **changes})


def block_weights(more: Mapping[str, str] | None = None) -> dict[str, str]:
    own = layer("layers.0.", H)
    own = {name: shape for name, shape in own.items() if "hidden_norm" not in name}
    own |= {f"layers.0.self_attn.{name}.weight": "32" for name in ("q_norm", "k_norm")}
    return bf16(
        {**own, "fc.weight": f"{H}x{3 * H}", "hidden_norm.weight": f"{H}", "norm.weight": f"{H}", **(more or {})}
    )


BLOCKS = RELEASES[RELEASES.index("0.21.0") :]


@pytest.mark.parametrize(
    ("version", "boundaries"), table(("0.21.0", "0.21.0", "as written"), ("0.22.0", "0.33.0", "plus one"))
)
def test_c33_dflash_ids_are_outputs_since_0_22(version: str, boundaries: str) -> None:
    # One release earlier than the class in V2 learned it (0.24.0): V1 adds one in 0.22.0 already.
    made = plan(version, dflash(), block_weights(), method="dflash")
    assert not made.refusals
    assert made.capture is not None
    assert made.capture.boundaries == ((1, 15, 28) if boundaries == "as written" else (2, 16, 29))
    assert {fate.fate for fate in made.tensors} == {"taken"}


@pytest.mark.parametrize(("version", "lost"), [("0.21.0", False), ("0.22.1", True), ("0.33.0", True)])
def test_c33_an_eagle_config_takes_the_list_away_in_v1(version: str, *, lost: bool) -> None:
    made = plan(version, dflash(eagle_config={"draft": 1}), block_weights(), method="dflash", before=V1)
    assert made.capture is not None
    assert (made.capture.read is None) is lost


@pytest.mark.parametrize("version", BLOCKS)
def test_c34_a_block_drafter_of_plain_qwen3_name_is_registered_nowhere(version: str) -> None:
    made = plan(version, dflash(architectures=["Qwen3ForCausalLM"]), block_weights(), method="dflash")
    assert kinds(made) == {RefusalKind.ARCHITECTURE_UNREGISTERED}


@pytest.mark.parametrize("version", BLOCKS)
def test_a_block_drafter_of_another_depth_asks_for_states_that_are_not_there(version: str) -> None:
    ids = {"mask_token_id": V - 1, "target_layer_ids": [1, 15, 60]}
    made = plan(version, dflash(dflash_config=ids), block_weights(), method="dflash")
    assert RefusalKind.STATE_WIDTH in kinds(made)


def test_what_a_block_drafter_may_not_have() -> None:
    tensor = plan("0.33.0", dflash(), block_weights({"mask_hidden": f"{H}"}), method="dflash")
    assert kinds(tensor) == {RefusalKind.TENSOR_UNEXPECTED}
    anchored = {**dflash()["dflash_config"], "sample_from_anchor": True}
    assert kinds(plan("0.33.0", dflash(dflash_config=anchored), block_weights(), method="dflash")) == {
        RefusalKind.CONFIG_FIELD
    }
    assert not plan("0.33.0", dflash(dflash_config=anchored), block_weights(), method="dflash", before=V1).refusals


def test_sliding_and_full_attention_in_one_drafter_needs_v2() -> None:
    mixed = dflash(layer_types=["sliding_attention", "full_attention"], num_hidden_layers=1)
    assert plan("0.27.1", mixed, block_weights(), method="dflash").runner == "v2"
    assert kinds(plan("0.27.1", mixed, block_weights(), method="dflash", before=V1)) == {RefusalKind.METHOD_UNSUITABLE}


def dspark(**changes: Any) -> dict[str, Any]:
    own = {"architectures": ["Qwen3DSparkModel"], "markov_rank": 4, "target_layer_ids": [1, 15, 28]}
    return {**dflash(mask_token_id=V - 1, dflash_config={}), **own, **changes}


MARKOV = {"markov_head.markov_w1.weight": f"{V}x4", "markov_head.markov_w2.weight": f"{V}x4"}


@pytest.mark.parametrize(("version", "stage"), table(("0.27.1", "0.30.0", "config"), ("0.31.0", "0.33.0", "")))
def test_c35_dspark_without_a_count(version: str, stage: str) -> None:
    # The block's size stands in since 0.31.0 (config/speculative.py, SpeculativeConfig.__post_init__).
    made = plan(version, dspark(), block_weights(MARKOV), method="dspark", num_speculative_tokens=...)
    assert first(made) == stage
    assert (made.runner, made.draft_class) == ("v2", "Qwen3DSparkForCausalLM")
    assert made.capture is not None
    assert made.capture.boundaries == (2, 16, 29)
    assert {fate.fate for fate in made.tensors} == {"taken"}


@pytest.mark.parametrize(("version", "name"), table(("0.27.1", "0.28.0", ""), ("0.30.0", "0.33.0", "Qwen3DSparkModel")))
def test_dspark_makes_deepseeks_class_of_every_name_it_does_not_know(version: str, name: str) -> None:
    made = plan(version, dspark(architectures=["DSparkDraftModel"]), block_weights(MARKOV), method="dspark")
    assert made.architecture == (name or None)
    assert bool(made.refusals) is not bool(name)


def test_dspark_runs_in_v2_alone() -> None:
    made = plan("0.33.0", dspark(), block_weights(MARKOV), method="dspark", before=V1)
    assert RefusalKind.METHOD_UNSUITABLE in kinds(made)


@pytest.mark.parametrize(("version", "stage"), table(("0.27.1", "0.28.0", ""), ("0.30.0", "0.33.0", "load")))
def test_dspark_over_a_part_of_the_vocabulary_needs_head_and_map(version: str, stage: str) -> None:
    lines = block_weights({**MARKOV, "markov_head.markov_w2.weight": "200x4"})
    assert first(plan(version, dspark(draft_vocab_size=200), lines, method="dspark")) == stage


@pytest.mark.parametrize(
    ("version", "keys", "method", "kind"),
    [
        ("0.21.0", {"draft_sample_method": "probabilistic"}, "eagle3", RefusalKind.FLAG_VALUE),
        ("0.22.0", {"draft_sample_method": "probabilistic"}, "eagle3", None),
        ("0.32.0", {"rejection_sample_method": "fly"}, "eagle3", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"use_heterogeneous_vocab": True}, "eagle3", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"dspark_draft_topk": 8}, "eagle3", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"synthetic_acceptance_length": 2.0}, "eagle3", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"prompt_lookup_min": 4, "prompt_lookup_max": 2}, "ngram", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"suffix_decoding_min_token_prob": 2}, "suffix", RefusalKind.FLAG_VALUE),
        ("0.33.0", {"num_speculative_tokens": ...}, "suffix", None),
        ("0.33.0", {"num_speculative_tokens": ...}, "ngram", RefusalKind.TOKEN_COUNTS),
    ],
)
def test_keys_and_what_they_may_hold(version: str, keys: dict[str, Any], method: str, kind: RefusalKind | None) -> None:
    made = plan(version, e3(), method=method, **keys)
    assert kinds(made) == ({kind} if kind else set())


@pytest.mark.parametrize(("version", "ignored"), table(("0.8.5", "0.9.2", ""), ("0.10.2", "0.15.1", "yes")))
def test_disable_by_batch_size_outlived_what_read_it(version: str, ignored: str) -> None:
    made = plan(version, e3(), disable_by_batch_size=32)
    assert [flag.field for flag in made.ignored_flags] == (["disable_by_batch_size"] if ignored else [])


@pytest.mark.parametrize(("version", "stage"), [("0.15.1", ""), ("0.24.0", "load"), ("0.33.0", "load")])
def test_deepseek_v32_without_its_prediction_layer(version: str, stage: str) -> None:
    config = deepseek(model_type="deepseek_v32", architectures=["DeepseekV32ForCausalLM"], index_topk=64)
    assert first(mtp(version, config, bf16(shared()))) == stage
    assert not mtp(version, config, deepseek_weights()).refusals


@pytest.mark.parametrize(("version", "refused"), [("0.8.5", True), ("0.9.2", False), ("0.10.2", False)])
def test_the_variable_that_forces_v1_refuses_what_v1_did_not_know(version: str, *, refused: bool) -> None:
    made = plan(version, MEDUSA, MEDUSA_LINES, method="medusa", before=("VLLM_USE_V1=1",))
    assert (RefusalKind.METHOD_UNSUITABLE in kinds(made)) is refused


@pytest.mark.parametrize("path", sorted((FIXTURES / "recipes" / "layouts").glob("*.toml")), ids=lambda path: path.stem)
def test_every_refusal_of_every_layout_is_told(path: Path) -> None:
    recipe = Recipe.parse(path.read_text("utf-8"))
    files: dict[Role, Checkpoint] = {
        role: Checkpoint(Reference(spelling=recipe.name, kind="hub", name=recipe.name), recipe.source(), role=role)
        for role in ("drafter", "target")
    }
    pair = understand(files["drafter"], files["target"])
    for version in ("0.9.2", "0.21.0", "0.33.0"):
        check = check_pair(pair, EngineChoice(name="vllm", version=version), selection=Selection())
        assert check.plans
        if any(made.refusals for made in check.plans):
            assert (version, check.verdict) == (version, "refuses")


@pytest.mark.parametrize(("version", "runner"), [("0.27.1", "v1"), ("0.28.0", "v2"), ("0.33.0", "v2")])
def test_a_candidate_head_runs_in_v2(version: str, runner: str) -> None:
    config = dflash(architectures=["DFlash2DraftModel"])
    target = llama(num_experts=8, architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe")
    made = plan(version, config, block_weights(), method="dflash", target=target)
    assert made.runner == runner
    forced = plan(version, config, block_weights(), method="dflash", target=target, before=V1)
    assert (RefusalKind.METHOD_UNSUITABLE in kinds(forced)) == (runner == "v2")


def test_deepseek_v41_has_dspark_stages_and_no_prediction_layer() -> None:
    config = deepseek(model_type="deepseek_v41", architectures=["DeepseekV41ForCausalLM"])
    assert RefusalKind.METHOD_UNSUITABLE in kinds(mtp("0.33.0", config, deepseek_weights()))


@pytest.mark.parametrize(
    ("version", "method", "refused"),
    [("0.30.0", "ngram", True), ("0.32.0", "ngram", False), ("0.33.0", "suffix", True), ("0.18.1", "ngram", False)],
)
def test_forcing_v2_on_a_method_it_does_not_do(version: str, method: str, *, refused: bool) -> None:
    made = plan(version, e3(), method=method, before=("VLLM_USE_V2_MODEL_RUNNER=1",))
    assert (RefusalKind.OTHER in kinds(made)) is refused
    assert plan(version, e3(), method=method).runner == ("v1" if refused or version == "0.18.1" else "v2")


@pytest.mark.parametrize("fused", [False, True])
def test_qwen35s_experts_one_by_one_or_in_one_tensor(*, fused: bool) -> None:
    text = {**family("qwen3_5_moe_text", ""), **QWEN, "mtp_num_hidden_layers": 1}
    config = {"model_type": "qwen3_5_moe", "architectures": ["Qwen3_5MoeForConditionalGeneration"], "text_config": text}
    lines = qwen_weights("model.language_model.embed_tokens.weight")
    if fused:
        lines = without(lines, ".experts.")
        lines |= bf16(
            {"mtp.layers.0.mlp.experts.gate_up_proj": f"2x64x{H}", "mtp.layers.0.mlp.experts.down_proj": f"2x{H}x32"}
        )
    made = plan("0.33.0", config, lines, method="mtp", target=config, path="./target", num_speculative_tokens=1)
    assert (made.refusals, made.draft_class) == ((), "Qwen3_5MoeMTP")
    assert {fate.fate for fate in made.tensors} == {"taken"}
    assert {state.state for state in made.parameters} <= {"filled", "shared"}


@pytest.mark.parametrize(
    ("version", "method", "keys"),
    [
        ("0.10.2", "mtp", {"model", "num_speculative_tokens"}),
        ("0.33.0", "mtp", {"method", "num_speculative_tokens"}),
        ("0.28.0", "dspark", {"method", "num_speculative_tokens"}),
        ("0.33.0", "dspark", {"method", "model"}),
        ("0.9.2", "mlp_speculator", {"method", "model"}),
        ("0.33.0", "dflash2", {"method", "model", "num_speculative_tokens"}),
    ],
)
def test_what_each_kind_needs(version: str, method: str, keys: set[str]) -> None:
    (world,) = worlds(profile("vllm"), version_of(version))
    inside = method in {"mtp", "dspark"}
    request = engine("vllm").needed(world, method, "./target" if inside else "./drafter", "./target")
    assert set(request.speculative_config) == keys
    assert request.assumed
