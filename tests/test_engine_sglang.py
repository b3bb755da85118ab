"""What the SGLang plan says of small pairs, release by release: published conventions and wrong combinations."""

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

H, INNER, V, DRAFTED, LAYERS = 64, 128, 1000, 500, 32
EAGLE3, EAGLE3_MLA = "LlamaForCausalLMEagle3", "Eagle3DeepseekV2ForCausalLM"
OLDEST, NEWEST = "0.4.6.post5", "0.5.23"
COUNTS = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")
RELEASES = [str(release) for release in profile("sglang").read]


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
        "hidden_act": "silu",
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        **changes,
    }


def eagle3(**changes: Any) -> dict[str, Any]:
    own = {"architectures": [EAGLE3], "num_hidden_layers": 1, "draft_vocab_size": DRAFTED}
    return llama(**{**own, **changes})


def ids(*values: int) -> dict[str, Any]:
    return {"eagle_config": {"eagle_aux_hidden_state_layer_ids": list(values)}}


def weights(layer: str = "midlayer.", prefix: str = "", states: int = 3, width: int = H) -> dict[str, str]:
    parts = {
        f"{layer}self_attn.q_proj.weight": f"64x{2 * H}",
        f"{layer}self_attn.k_proj.weight": f"32x{2 * H}",
        f"{layer}self_attn.v_proj.weight": f"32x{2 * H}",
        f"{layer}self_attn.o_proj.weight": f"{H}x64",
        f"{layer}mlp.gate_proj.weight": f"{INNER}x{H}",
        f"{layer}mlp.up_proj.weight": f"{INNER}x{H}",
        f"{layer}mlp.down_proj.weight": f"{H}x{INNER}",
        f"{layer}input_layernorm.weight": f"{H}",
        f"{layer}hidden_norm.weight": f"{H}",
        f"{layer}post_attention_layernorm.weight": f"{H}",
        "norm.weight": f"{H}",
        "fc.weight": f"{H}x{states * width}",
    }
    lines = {prefix + name: f"BF16 {shape}" for name, shape in parts.items()}
    return {**lines, "lm_head.weight": f"BF16 {DRAFTED}x{H}", "d2t": f"I64 {DRAFTED}", "t2d": f"BOOL {V}"}


def without(lines: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: line for name, line in lines.items() if name not in names}


def opened(
    config: Mapping[str, Any],
    lines: Mapping[str, str],
    role: Role,
    text: Mapping[str, str] | None = None,
    opaque: Mapping[str, int] | None = None,
) -> Checkpoint:
    tensors = {"model.safetensors": dict(lines)} if lines else {}
    written = json.dumps(config, indent=1)
    recipe = Recipe(name=f"someone/{role}", config=written, tensors=tensors, text=text or {}, opaque=opaque or {})
    return Checkpoint(Reference(spelling=role, kind="hub", name=f"someone/{role}"), recipe.source(), role=role)


def plan(
    version: str,
    config: Mapping[str, Any],
    lines: Mapping[str, str] | None = None,
    *flags: str,
    method: str | None = "EAGLE3",
    target: Mapping[str, Any] | None = None,
    counts: tuple[str, ...] = COUNTS,
    path: bool = True,
    before: tuple[str, ...] = (),
    text: Mapping[str, str] | None = None,
    opaque: Mapping[str, int] | None = None,
) -> Plan:
    words = [*before, "python", "-m", "sglang.launch_server", "--model-path", "./target"]
    words += ["--speculative-draft-model-path", "./drafter"] if path else []
    words += ["--speculative-algorithm", method] if method else []
    words += [*(counts if method else ()), *flags]
    verifier = read_target(opened(target or llama(), {}, "target"))
    drafter = opened(config, weights() if lines is None else lines, "drafter", text, opaque)
    (world,) = worlds(profile("sglang"), version_of(version))
    return engine("sglang").plan(world, parse_command(words), drafter, verifier)


def kinds(made: Plan) -> set[RefusalKind]:
    return {refusal.kind for refusal in made.refusals}


def lost(made: Plan) -> set[str]:
    return {fate.name for fate in made.tensors if fate.fate == "dropped" and not fate.expected}


