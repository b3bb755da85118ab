"""What the vLLM plan says of small pairs, release by release: conformance cases and wrong combinations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines import Plan, engine
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Role
from drafter_lint.launch import parse_command
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.targets import read_target

H, INNER, V, DRAFTED, LAYERS = 64, 128, 1000, 200, 32
RELEASES = [str(release) for release in profile("vllm").read]
STAGES = ("arguments", "config", "load", "first-request")
V1 = ("VLLM_USE_V2_MODEL_RUNNER=0",)


def llama(**changes: Any) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": H,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 32,
        "vocab_size": V,
        "max_position_embeddings": 4096,
        **changes,
    }


def e3(**changes: Any) -> dict[str, Any]:
    return llama(**{"num_hidden_layers": 1, "draft_vocab_size": DRAFTED, **changes})


def nested(*ids: int, **more: Any) -> dict[str, Any]:
    return {"eagle_config": {"eagle_aux_hidden_state_layer_ids": list(ids), **more}}


def layer(prefix: str = "midlayer.", width: int = 2 * H) -> dict[str, str]:
    return {
        f"{prefix}self_attn.q_proj.weight": f"64x{width}",
        f"{prefix}self_attn.k_proj.weight": f"32x{width}",
        f"{prefix}self_attn.v_proj.weight": f"32x{width}",
        f"{prefix}self_attn.o_proj.weight": f"{H}x64",
        f"{prefix}mlp.gate_proj.weight": f"{INNER}x{H}",
        f"{prefix}mlp.up_proj.weight": f"{INNER}x{H}",
        f"{prefix}mlp.down_proj.weight": f"{H}x{INNER}",
        f"{prefix}input_layernorm.weight": f"{H}",
        f"{prefix}hidden_norm.weight": f"{H}",
        f"{prefix}post_attention_layernorm.weight": f"{H}",
    }


def weights(more: Mapping[str, str] | None = None, *, states: int = 3, prefix: str = "midlayer.") -> dict[str, str]:
    shapes = {
        **layer(prefix),
        "norm.weight": f"{H}",
        "fc.weight": f"{H}x{states * H}",
        "lm_head.weight": f"{DRAFTED}x{H}",
    }
    lines = {name: f"BF16 {shape}" for name, shape in shapes.items()}
    return {**lines, "d2t": f"I64 {DRAFTED}", "t2d": f"BOOL {V}", **(more or {})}


def without(lines: Mapping[str, str], *parts: str) -> dict[str, str]:
    return {name: line for name, line in lines.items() if not any(part in name for part in parts)}


def eagle1() -> dict[str, str]:
    lines = without(
        {name: f"BF16 {shape}" for name, shape in layer("layers.0.", H).items()}, "input_layernorm", "hidden_norm"
    )
    return {**lines, "fc.weight": f"BF16 {H}x{2 * H}", "embed_tokens.weight": f"BF16 {V}x{H}"}


def opened(config: Mapping[str, Any], lines: Mapping[str, str], role: Role, spelling: str) -> Checkpoint:
    tensors = {"model.safetensors": dict(lines)} if lines else {}
    recipe = Recipe(name=spelling, config=json.dumps(config, indent=1), tensors=tensors)
    return Checkpoint(Reference(spelling=spelling, kind="local", name=spelling), recipe.source(), role=role)


def plan(
    version: str,
    config: Mapping[str, Any],
    lines: Mapping[str, str] | None = None,
    *flags: str,
    method: str | None = "eagle3",
    path: str = "./drafter",
    target: Mapping[str, Any] | None = None,
    before: tuple[str, ...] = (),
    **keys: Any,
) -> Plan:
    given: dict[str, Any] = {"model": path, "num_speculative_tokens": 3}
    given |= {"method": method} if method else {}
    given |= keys
    asked = {key: value for key, value in given.items() if value is not ...}
    forced = ("VLLM_USE_V1=1",) if version == "0.8.5" and method in {"eagle", "eagle3"} else ()
    words = [*forced, *before, "vllm", "serve", "./target", "--speculative-config", json.dumps(asked), *flags]
    verifier = read_target(opened(target or llama(), {}, "target", "./target"))
    drafter = opened(config, weights() if lines is None else lines, "drafter", path)
    (world,) = worlds(profile("vllm"), version_of(version))
    return engine("vllm").plan(world, parse_command(words), drafter, verifier)


def first(made: Plan) -> str:
    """The earliest stage that refuses, "" if none does."""
    return min((refusal.stage for refusal in made.refusals), key=STAGES.index, default="")


def kinds(made: Plan) -> set[RefusalKind]:
    return {refusal.kind for refusal in made.refusals}


def table(*rows: tuple[str, str, str]) -> list[tuple[str, str]]:
    """(first release, last release, expected) for every read release between."""
    spread = [
        (release, expected)
        for low, high, expected in rows
        for release in RELEASES[RELEASES.index(low) : RELEASES.index(high) + 1]
    ]
    assert len({release for release, _ in spread}) == len(spread)
    return spread


@pytest.mark.parametrize("version", RELEASES)
def test_c1_an_eagle3_drafter_of_plain_llama_name_runs_in_every_release(version: str) -> None:
    made = plan(version, e3())
    assert not made.refusals
    assert (made.method, made.draft_class, made.takes_aux) == ("eagle3", "Eagle3LlamaForCausalLM", True)
    assert made.capture is not None
    assert made.capture.boundaries == (2, 16, 29)
    assert made.fc is not None
    assert (made.fc.runs, made.fc.takes, made.fc.fed) == (True, 192, 192)
    assert [fate.name for fate in made.tensors if fate.fate != "taken"] == ["t2d"]


@pytest.mark.parametrize(("version", "method"), table(("0.8.5", "0.9.2", "eagle"), ("0.10.2", "0.33.0", "eagle3")))
def test_c2_a_name_with_eagle3_and_a_dash(version: str, method: str) -> None:
    made = plan(version, e3(), method=None, path="org/EAGLE3-x")
    assert (made.method, made.method_origin) == (method, "name")
    assert bool(made.refusals) == (method == "eagle")


@pytest.mark.parametrize("version", RELEASES)
def test_c3_eagle_dash_wins_over_what_follows(version: str) -> None:
    made = plan(version, e3(), method=None, path="org/foo-eagle-3-bar")
    assert made.method == "eagle"
    assert made.refusals


@pytest.mark.parametrize(("version", "stage"), table(("0.8.5", "0.8.5", "load"), ("0.9.2", "0.33.0", "")))
def test_c4_method_eagle_bypasses_fc_of_a_class_that_already_begins_with_eagle(version: str, stage: str) -> None:
    made = plan(version, e3(architectures=["Eagle3LlamaForCausalLM"]), method="eagle")
    assert first(made) == stage
    if not stage:
        assert made.fc is not None
        assert made.capture is not None
        assert (made.fc.built, made.fc.runs, made.capture.active) == (True, False, False)
        assert made.takes_aux


@pytest.mark.parametrize("version", ["0.13.0", "0.24.0", "0.33.0"])
def test_c5_the_bypass_shows_where_the_widths_differ(version: str) -> None:
    config = e3(architectures=["Eagle3LlamaForCausalLM"], target_hidden_size=128)
    made = plan(version, config, weights(states=6), method="eagle", target=llama(hidden_size=128))
    assert {(refusal.kind, refusal.stage) for refusal in made.refusals} >= {(RefusalKind.STATE_WIDTH, "first-request")}


@pytest.mark.parametrize(
    ("version", "stage"),
    table(("0.8.5", "0.9.2", "config"), ("0.10.2", "0.13.0", "load"), ("0.15.1", "0.33.0", "config")),
)
def test_c6_method_eagle_makes_an_unknown_name_of_the_sglang_spelling(version: str, stage: str) -> None:
    made = plan(version, e3(architectures=["LlamaForCausalLMEagle3"]), method="eagle")
    assert first(made) == stage
    assert RefusalKind.ARCHITECTURE_UNREGISTERED in kinds(made)


@pytest.mark.parametrize(("version", "stage"), table(("0.8.5", "0.9.2", "config"), ("0.10.2", "0.33.0", "")))
def test_c7_the_sglang_spelling_with_method_eagle3(version: str, stage: str) -> None:
    assert first(plan(version, e3(architectures=["LlamaForCausalLMEagle3"]))) == stage


@pytest.mark.parametrize(
    ("version", "method", "stage"),
    [
        ("0.9.2", "draft_model", "load"),
        ("0.10.2", None, "config"),
        ("0.15.1", None, "config"),
        ("0.18.1", "draft_model", "load"),
        ("0.33.0", "draft_model", "load"),
    ],
)
def test_c8_neutral_name_and_no_method(version: str, method: str | None, stage: str) -> None:
    made = plan(version, e3(), method=None)
    assert (made.method, first(made)) == (method, stage)


@pytest.mark.parametrize(
    ("kind", "architecture", "rows"),
    [
        ("deepseek_v3", "DeepseekV3ForCausalLM", table(("0.8.5", "0.15.1", "config"), ("0.18.1", "0.33.0", ""))),
        ("kimi_k2", "DeepseekV3ForCausalLM", table(("0.8.5", "0.15.1", "config"), ("0.18.1", "0.33.0", ""))),
        ("qwen3", "Qwen3ForCausalLM", table(("0.8.5", "0.9.2", "config"), ("0.10.2", "0.33.0", ""))),
        ("glm4_moe", "Glm4MoeForCausalLM", table(("0.8.5", "0.21.0", "config"), ("0.22.0", "0.33.0", "load"))),
    ],
)
def test_c9_to_c11_targets_allowed_and_hooked(kind: str, architecture: str, rows: list[tuple[str, str]]) -> None:
    # The allow-list is gone from 0.22.0 on (config/speculative.py, SpeculativeConfig._verify_args).
    target = llama(model_type=kind, architectures=[architecture])
    seen = {version: first(plan(version, e3(), target=target)) for version, _ in rows}
    assert seen == dict(rows)


@pytest.mark.parametrize(
    ("version", "stage"),
    table(("0.9.2", "0.13.0", "load"), ("0.15.1", "0.22.1", "config"), ("0.24.0", "0.33.0", "")),
)
def test_c12_a_drafter_of_qwen3_name(version: str, stage: str) -> None:
    norms = {f"midlayer.self_attn.{name}.weight": "BF16 32" for name in ("q_norm", "k_norm")}
    made = plan(version, e3(architectures=["Qwen3ForCausalLM"], model_type="qwen3"), weights(norms))
    assert first(made) == stage
    assert stage or made.draft_class == "Eagle3Qwen3ForCausalLM"


MLA = {
    "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
    "architectures": ["Eagle3DeepseekV2ForCausalLM"],
}  # fmt: skip
MLA_LAYER = {
    "q_a_proj": f"16x{2 * H}", "q_a_layernorm": "16", "q_b_proj": "32x16", "kv_a_proj_with_mqa": f"24x{2 * H}",
    "kv_a_layernorm": "16", "kv_b_proj": "32x16", "o_proj": f"{H}x16",
}  # fmt: skip


def mla() -> dict[str, str]:
    own = {f"midlayer.self_attn.{name}.weight": f"BF16 {shape}" for name, shape in MLA_LAYER.items()}
    return {**without(weights(), "self_attn"), **own}


@pytest.mark.parametrize("version", RELEASES)
def test_c13_a_drafter_of_model_type_deepseek_v3_is_taken_for_an_mtp_module(version: str) -> None:
    made = plan(version, e3(**MLA, model_type="deepseek_v3"), mla())
    assert first(made) in {"config", "load"}
    assert version == "0.8.5" or any(step.after.endswith("MTPModel") for step in made.rewrites)


@pytest.mark.parametrize("version", RELEASES[RELEASES.index("0.18.1") :])
@pytest.mark.parametrize("model_type", ["kimi_k2", "deepseek_v2"])
def test_c14_other_model_types_keep_an_mla_drafter_what_it_is(version: str, model_type: str) -> None:
    made = plan(version, e3(**MLA, model_type=model_type), mla())
    assert not made.refusals
    assert made.draft_class == "Eagle3DeepseekV2ForCausalLM"
    fused = next(state for state in made.parameters if state.name.endswith("fused_qkv_a_proj.weight"))
    assert (fused.state, fused.shape) == ("filled", (40, 2 * H))


@pytest.mark.parametrize(
    ("version", "before", "boundaries"),
    [
        ("0.10.2", (), (2, 16, 29)),
        ("0.21.0", (), (2, 16, 29)),
        ("0.22.0", (), (5, 10, 20)),
        ("0.22.1", V1, (5, 10, 20)),
        ("0.24.0", (), (2, 16, 29)),
        ("0.24.0", V1, (5, 10, 20)),
        ("0.33.0", (), (2, 16, 29)),
        ("0.33.0", V1, (5, 10, 20)),
    ],
)
def test_c15_nested_ids_by_release_and_runner(
    version: str, before: tuple[str, ...], boundaries: tuple[int, ...]
) -> None:
    made = plan(version, e3(**nested(5, 10, 20)), before=before)
    assert made.capture is not None
    assert made.capture.boundaries == boundaries
    assert bool(made.capture.ignored) == (boundaries == (2, 16, 29))


@pytest.mark.parametrize(("version", "read"), table(("0.8.5", "0.10.2", ""), ("0.11.2", "0.33.0", "yes")))
def test_c16_ids_at_top_level(version: str, read: str) -> None:
    made = plan(version, e3(eagle_aux_hidden_state_layer_ids=[5, 10, 20]))
    assert made.capture is not None
    assert made.capture.boundaries == ((5, 10, 20) if read else (2, 16, 29))


@pytest.mark.parametrize("version", RELEASES)
def test_c17_four_ids_at_top_level_do_not_size_fc(version: str) -> None:
    ids = {"eagle_aux_hidden_state_layer_ids": [2, 5, 10, 20]}
    assert RefusalKind.TENSOR_SHAPE in kinds(plan(version, e3(**ids), weights(states=4)))
    counted = plan(version, e3(**ids, num_aux_hidden_states=4), weights(states=4))
    assert bool(counted.refusals) == (version in RELEASES[: RELEASES.index("0.22.0")])


@pytest.mark.parametrize("version", RELEASES)
def test_c18_without_d2t_the_map_stays_zero(version: str) -> None:
    made = plan(version, e3(), without(weights(), "d2t"))
    assert not made.refusals
    assert made.map is not None
    assert made.map.use == "zeros"


@pytest.mark.parametrize(("version", "stage"), table(("0.8.5", "0.28.0", ""), ("0.30.0", "0.33.0", "load")))
def test_c19_d2t_beside_a_whole_vocabulary(version: str, stage: str) -> None:
    lines = {**without(weights(), "lm_head", "d2t"), "lm_head.weight": f"BF16 {V}x{H}", "d2t": f"I64 {V}"}
    made = plan(version, e3(draft_vocab_size=V), lines)
    assert first(made) == stage
    assert made.map is not None
    assert made.map.use == ("identity" if stage else "offsets")


@pytest.mark.parametrize("version", RELEASES)
def test_c20_a_missing_fc_is_noticed_by_nobody(version: str) -> None:
    made = plan(version, e3(), without(weights(), "fc."))
    assert not made.refusals
    assert {state.name for state in made.parameters if state.state == "unfilled"} == {"model.fc.weight"}


@pytest.mark.parametrize("version", RELEASES)
def test_c21_an_unknown_tensor_stops_the_loader(version: str) -> None:
    made = plan(version, e3(), weights({"foo.weight": "BF16 4"}))
    assert [refusal.tensors for refusal in made.refusals] == [("foo.weight",)]


@pytest.mark.parametrize(("version", "fate"), table(("0.8.5", "0.24.0", "refused"), ("0.27.1", "0.33.0", "dropped")))
def test_c22_a_bias_the_class_does_not_have(version: str, fate: str) -> None:
    made = plan(version, e3(attention_bias=False), weights({"midlayer.self_attn.q_proj.bias": "BF16 64"}))
    (bias,) = (entry for entry in made.tensors if entry.name.endswith(".bias"))
    assert bias.fate == fate


@pytest.mark.parametrize("version", RELEASES)
def test_c23_names_that_already_begin_with_model(version: str) -> None:
    assert RefusalKind.TENSOR_UNEXPECTED in kinds(plan(version, e3(), weights(prefix="model.layers.0.")))


@pytest.mark.parametrize(
    ("version", "stage"),
    table(("0.8.5", "0.8.5", "arguments"), ("0.9.2", "0.15.1", ""), ("0.18.1", "0.33.0", "arguments")),
)
def test_c24_a_key_of_another_engine(version: str, stage: str) -> None:
    made = plan(version, e3(), num_steps=3)
    assert first(made) == stage
    assert [entry.field for entry in made.ignored_flags] == ([] if stage else ["num_steps"])


def speculators(kind: str = "eagle3", layers: str = "llama", **changes: Any) -> dict[str, Any]:
    inner = {key: value for key, value in llama(num_hidden_layers=1).items() if key != "architectures"}
    return {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": kind,
        "draft_vocab_size": DRAFTED,
        "transformer_layer_config": {**inner, "model_type": layers},
        "speculators_config": {
            "algorithm": kind,
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": 5}],
            "verifier": {"name_or_path": "./target"},
        },
        **changes,
    }


@pytest.mark.parametrize(("version", "stage"), table(("0.10.2", "0.22.1", ""), ("0.24.0", "0.33.0", "config")))
def test_c25_layers_of_another_type_in_a_speculator(version: str, stage: str) -> None:
    assert first(plan(version, speculators(layers="mistral"))) == stage


@pytest.mark.parametrize(("version", "stage"), table(("0.8.5", "0.21.0", "config"), ("0.22.0", "0.33.0", "")))
def test_c26_peagle_given_as_plain_eagle3(version: str, stage: str) -> None:
    # Read from 0.22.0 on (transformers_utils/configs/speculators/algos.py, update_peagle).
    made = plan(version, speculators("peagle", mask_token_id=7), weights({"mask_hidden": f"BF16 1x1x{3 * H}"}))
    assert first(made) == stage
    assert stage or {fate.name for fate in made.tensors if fate.fate == "dropped"} == {"t2d", "mask_hidden"}


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("kind", ["eagle", "medusa"])
def test_c27_speculators_of_a_type_nobody_reads(version: str, kind: str) -> None:
    assert RefusalKind.CONFIG_UNREADABLE in kinds(plan(version, speculators(kind)))


@pytest.mark.parametrize("version", RELEASES)
def test_c36_tensor_parallel_size_of_the_drafter(version: str) -> None:
    made = plan(version, e3(), None, "--tensor-parallel-size", "4", draft_tensor_parallel_size=2)
    assert (RefusalKind.TENSOR_PARALLEL, "config") in {(refusal.kind, refusal.stage) for refusal in made.refusals}


@pytest.mark.parametrize(
    ("version", "asked", "method"),
    [
        ("0.21.0", None, "eagle3"),
        ("0.22.0", None, "custom_class"),
        ("0.24.0", "eagle3", "custom_class"),
        ("0.27.1", None, "custom_class"),
        ("0.27.1", "eagle3", "eagle3"),
        ("0.33.0", "eagle3", "eagle3"),
    ],
)
def test_c37_a_folder_that_reads_as_an_import_path(version: str, asked: str | None, method: str) -> None:
    assert plan(version, e3(), method=asked, path="my.eagle3").method == method


@pytest.mark.parametrize(
    ("version", "before", "stage"),
    [("0.21.0", (), "load"), ("0.22.0", (), ""), ("0.24.0", V1, ""), ("0.24.0", (), "load"), ("0.33.0", (), "load")],
)
def test_c38_four_nested_ids_size_fc_and_are_read_by_one_runner(
    version: str, before: tuple[str, ...], stage: str
) -> None:
    made = plan(version, e3(**nested(2, 5, 10, 20)), weights(states=4), before=before)
    assert first(made) == stage
    assert (RefusalKind.STATE_WIDTH in kinds(made)) == (bool(stage) and version != "0.21.0")


@pytest.mark.parametrize("version", RELEASES)
def test_c39_an_eagle1_head_under_method_eagle3(version: str) -> None:
    assert RefusalKind.TENSOR_SHAPE in kinds(plan(version, e3(), eagle1()))


@pytest.mark.parametrize("version", RELEASES)
def test_an_eagle1_head_drafts_with_the_target_head(version: str) -> None:
    made = plan(version, llama(num_hidden_layers=1), eagle1(), method="eagle")
    assert not made.refusals
    assert made.head is not None
    assert made.fc is not None
    assert (made.draft_class, made.head.provider, made.fc.takes) == ("EagleLlamaForCausalLM", "target", 2 * H)
    assert plan(
        version, llama(num_hidden_layers=1), {**eagle1(), "lm_head.weight": f"BF16 {V}x{H}"}, method="eagle"
    ).refusals


# Which list each engine setting reads, over published id conventions: nested ids of the trainers that count outputs,
# nested ids that count inputs, and the speculators layout's ids at top level.
@pytest.mark.parametrize(
    ("config", "layers", "v1_old", "v1_new", "v2"),
    [
        (nested(1, 29, 57), 61, (2, 30, 58), (1, 29, 57), (2, 30, 58)),
        (nested(2, 30, 58), 61, (2, 30, 58), (2, 30, 58), (2, 30, 58)),
        (nested(1, 17, 32), 36, (2, 18, 33), (1, 17, 32), (2, 18, 33)),
        (nested(24, 30, 36), 36, (2, 18, 33), (24, 30, 36), (2, 18, 33)),
        ({"eagle_aux_hidden_state_layer_ids": [3, 17, 31]}, 36, (3, 17, 31), (3, 17, 31), (3, 17, 31)),
    ],
)
def test_published_id_lists_in_both_runners(
    config: dict[str, Any], layers: int, v1_old: tuple[int, ...], v1_new: tuple[int, ...], v2: tuple[int, ...]
) -> None:
    def captured(version: str, *before: str) -> tuple[int, ...]:
        made = plan(version, e3(**config), target=llama(num_hidden_layers=layers), before=before)
        assert made.capture is not None
        return made.capture.boundaries

    assert captured("0.13.0") == captured("0.21.0") == v1_old
    assert captured("0.22.0") == captured("0.33.0", *V1) == v1_new
    assert captured("0.33.0") == v2


@pytest.mark.parametrize("version", RELEASES)
def test_a_wrong_case_is_no_method_once_methods_are_checked(version: str) -> None:
    made = plan(version, e3(), method="EAGLE3")
    assert (RefusalKind.METHOD_UNKNOWN in kinds(made)) == (version != "0.8.5")


def test_a_method_that_is_gone_says_where_it_was() -> None:
    made = plan("0.33.0", e3(), method="medusa")
    (refusal,) = (entry for entry in made.refusals if entry.kind is RefusalKind.METHOD_REMOVED)
    assert "0.8.5 to 0.32.0" in refusal.says


def test_the_path_overrides_a_method_that_is_not_eagle() -> None:
    made = plan("0.33.0", e3(), method="mtp", path="/data/eagle3-runs/last")
    assert (made.method, made.method_origin) == ("eagle3", "name")
    assert [(rewrite.what, rewrite.before, rewrite.after) for rewrite in made.rewrites][:1] == [
        ("method", "mtp", "eagle3")
    ]


@pytest.mark.parametrize("version", RELEASES)
def test_no_token_count(version: str) -> None:
    assert RefusalKind.TOKEN_COUNTS in kinds(plan(version, e3(), num_speculative_tokens=...))
    assert RefusalKind.TOKEN_COUNTS in kinds(plan(version, e3(), num_speculative_tokens=0))


@pytest.mark.parametrize(("version", "known"), table(("0.18.1", "0.24.0", ""), ("0.27.1", "0.33.0", "yes")))
def test_dashes_in_a_key(version: str, known: str) -> None:
    keys: dict[str, Any] = {"draft-tensor-parallel-size": 1}
    made = plan(version, e3(), **keys)
    assert (RefusalKind.FLAG_UNKNOWN in kinds(made)) == (not known)


@pytest.mark.parametrize(("version", "known"), table(("0.8.5", "0.21.0", ""), ("0.22.0", "0.33.0", "yes")))
def test_short_flags(version: str, known: str) -> None:
    words = ["vllm", "serve", "t", "--spec-model", "d", "--spec-method", "eagle3", "--spec-tokens", "3"]
    (world,) = worlds(profile("vllm"), version_of(version))
    made = engine("vllm").plan(
        world,
        parse_command(words),
        opened(e3(), weights(), "drafter", "d"),
        read_target(opened(llama(), {}, "target", "t")),
    )
    assert (RefusalKind.FLAG_UNKNOWN in kinds(made)) == (not known)
    assert made.method == "eagle3"


@pytest.mark.parametrize(
    ("version", "provider"),
    [("0.9.2", "uninitialised"), ("0.10.2", "uninitialised"), ("0.11.2", "target"), ("0.33.0", "target")],
)
def test_a_reduced_head_that_is_missing(version: str, provider: str) -> None:
    made = plan(version, e3(), without(weights(), "lm_head"))
    assert not made.refusals
    assert made.head is not None
    assert made.head.provider == provider


@pytest.mark.parametrize(
    ("version", "provider"),
    [("0.8.5", "own"), ("0.9.2", "target"), ("0.10.2", "target"), ("0.11.2", "own"), ("0.33.0", "own")],
)
def test_an_embedding_of_its_own(version: str, provider: str) -> None:
    made = plan(version, e3(), weights({"embed_tokens.weight": f"BF16 {V}x{H}"}))
    assert made.embedding is not None
    assert made.embedding.provider == provider


def test_a_missing_embedding_of_another_width_stays_uninitialised_on_v1() -> None:
    config = e3(target_hidden_size=128)
    target = llama(hidden_size=128)
    made = plan("0.33.0", config, weights(states=6), target=target, before=V1)
    assert made.embedding is not None
    assert (made.embedding.provider, made.refusals) == ("uninitialised", ())
    assert RefusalKind.STATE_WIDTH in kinds(plan("0.33.0", config, weights(states=6), target=target))


def test_rows_and_columns_over_are_cut_and_fewer_refused() -> None:
    made = plan("0.33.0", e3(head_dim=16))
    cut = {fate.name.rpartition("self_attn.")[2] for fate in made.tensors if fate.fate == "cut"}
    assert cut == {"q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight"}
    assert not made.refusals
    assert RefusalKind.TENSOR_SHAPE in kinds(plan("0.33.0", e3(head_dim=64)))


def test_parallel_drafting_wants_a_mask_of_the_input_of_fc_and_a_token() -> None:
    keys: dict[str, Any] = {"parallel_drafting": True}
    lines = weights({"mask_hidden": f"BF16 1x1x{3 * H}"})
    right = plan("0.33.0", e3(ptd_token_id=7), lines, **keys)
    assert (right.refusals, right.runner, right.schemes["parallel_drafting"].on) == ((), "v1", True)
    assert RefusalKind.TENSOR_REQUIRED in kinds(plan("0.33.0", e3(ptd_token_id=7), **keys))
    assert RefusalKind.TENSOR_SHAPE in kinds(
        plan("0.33.0", e3(ptd_token_id=7), weights({"mask_hidden": "BF16 64"}), **keys)
    )
    assert RefusalKind.CONFIG_FIELD in kinds(plan("0.33.0", e3(), lines, **keys))
    assert RefusalKind.VOCABULARY in kinds(plan("0.33.0", e3(pard_token=V), lines, **keys))


def test_norms_without_their_keys() -> None:
    silent = plan("0.33.0", e3(), weights({"input_norm.weight": f"BF16 {3 * H}"}))
    assert not silent.refusals
    assert [fate.name for fate in silent.tensors if fate.fate == "dropped" and not fate.expected] == [
        "input_norm.weight"
    ]
    assert RefusalKind.TENSOR_UNEXPECTED in kinds(plan("0.33.0", e3(), weights({"fc_norm.0.weight": f"BF16 {H}"})))
    on = plan("0.33.0", e3(eagle_config={"norm_before_fc": True}), weights({"input_norm.weight": f"BF16 {3 * H}"}))
    assert on.schemes["norm_before_fc"].on
    assert not on.refusals


@pytest.mark.parametrize(("kind", "on"), [("eagle3", True), ("peagle", False)])
def test_what_an_absent_norm_before_residual_means_to_the_speculators_reader(kind: str, *, on: bool) -> None:
    assert plan("0.33.0", speculators(kind, mask_token_id=7)).schemes["norm_before_residual"].on is on
    assert plan("0.33.0", e3()).schemes["norm_before_residual"].on is False


def test_speculators_need_a_known_type_and_no_model_type() -> None:
    assert RefusalKind.CONFIG_UNREADABLE in kinds(plan("0.33.0", speculators(model_type="speculator_model")))
    assert RefusalKind.CONFIG_FIELD in kinds(plan("0.33.0", speculators("peagle")))
    bare = {key: value for key, value in speculators().items() if key != "speculators_config"}
    assert RefusalKind.CONFIG_UNREADABLE in kinds(plan("0.33.0", bare))


@pytest.mark.parametrize(
    ("version", "before", "what"),
    [("0.24.0", (), None), ("0.27.1", (), "max_position_embeddings"), ("0.33.0", (), "max_position_embeddings")],
)
def test_a_drafter_of_shorter_context(version: str, before: tuple[str, ...], what: str | None) -> None:
    made = plan(version, e3(max_position_embeddings=512), before=before)
    assert [rewrite.what for rewrite in made.rewrites if rewrite.what != "architectures"] == ([what] if what else [])


def test_a_short_yarn_drafter_lowers_the_length_served_on_v2() -> None:
    config = e3(max_position_embeddings=512, rope_scaling={"rope_type": "yarn", "factor": 2.0})
    assert "max_model_len" in {rewrite.what for rewrite in plan("0.33.0", config).rewrites}
    assert "max_model_len" not in {rewrite.what for rewrite in plan("0.33.0", config, before=V1).rewrites}


@pytest.mark.parametrize("version", RELEASES)
def test_a_head_over_more_ids_than_the_row_has_room_for(version: str) -> None:
    lines = {**without(weights(), "lm_head", "d2t", "t2d"), "lm_head.weight": f"BF16 {V}x{H}"}
    made = plan(version, e3(vocab_size=V - 12, draft_vocab_size=V), lines)
    assert (RefusalKind.VOCABULARY, "first-request") in {(refusal.kind, refusal.stage) for refusal in made.refusals}


def test_use_aux_hidden_state_false_by_release_and_runner() -> None:
    off = {"eagle_config": {"use_aux_hidden_state": False}}
    old, new = plan("0.11.2", e3(**off)), plan("0.33.0", e3(**off))
    assert old.capture is not None
    assert new.capture is not None
    assert (old.capture.active, new.capture.active) == (True, False)
    assert "fc.weight" in {fate.name for fate in new.tensors if fate.fate == "dropped"}
    # Model runner V2 captures all the same until 0.32.0, and the class hands three states on as one.
    assert RefusalKind.STATE_WIDTH in kinds(plan("0.32.0", e3(**off)))


def test_methods_without_a_model_never_open_the_drafter() -> None:
    for method in ("ngram", "ngram_gpu", "suffix", "extract_hidden_states"):
        made = plan("0.33.0", e3(), method=method)
        assert (made.method, made.understood, made.refusals, made.tensors) == (method, True, (), ())
        assert [flag.field for flag in made.ignored_flags] == ["model"]


def test_a_proposer_of_somebody_elses_is_named_and_left_alone() -> None:
    made = plan("0.33.0", e3(), method="custom_class")
    assert (made.method, made.understood) == ("custom_class", False)


def test_no_speculation_without_a_speculative_configuration() -> None:
    (world,) = worlds(profile("vllm"), version_of("0.33.0"))
    made = engine("vllm").plan(
        world,
        parse_command(["vllm", "serve", "t"]),
        opened(e3(), weights(), "drafter", "d"),
        read_target(opened(llama(), {}, "target", "t")),
    )
    assert (made.speculates, made.refusals) == (False, ())


@pytest.mark.parametrize("version", RELEASES)
def test_what_is_needed_is_what_the_plan_takes(version: str) -> None:
    (world,) = worlds(profile("vllm"), version_of(version))
    request = engine("vllm").needed(world, "eagle3", "./drafter", "./target")
    made = engine("vllm").plan(
        world,
        request,
        opened(e3(), weights(), "drafter", "./drafter"),
        read_target(opened(llama(), {}, "target", "./target")),
    )
    assert request.assumed
    assert (made.method, made.refusals) == ("eagle3", ())


def test_the_oldest_release_serves_eagle_by_v0_unless_it_is_told_otherwise() -> None:
    made = plan("0.8.5", e3(), before=("VLLM_USE_V1=0",))
    assert not made.understood
    assert kinds(made) == {RefusalKind.TENSOR_UNEXPECTED}
    assert plan("0.8.5", e3()).understood
    assert plan("0.9.2", e3()).understood


def test_an_eagle3_drafter_under_a_method_for_other_drafters() -> None:
    config = e3(architectures=["LlamaForCausalLMEagle3"])
    assert RefusalKind.ARCHITECTURE_UNREGISTERED in kinds(plan("0.33.0", config, method="dflash"))
    assert RefusalKind.METHOD_UNSUITABLE in kinds(plan("0.27.1", config, method="medusa"))
    assert RefusalKind.METHOD_UNKNOWN in kinds(plan("0.13.0", config, method="dflash"))
    assert RefusalKind.METHOD_UNSUITABLE in kinds(plan("0.33.0", config, method="draft_model"))


def test_every_fact_is_of_the_kind_it_is_read_as() -> None:
    known = profile("vllm")
    assert {str(version) for version in known.run} <= set(RELEASES)
    for key, rows in known.observations.items():
        assert len({type(row.value) for row in rows}) == 1, key
        assert all(row.file and row.symbol and row.how in {"run", "read", "inferred"} for row in rows), key


def test_releases_between_two_that_differ_are_planned_as_both() -> None:
    assert [world.basis for world in worlds(profile("vllm"), version_of("0.26.0"))] == ["0.24.0", "0.27.1"]
    (newer,) = worlds(profile("vllm"), version_of("0.40.0"))
    assert (newer.basis, newer.knowledge) == ("0.33.0", "extrapolated")