def deepseek(layers: int = 61, **changes: Any) -> dict[str, Any]:
    own = {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "num_hidden_layers": layers}
    return llama(**{**own, **changes})


@pytest.mark.parametrize("version", RELEASES)
def test_a_right_pair_is_served_in_every_release(version: str) -> None:
    made = plan(version, eagle3())
    assert not made.refusals
    assert (made.method, made.draft_class, made.takes_aux) == ("EAGLE3", EAGLE3, True)
    assert made.capture is not None
    assert made.capture.boundaries == (2, 16, 29)
    assert made.fc is not None
    assert (made.fc.runs, made.fc.takes, made.fc.fed) == (True, 3 * H, 3 * H)
    assert made.map is not None
    assert made.map.use == "offsets"
    assert not lost(made)
    empty = {state.name for state in made.parameters if state.state in {"unfilled", "partly"} and state.matters}
    assert empty == ({"model.fc.bias"} if version == OLDEST else set())


@pytest.mark.parametrize("version", RELEASES)
def test_every_claim_of_a_plan_is_cited(version: str) -> None:
    made = plan(version, eagle3(**ids(2, 16, 29)), method="NEXTN")
    for item in (*made.steps, *made.rewrites, made.fc, made.head, made.embedding, made.map):
        assert item is not None
        assert item.evidence, item


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("method", ["EAGLE", "NEXTN"])
def test_eagle_bypasses_fc_where_widths_are_equal(version: str, method: str) -> None:
    made = plan(version, eagle3(), method=method)
    assert not made.refusals
    assert made.method == "EAGLE"
    assert made.capture is not None
    assert not made.capture.active
    assert made.fc is not None
    assert (made.fc.built, made.fc.runs, made.fc.fed) == (True, False, H)
    assert made.head is not None
    assert made.head.provider == "target"
    assert made.map is not None
    assert made.map.use == "identity"


def test_another_width_needs_eagle3_and_its_own_embedding() -> None:
    config = eagle3(target_hidden_size=128)
    target = llama(hidden_size=128, head_dim=64)
    lines = weights(width=128)
    assert kinds(plan(NEWEST, config, lines, method="EAGLE", target=target)) == {RefusalKind.STATE_WIDTH}
    missing = plan(NEWEST, config, lines, target=target)
    assert not missing.refusals
    assert missing.embedding is not None
    assert missing.embedding.provider == "uninitialised"
    whole = plan(NEWEST, config, {**lines, "embed_tokens.weight": f"BF16 {V}x{H}"}, target=target)
    assert whole.embedding is not None
    assert whole.embedding.provider == "own"


@pytest.mark.parametrize("version", [OLDEST, "0.5.2", NEWEST])
def test_an_eagle1_class_has_no_map_for_eagle3(version: str) -> None:
    config = llama(architectures=["LlamaForCausalLMEagle"], num_hidden_layers=1)
    assert RefusalKind.METHOD_UNSUITABLE in kinds(plan(version, config, {"fc.weight": f"BF16 {H}x{2 * H}"}))


@pytest.mark.parametrize(
    ("version", "changes", "refused"),
    [
        (OLDEST, {}, True),
        (NEWEST, {}, True),
        ("0.5.3.post3", {"tie_word_embeddings": True}, False),
        ("0.5.4.post3", {"tie_word_embeddings": True}, True),
    ],
)
def test_draft_vocab_size_must_be_there(version: str, changes: dict[str, Any], refused: bool) -> None:
    config = eagle3(**changes)
    del config["draft_vocab_size"]
    assert (RefusalKind.CONFIG_FIELD in kinds(plan(version, config))) is refused


@pytest.mark.parametrize(("version", "refused"), [(OLDEST, True), ("0.5.1.post3", True), ("0.5.2", False)])
def test_null_draft_vocab_size_means_the_targets_head(version: str, refused: bool) -> None:
    made = plan(version, eagle3(draft_vocab_size=None), without(weights(), "lm_head.weight"))
    assert (RefusalKind.CONFIG_FIELD in kinds(made)) is refused
    assert made.head is not None
    assert made.head.provider == "target"


@pytest.mark.parametrize("version", RELEASES)
def test_layers_0_names(version: str) -> None:
    made = plan(version, eagle3(), weights(layer="layers.0."))
    if version == OLDEST:
        assert kinds(made) == {RefusalKind.TENSOR_UNEXPECTED}
        return
    assert not made.refusals
    unread = "layers.0.self_attn.q_proj.weight" in lost(made)
    assert unread is (version_of(version) <= version_of("0.5.11"))


@pytest.mark.parametrize(("version", "refused"), [("0.5.11", True), ("0.5.12.post1", False)])
def test_two_layers(version: str, refused: bool) -> None:
    made = plan(version, eagle3(num_hidden_layers=2))
    assert (RefusalKind.LAYER_COUNT in kinds(made)) is refused
    assert any("layers.1." in state.name for state in made.parameters) is not refused


@pytest.mark.parametrize(("version", "refused"), [("0.5.11", True), ("0.5.12.post1", False), (NEWEST, False)])
def test_four_states(version: str, refused: bool) -> None:
    made = plan(version, eagle3(**ids(1, 8, 15, 28)), weights(states=4))
    assert (RefusalKind.TENSOR_SHAPE in kinds(made)) is refused
    assert bool(made.refusals) is refused


@pytest.mark.parametrize(
    ("version", "flags", "boundaries", "split"),
    [
        (OLDEST, (), (2, 16, 29), False),
        ("0.4.9.post6", (), (3, 17, 30), True),
        ("0.4.9.post6", ("--disable-cuda-graph",), (3, 17, 30), False),
        ("0.5.10.post1", (), (3, 17, 30), True),
        ("0.5.11", (), (3, 17, 30), False),
    ],
)
def test_ids_inside_and_outside_graphs(
    version: str, flags: tuple[str, ...], boundaries: tuple[int, ...], split: bool
) -> None:
    made = plan(version, eagle3(**ids(2, 16, 29)), None, *flags)
    assert made.capture is not None
    assert made.capture.boundaries == boundaries
    assert any(step.topic == "capture-graph" for step in made.steps) is split
    assert bool(made.capture.ignored) is (version == OLDEST)


def test_ids_equal_to_the_default_are_no_split() -> None:
    made = plan("0.4.9.post6", eagle3(**ids(1, 15, 28)))
    assert made.capture is not None
    assert made.capture.boundaries == (2, 16, 29)
    assert not any(step.topic == "capture-graph" for step in made.steps)


@pytest.mark.parametrize(
    ("version", "architecture", "boundaries"),
    [
        ("0.5.3.post3", "DeepseekV3ForCausalLM", None),
        ("0.5.11", "DeepseekV3ForCausalLM", (3, 31, 59)),
        ("0.5.12.post1", "DeepseekV3ForCausalLM", (3, 31, 59)),
        ("0.5.13", "DeepseekV3ForCausalLM", (2, 30, 58)),
        ("0.5.9", "KimiK25ForConditionalGeneration", None),
        ("0.5.10.post1", "KimiK25ForConditionalGeneration", (3, 31, 59)),
        ("0.5.13", "KimiK25ForConditionalGeneration", (2, 30, 58)),
        (NEWEST, "KimiK25ForConditionalGeneration", (2, 30, 58)),
    ],
)
def test_deepseek_changed_its_reading(version: str, architecture: str, boundaries: tuple[int, ...] | None) -> None:
    made = plan(version, eagle3(**ids(2, 30, 58)), target=deepseek(architectures=[architecture]))
    assert (RefusalKind.TARGET_UNSUPPORTED in kinds(made)) is (boundaries is None)
    if boundaries:
        assert made.capture is not None
        assert made.capture.boundaries == boundaries


@pytest.mark.parametrize("version", ["0.5.12.post1", "0.5.13", NEWEST])
@pytest.mark.parametrize(
    ("layers", "architecture", "config", "expected"),
    [
        (61, "DeepseekV3ForCausalLM", ids(1, 29, 57), {"": (2, 30, 58)}),
        (61, "KimiK25ForConditionalGeneration", ids(2, 30, 58), {"": (2, 30, 58), "0.5.12.post1": (3, 31, 59)}),
        (61, "DeepseekV3ForCausalLM", ids(57, 1, 29), {"": (1, 29, 57), "0.5.12.post1": (2, 30, 58)}),
        (36, "GptOssForCausalLM", ids(1, 17, 32), {"": (2, 18, 33)}),
        (36, "GptOssForCausalLM", ids(24, 30, 36), {"": (25, 31), NEWEST: (24, 30, 36)}),
        (36, "LlamaForCausalLM", {"eagle_aux_hidden_state_layer_ids": [3, 17, 31]}, {"": (2, 18, 33)}),
    ],
)
def test_the_published_lists(
    version: str, layers: int, architecture: str, config: dict[str, Any], expected: dict[str, tuple[int, ...]]
) -> None:
    made = plan(version, eagle3(**config), target=llama(architectures=[architecture], num_hidden_layers=layers))
    assert made.capture is not None
    assert made.capture.boundaries == expected.get(version, expected[""])
    assert (RefusalKind.STATE_WIDTH in kinds(made)) is (len(made.capture.boundaries) < 3)


def test_a_list_at_top_level_is_ignored() -> None:
    made = plan(NEWEST, eagle3(eagle_aux_hidden_state_layer_ids=[3, 17, 31]))
    assert made.capture is not None
    assert made.capture.read is None
    assert [item.value for item in made.capture.ignored] == [(3, 17, 31)]
    assert [item.field for item in made.ignored_fields] == ["eagle_aux_hidden_state_layer_ids"]


def test_a_layer_past_the_last_is_lost() -> None:
    short = plan(NEWEST, eagle3(**ids(1, 15, 31)))
    assert kinds(short) == {RefusalKind.STATE_WIDTH}
    one = plan(NEWEST, eagle3(**ids(31, 40, 15)))
    assert not one.refusals
    assert one.fc is not None
    assert not one.fc.runs


@pytest.mark.parametrize(("version", "stage"), [("0.4.9.post6", "first-request"), ("0.5.4.post3", "load")])
def test_a_layer_past_the_last_of_a_target_that_marks_layers(version: str, stage: str) -> None:
    made = plan(version, eagle3(**ids(1, 15, 31)), target=llama(architectures=["Qwen3MoeForCausalLM"]))
    assert stage in {refusal.stage for refusal in made.refusals}


def test_an_unsorted_list_is_captured_in_layer_order_and_a_duplicate_once() -> None:
    unsorted = plan(NEWEST, eagle3(**ids(28, 15, 1)))
    assert unsorted.capture is not None
    assert (unsorted.capture.boundaries, unsorted.capture.asked) == ((2, 16, 29), (29, 16, 2))
    assert kinds(plan(NEWEST, eagle3(**ids(1, 15, 15)))) == {RefusalKind.STATE_WIDTH}


@pytest.mark.parametrize("version", RELEASES)
def test_no_map(version: str) -> None:
    made = plan(version, eagle3(), without(weights(), "d2t"))
    assert (RefusalKind.TENSOR_REQUIRED in kinds(made)) is (version == OLDEST)
    assert made.map is not None
    assert made.map.use == "identity"


def test_a_missing_head_is_silent() -> None:
    made = plan(NEWEST, eagle3(), without(weights(), "lm_head.weight"))
    assert not made.refusals
    assert made.head is not None
    assert made.head.provider == "uninitialised"


@pytest.mark.parametrize(
    ("version", "before", "refused"),
    [
        ("0.5.0rc2", (), False),
        ("0.5.0rc2", ("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=0",), True),
        ("0.5.1.post3", (), True),
        (NEWEST, (), True),
        (NEWEST, ("SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1",), False),
    ],
)
def test_a_shorter_context(version: str, before: tuple[str, ...], refused: bool) -> None:
    made = plan(
        version, eagle3(max_position_embeddings=2048), target=llama(max_position_embeddings=32768), before=before
    )
    assert (kinds(made) == {RefusalKind.CONTEXT}) is refused
    assert bool(made.refusals) is refused
    asked = plan(version, eagle3(max_position_embeddings=2048), None, "--context-length", "2048")
    assert not asked.refusals


@pytest.mark.parametrize("version", [OLDEST, "0.5.12.post1", NEWEST])
def test_eagle1_bias_and_prefix(version: str) -> None:
    config = llama(architectures=["LlamaForCausalLMEagle"], num_hidden_layers=1)
    body = {
        "layers.0.self_attn.q_proj.weight": "64x64",
        "layers.0.self_attn.k_proj.weight": "32x64",
        "layers.0.self_attn.v_proj.weight": "32x64",
        "layers.0.self_attn.o_proj.weight": "64x64",
        "layers.0.mlp.gate_proj.weight": "128x64",
        "layers.0.mlp.up_proj.weight": "128x64",
        "layers.0.mlp.down_proj.weight": "64x128",
        "layers.0.post_attention_layernorm.weight": "64",
        "embed_tokens.weight": f"{V}x64",
        "fc.weight": "64x128",
    }
    right = plan(version, config, {name: f"BF16 {shape}" for name, shape in body.items()}, method="EAGLE")
    assert not right.refusals
    assert not lost(right)
    assert {state.name for state in right.parameters if state.state == "unfilled"} == {"model.fc.bias"}
    wrong = plan(version, config, {f"model.{name}": f"BF16 {shape}" for name, shape in body.items()}, method="EAGLE")
    assert bool(wrong.refusals) is (version == OLDEST)
    assert "model.fc.weight" in lost(wrong)


def test_eagle1_weights_under_a_plain_name() -> None:
    made = plan(NEWEST, llama(num_hidden_layers=1), {"fc.weight": f"BF16 {H}x{2 * H}"}, method="EAGLE")
    assert not made.refusals
    assert (made.draft_class, lost(made)) == ("LlamaForCausalLM", {"fc.weight"})


def mla_pair(prefix: str = "") -> tuple[dict[str, Any], dict[str, str]]:
    ranks = {"q_lora_rank": 16, "kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16}
    config = eagle3(architectures=[EAGLE3_MLA], model_type="deepseek_v2", **ranks)
    kept = {name: line for name, line in weights("layers.0.").items() if ".self_attn." not in name}
    own = {
        "q_a_proj.weight": "16x128",
        "q_a_layernorm.weight": "16",
        "q_b_proj.weight": "48x16",
        "kv_a_proj_with_mqa.weight": "40x128",
        "kv_a_layernorm.weight": "32",
        "kv_b_proj.weight": "64x32",
        "o_proj.weight": "64x32",
    }
    lines = {**kept, **{f"layers.0.self_attn.{name}": f"BF16 {shape}" for name, shape in own.items()}}
    bare = {"d2t", "t2d", "lm_head.weight"}
    return config, {(name if name in bare else prefix + name): line for name, line in lines.items()}


@pytest.mark.parametrize("version", RELEASES)
def test_the_mla_class(version: str) -> None:
    config, lines = mla_pair()
    made = plan(version, config, lines, target=deepseek() if version_of(version) >= version_of("0.5.4") else None)
    if version_of(version) < version_of("0.5.12"):
        assert kinds(made) == {RefusalKind.ARCHITECTURE_UNREGISTERED}
        return
    assert not made.refusals
    assert not lost(made)
    states = {state.name: state.state for state in made.parameters}
    assert states["model.midlayer.self_attn.fused_qkv_a_proj_with_mqa.weight"] == "filled"
    assert set(states.values()) == {"filled", "shared"}


def test_the_mla_class_takes_no_prefix() -> None:
    made = plan(NEWEST, *mla_pair("model."))
    assert not made.refusals
    assert "model.fc.weight" in lost(made)


def test_half_of_a_fused_projection_goes_nowhere() -> None:
    config, lines = mla_pair()
    made = plan(NEWEST, config, without(lines, "layers.0.self_attn.q_a_proj.weight"))
    assert lost(made) == {"layers.0.self_attn.kv_a_proj_with_mqa.weight"}
    fused = [state for state in made.parameters if "fused_qkv_a_proj" in state.name]
    assert [(state.state, state.shape) for state in fused] == [("unfilled", (56, 128))]


@pytest.mark.parametrize(("version", "refused"), [("0.5.12.post1", True), ("0.5.13", False)])
def test_zero_nextn_layers(version: str, refused: bool) -> None:
    config, lines = mla_pair()
    made = plan(version, {**config, "num_nextn_predict_layers": 0}, lines)
    assert bool(made.refusals) is refused


@pytest.mark.parametrize("architecture", ["MiMoV2ForCausalLM", "DeepseekV4ForCausalLM"])
def test_targets_without_the_hook(architecture: str) -> None:
    made = plan(NEWEST, eagle3(), target=llama(architectures=[architecture]))
    assert kinds(made) == {RefusalKind.TARGET_UNSUPPORTED}


def test_a_target_that_offers_no_head() -> None:
    made = plan(NEWEST, eagle3(), method="EAGLE", target=llama(architectures=["MixtralForCausalLM"]))
    assert RefusalKind.TARGET_UNSUPPORTED in kinds(made)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_no_draft_path(version: str) -> None:
    refused = plan(version, eagle3(), path=False)
    assert RefusalKind.DRAFT_PATH_MISSING in kinds(refused)
    alone = plan(version, eagle3(), method="EAGLE", path=False)
    assert not alone.refusals
    assert alone.draft_class == "LlamaForCausalLM"
    inside = plan(version, eagle3(), method="EAGLE", path=False, target=deepseek())
    assert (inside.architecture, inside.understood) == ("DeepseekV3ForCausalLMNextN", True)


@pytest.mark.parametrize("version", RELEASES)
def test_token_counts(version: str) -> None:
    rewritten = plan(version, eagle3(), counts=(*COUNTS[:4], "--speculative-num-draft-tokens", "8"))
    change = [item for item in rewritten.rewrites if item.what == "--speculative-num-draft-tokens"]
    assert [(item.before, item.after) for item in change] == [("8", "4")]
    for counts in (("--speculative-eagle-topk", "4"), ("--speculative-num-steps", "3")):
        assert kinds(plan(version, eagle3(), counts=counts)) == {RefusalKind.TOKEN_COUNTS}
    assert not plan(version, eagle3(), counts=()).refusals


@pytest.mark.parametrize(
    ("version", "refused"),
    [(OLDEST, False), ("0.4.9.post6", False), ("0.5.2", True), ("0.5.12.post1", True), ("0.5.13", False)],
)
def test_a_tree_over_pages(version: str, refused: bool) -> None:
    counts = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "4", "--speculative-num-draft-tokens", "8")
    flags = ("--page-size", "16", "--attention-backend", "triton")
    made = plan(version, eagle3(), None, *flags, counts=counts)
    assert (kinds(made) == {RefusalKind.TOKEN_COUNTS}) is refused
    assert any(item.what == "--speculative-eagle-topk" for item in made.rewrites) is (version == OLDEST)


@pytest.mark.parametrize(
    ("method", "first"),
    [("STANDALONE", "0.5.2"), ("NGRAM", "0.5.3.post3"), ("DFLASH", "0.5.11"), ("DSPARK", "0.5.16"), ("UNO", "0.5.20")],
)
def test_algorithms_by_release(method: str, first: str) -> None:
    for version in RELEASES:
        known = version_of(version) >= version_of(first)
        assert (RefusalKind.METHOD_UNKNOWN in kinds(plan(version, eagle3(), method=method))) is not known


def test_spelling_of_an_algorithm() -> None:
    assert RefusalKind.METHOD_UNKNOWN in kinds(plan("0.5.11", eagle3(), method="eagle3"))
    assert plan("0.5.12.post1", eagle3(), method="eagle3").method == "EAGLE3"
    assert RefusalKind.METHOD_UNKNOWN in kinds(plan(NEWEST, eagle3(), method="MEDUSA"))


@pytest.mark.parametrize(("version", "refused"), [("0.5.10.post1", False), ("0.5.12.post1", True)])
def test_standalone_hands_over_nothing(version: str, refused: bool) -> None:
    made = plan(version, eagle3(), method="STANDALONE")
    assert bool(made.refusals) is refused
    assert made.embedding is not None
    assert made.embedding.provider == "uninitialised"


@pytest.mark.parametrize(("version", "active"), [("0.5.7", True), ("0.5.8.post1", False), (NEWEST, False)])
def test_auxiliary_states_switched_off(version: str, active: bool) -> None:
    made = plan(version, eagle3(eagle_config={"use_aux_hidden_state": False}))
    assert made.capture is not None
    assert made.fc is not None
    assert (made.capture.active, made.fc.runs) == (active, active)
    assert bool(made.ignored_fields) is active


@pytest.mark.parametrize("version", [OLDEST, "0.5.11", "0.5.12.post1", NEWEST])
def test_configs_transformers_cannot_read(version: str) -> None:
    speculators = {"speculators_model_type": "eagle3", "speculators_config": {}, "architectures": ["Eagle3Speculator"]}
    early = version_of(version) >= version_of("0.5.12")
    for config in (speculators, eagle3(model_type="speculator_model"), eagle3(model_type="eagle3")):
        made = plan(version, config)
        assert [(item.kind, item.stage) for item in made.refusals] == [
            (RefusalKind.CONFIG_UNREADABLE, "arguments" if early else "config")
        ]
        assert bool(plan(version, config, method=None).refusals) is early
    assert bool(plan(version, eagle3(model_type="kimi_k2")).refusals) is not early


def test_architectures_that_are_no_class() -> None:
    for name in ("Eagle3LlamaForCausalLM", "EagleLlamaForCausalLM", "Eagle3Speculator", "Eagle3DeepseekV3ForCausalLM"):
        assert kinds(plan(NEWEST, eagle3(architectures=[name]))) == {RefusalKind.ARCHITECTURE_UNREGISTERED}
    assert kinds(plan(NEWEST, without(eagle3(), "architectures"))) == {RefusalKind.CONFIG_FIELD}


def test_a_target_class_becomes_its_own_mtp_class() -> None:
    made = plan(NEWEST, eagle3(architectures=["Qwen3MoeForCausalLM"]))
    assert made.architecture == "Qwen3MoeForCausalLMMTP"
    assert RefusalKind.METHOD_UNSUITABLE in kinds(made)
    assert plan("0.5.12.post1", eagle3(architectures=["Qwen3MoeForCausalLM"])).architecture == "Qwen3MoeForCausalLM"


def test_a_null_target_width() -> None:
    assert kinds(plan(NEWEST, eagle3(target_hidden_size=None))) == {RefusalKind.CONFIG_FIELD}
    config, lines = mla_pair()
    assert not plan(NEWEST, {**config, "target_hidden_size": None}, lines).refusals


def test_tensor_parallelism() -> None:
    config = eagle3(num_attention_heads=24, num_key_value_heads=8, head_dim=32)
    made = plan(NEWEST, config, {}, "--tp", "16")
    assert RefusalKind.TENSOR_PARALLEL in kinds(made)
    assert RefusalKind.TENSOR_PARALLEL not in kinds(plan(NEWEST, config, {}, "--tp", "8"))


def test_quantisation_is_inherited() -> None:
    assert kinds(plan(NEWEST, eagle3(), None, "--quantization", "awq")) == {RefusalKind.QUANTIZATION}
    own = ("--quantization", "awq", "--speculative-draft-model-quantization", "unquant")
    assert not plan(NEWEST, eagle3(), None, *own).refusals


@pytest.mark.parametrize(
    ("flag", "known"),
    [
        (("--speculative-dflash-draft-window-size", "512"), {"0.5.11", "0.5.12.post1", "0.5.19"}),
        (("--speculative-skip-dp-mlp-sync",), {"0.5.11", "0.5.12.post1", "0.5.19", "0.5.22"}),
        (("--speculative-draft-modle", "x"), set()),
    ],
)
def test_flags_by_release(flag: tuple[str, ...], known: set[str]) -> None:
    for version in ("0.5.10.post1", "0.5.11", "0.5.12.post1", "0.5.19", "0.5.22", NEWEST):
        unknown = RefusalKind.FLAG_UNKNOWN in kinds(plan(version, eagle3(), None, *flag))
        assert unknown is (version not in known), version


def test_without_an_algorithm_nothing_is_drafted() -> None:
    made = plan(NEWEST, eagle3(), method=None)
    assert not made.refusals
    assert not made.speculates
    assert [item.field for item in made.ignored_flags] == ["--speculative-draft-model-path"]


@pytest.mark.parametrize(
    ("key", "name", "norms", "first"),
    [
        ("fc_norm", "fc_norm", {f"fc_norm.{i}.weight": f"BF16 {H}" for i in range(3)}, "0.5.12"),
        ("use_aux_norm", "fc_norm", {f"fc_norm.{i}.weight": f"BF16 {H}" for i in range(3)}, "0.5.12"),
        ("norm_before_fc", "input_norm", {"input_norm.weight": f"BF16 {3 * H}"}, "0.5.17"),
    ],
)
def test_norms_before_fc(key: str, name: str, norms: dict[str, str], first: str) -> None:
    for version in RELEASES:
        made = plan(version, eagle3(**{key: True}), {**weights(), **norms})
        on = version_of(version) >= version_of(first)
        assert made.schemes[name].on is on
        assert lost(made) == (set() if on else set(norms))
        assert [item.field for item in made.ignored_fields] == ([] if on else [key])


def test_norm_before_residual_is_unknown_to_every_release() -> None:
    for version in RELEASES:
        made = plan(version, eagle3(norm_before_residual=True))
        assert not made.schemes["norm_before_residual"].on
        assert "norm_before_residual" in {item.field for item in made.ignored_fields}


def test_a_head_made_of_the_embedding() -> None:
    made = plan(NEWEST, eagle3(tie_word_embeddings=True))
    assert not made.refusals
    assert made.head is not None
    assert made.head.provider == "target-embedding"
    assert "lm_head.weight" in lost(made)
    both = plan(NEWEST, eagle3(tie_word_embeddings=True), method="EAGLE")
    assert kinds(both) == {RefusalKind.CONFIG_FIELD}


def test_projections_of_another_size() -> None:
    wide = {**weights(), "midlayer.self_attn.o_proj.weight": f"BF16 {H}x128"}
    fates = {fate.name: fate.fate for fate in plan(NEWEST, eagle3(), wide).tensors}
    assert fates["midlayer.self_attn.o_proj.weight"] == "cut"
    small = eagle3(intermediate_size=256)
    assert not plan(NEWEST, small).refusals
    assert kinds(plan("0.5.2", small)) == {RefusalKind.TENSOR_SHAPE}
    assert kinds(plan(NEWEST, eagle3(), {**weights(), "fc.weight": f"BF16 {H}x{2 * H}"})) == {RefusalKind.TENSOR_SHAPE}


def test_no_weights_at_all() -> None:
    assert kinds(plan(NEWEST, eagle3(), {})) == {RefusalKind.WEIGHTS_MISSING}


@pytest.mark.parametrize(("version", "refused"), [("0.5.16", False), ("0.5.17", True), (NEWEST, True)])
def test_a_shard_the_index_names_and_nobody_has(version: str, refused: bool) -> None:
    split = {name: "other.safetensors" if name == "fc.weight" else "model.safetensors" for name in weights()}
    index = {"model.safetensors.index.json": json.dumps({"metadata": {}, "weight_map": split})}
    made = plan(version, eagle3(), without(weights(), "fc.weight"), text=index)
    assert (kinds(made) == {RefusalKind.WEIGHTS_MISSING}) is refused
    assert "model.fc.weight" in {state.name for state in made.parameters if state.state == "unfilled"}


def test_weights_in_another_format_are_loaded_unseen() -> None:
    made = plan(NEWEST, eagle3(), {}, opaque={"pytorch_model.bin": 1000})
    assert not made.refusals
    assert not made.tensors
    assert any(step.topic == "weights" for step in made.steps)


def test_a_release_between_two_that_differ_has_two_worlds() -> None:
    sides = worlds(profile("sglang"), version_of("0.5.12"))
    assert [world.basis for world in sides] == ["0.5.11", "0.5.12.post1"]


def test_what_a_drafter_needs() -> None:
    (world,) = worlds(profile("sglang"), version_of(NEWEST))
    request = engine("sglang").needed(world, "eagle3", "someone/drafter", "someone/target")
    assert request.assumed
    assert request.method is not None
    assert request.method.value == "EAGLE3"
    drafter, target = opened(eagle3(), weights(), "drafter"), read_target(opened(llama(), {}, "target"))
    assert not engine("sglang").plan(world, request, drafter, target).refusals
