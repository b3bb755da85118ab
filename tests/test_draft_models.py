"""Draft models of their own, release by release: what each engine asks of one, and what a step of it costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

import published
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines import Plan, engine
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Role
from drafter_lint.launch import parse_command
from drafter_lint.linter import EngineChoice, Selection, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.rules.speed.weights_read import weights_read
from drafter_lint.rules.vocabulary.padding import may_be_padding
from drafter_lint.targets import read_target

SGLANG = [str(release) for release in profile("sglang").read]
VLLM = [str(release) for release in profile("vllm").read]
COUNTS = ("--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4")


def llama(**changes: Any) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": 512,
        "hidden_act": "silu",
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        **changes,
    }


def weights(vocabulary: int = 512) -> dict[str, str]:
    layer = "model.layers.0."
    shapes = {
        "model.embed_tokens.weight": f"{vocabulary}x32",
        "lm_head.weight": f"{vocabulary}x32",
        "model.norm.weight": "32",
        **{f"{layer}self_attn.{part}_proj.weight": "32x32" for part in "qkvo"},
        **{f"{layer}mlp.{part}_proj.weight": "64x32" for part in ("gate", "up")},
        f"{layer}mlp.down_proj.weight": "32x64",
        f"{layer}input_layernorm.weight": "32",
        f"{layer}post_attention_layernorm.weight": "32",
    }
    return {name: f"BF16 {shape}" for name, shape in shapes.items()}


def opened(config: Mapping[str, Any], role: Role, *, words: int | None = 512) -> Checkpoint:
    tensors = {"model.safetensors": weights(config["vocab_size"])} if role == "drafter" else {}
    recipe = Recipe(name=f"example/{role}", config=json.dumps(config), tensors=tensors, words=words)
    return Checkpoint(Reference(spelling=f"./{role}", kind="local", name=f"./{role}"), recipe.source(), role=role)


def plan(
    name: str,
    version: str,
    config: Mapping[str, Any],
    *flags: str,
    target: Mapping[str, Any] | None = None,
    words: int | None = 512,
    before: tuple[str, ...] = (),
    **keys: Any,
) -> Plan:
    given = {"method": "draft_model", "model": "./drafter", "num_speculative_tokens": 3, **keys}
    words_of = {
        "sglang": ["python", "-m", "sglang.launch_server", "--model-path", "./target", *COUNTS],
        "vllm": ["vllm", "serve", "./target", "--speculative-config", json.dumps(given)],
    }[name]
    if name == "sglang":
        words_of += ["--speculative-algorithm", "STANDALONE", "--speculative-draft-model-path", "./drafter"]
    request = parse_command([*before, *words_of, *flags])
    (world,) = worlds(profile(name), version_of(version))
    drafter = opened(config, "drafter", words=words)
    return engine(name).plan(world, request, drafter, read_target(opened(target or llama(), "target")))


def kinds(made: Plan) -> set[RefusalKind]:
    return {refusal.kind for refusal in made.refusals}


def between(releases: list[str], low: str, high: str) -> list[str]:
    return releases[releases.index(low) : releases.index(high) + 1]


@pytest.mark.parametrize("version", SGLANG)
def test_standalone_came_with_0_5_2(version: str) -> None:
    made = plan("sglang", version, llama())
    if version in between(SGLANG, SGLANG[0], "0.5.1.post3"):
        assert RefusalKind.METHOD_UNKNOWN in kinds(made)
        return
    assert not made.refusals
    assert (made.understood, made.method, made.draft_class) == (True, "STANDALONE", "LlamaForCausalLM")
    assert made.head
    assert made.embedding
    assert made.map
    assert (made.head.provider, made.embedding.provider, made.map.use) == ("own", "own", "identity")
    assert {fate.fate for fate in made.tensors} == {"taken"}
    assert {state.state for state in made.parameters} == {"filled"}


@pytest.mark.parametrize("version", between(SGLANG, "0.5.2", "0.5.23"))
def test_standalone_compares_sizes_from_0_5_15_on(version: str) -> None:
    made = plan("sglang", version, llama(vocab_size=640))
    compared = version in between(SGLANG, "0.5.15.post1", "0.5.23")
    assert (RefusalKind.VOCABULARY_UNEQUAL in kinds(made)) == compared
    assert all(refusal.stage == "load" for refusal in made.refusals)


@pytest.mark.parametrize("version", between(SGLANG, "0.5.2", "0.5.23"))
def test_standalone_runs_at_the_positions_of_its_target(version: str) -> None:
    made = plan("sglang", version, llama(), target=llama(max_position_embeddings=8192))
    assert kinds(made) == {RefusalKind.CONTEXT}
    longer = llama(max_position_embeddings=8192)
    assert not plan("sglang", version, llama(), "--context-length", "4096", target=longer).refusals


@pytest.mark.parametrize("version", ["0.5.2", "0.5.12.post1", "0.5.23"])
def test_standalone_without_data_parallel_attention(version: str) -> None:
    made = plan("sglang", version, llama(), "--enable-dp-attention", "--dp-size", "2")
    assert RefusalKind.METHOD_UNSUITABLE in kinds(made)
    assert made.refusals[0].stage == "arguments"


@pytest.mark.parametrize(
    ("architecture", "followed"),
    [
        ("Gemma3ForCausalLM", False),
        ("Phi3ForCausalLM", False),
        ("Qwen3ForCausalLM", True),
        ("MistralForCausalLM", True),
    ],
)
def test_classes_of_other_loaders_are_not_followed_tensor_by_tensor(architecture: str, *, followed: bool) -> None:
    made = plan("sglang", "0.5.23", llama(architectures=[architecture]))
    assert made.understood
    assert not made.refusals
    assert bool(made.tensors) == followed
    assert made.head
    assert made.head.provider == "own"


def test_a_size_that_does_not_divide_is_seen_in_every_class() -> None:
    for architecture in ("LlamaForCausalLM", "Gemma3ForCausalLM"):
        made = plan("sglang", "0.5.23", llama(architectures=[architecture]), "--tp", "4")
        assert RefusalKind.TENSOR_PARALLEL in kinds(made)


@pytest.mark.parametrize("version", VLLM)
def test_draft_model_was_gone_between_the_two_engines(version: str) -> None:
    made = plan("vllm", version, llama())
    if version in between(VLLM, "0.10.2", "0.13.0"):
        assert kinds(made) == {RefusalKind.METHOD_UNSUITABLE}
        return
    assert not made.refusals
    runner = "" if version in between(VLLM, "0.8.5", "0.9.2") else "v1"
    assert (made.understood, made.method) == (True, "draft_model")
    assert made.runner == ("v2" if version in between(VLLM, "0.31.0", "0.33.0") else runner)
    assert made.map
    assert made.map.use == "identity"


@pytest.mark.parametrize("version", [*between(VLLM, "0.8.5", "0.9.2"), *between(VLLM, "0.15.1", "0.33.0")])
def test_unequal_sizes_are_refused_and_may_be_translated(version: str) -> None:
    made = plan("vllm", version, llama(vocab_size=640))
    (refusal,) = made.refusals
    assert refusal.kind is RefusalKind.VOCABULARY_UNEQUAL
    assert refusal.stage == ("load" if version in between(VLLM, "0.8.5", "0.9.2") else "config")
    translated = version in between(VLLM, "0.27.1", "0.33.0") and version != "0.31.0"
    assert (refusal.remedy is not None) == translated
    if not translated:
        return
    mended = plan("vllm", version, llama(vocab_size=640), use_heterogeneous_vocab=True)
    assert not mended.refusals
    assert mended.map
    assert (mended.map.use, mended.runner) == ("tokens", "v1")


def test_0_31_0_takes_the_key_and_translates_nothing_unless_v1_serves() -> None:
    made = plan("vllm", "0.31.0", llama(vocab_size=640), use_heterogeneous_vocab=True)
    assert made.map
    assert (made.map.use, made.runner, kinds(made)) == ("identity", "v2", set())
    assert [flag.field for flag in made.ignored_flags] == ["use_heterogeneous_vocab"]
    first = ("VLLM_USE_V2_MODEL_RUNNER=0",)
    made = plan("vllm", "0.31.0", llama(vocab_size=640), before=first, use_heterogeneous_vocab=True)
    assert made.map
    assert (made.map.use, made.runner) == ("tokens", "v1")


def test_translating_needs_the_draft_models_own_tokenizer() -> None:
    made = plan("vllm", "0.33.0", llama(vocab_size=640), words=None, use_heterogeneous_vocab=True)
    assert [refusal.stage for refusal in made.refusals] == ["load"]
    (refusal,) = plan("vllm", "0.33.0", llama(vocab_size=640), words=None).refusals
    assert refusal.remedy is None


@pytest.mark.parametrize(
    ("keys", "version", "refused"),
    [
        ({"draft_sample_method": "probabilistic"}, "0.27.1", True),
        ({"use_local_argmax_reduction": True}, "0.32.0", False),
        ({"use_local_argmax_reduction": True}, "0.33.0", True),
    ],
)
def test_what_translating_does_not_go_with(keys: dict[str, Any], version: str, *, refused: bool) -> None:
    made = plan("vllm", version, llama(vocab_size=640), use_heterogeneous_vocab=True, **keys)
    assert (RefusalKind.FLAG_VALUE in kinds(made)) == refused


@pytest.mark.parametrize("version", between(VLLM, "0.15.1", "0.33.0"))
def test_the_v1_proposer_wants_the_ranks_of_the_target(version: str) -> None:
    made = plan("vllm", version, llama(), "--tensor-parallel-size", "2", draft_tensor_parallel_size=1)
    assert (RefusalKind.TENSOR_PARALLEL in kinds(made)) == (made.runner == "v1")
    assert not plan("vllm", version, llama(), "--tensor-parallel-size", "2").refusals


def test_the_v1_proposer_pads() -> None:
    for version, refused in (("0.15.1", True), ("0.24.0", True), ("0.33.0", False)):
        made = plan("vllm", version, llama(), disable_padded_drafter_batch=True)
        assert (RefusalKind.FLAG_VALUE in kinds(made)) == refused, version


def test_v0_takes_one_rank_and_no_pipeline() -> None:
    assert not plan("vllm", "0.9.2", llama(), "--tensor-parallel-size", "2", draft_tensor_parallel_size=1).refusals
    assert kinds(plan("vllm", "0.9.2", llama(), "--pipeline-parallel-size", "2")) == {RefusalKind.METHOD_UNSUITABLE}
    forced = plan("vllm", "0.9.2", llama(), before=("VLLM_USE_V1=1",))
    assert [refusal.stage for refusal in forced.refusals] == ["arguments"]


@pytest.mark.parametrize(
    ("version", "says"),
    [("0.9.2", "nothing is drafted"), ("0.28.0", "nothing is drafted"), ("0.31.0", "goes on drafting"), ("0.33.0", "")],
)
def test_past_the_end_of_the_draft_model(version: str, says: str) -> None:
    made = plan("vllm", version, llama(), target=llama(max_position_embeddings=8192))
    assert not made.refusals
    told = [step.says for step in made.steps if step.topic == "context"]
    if says:
        assert says in told[0]
    else:
        assert [(change.what, change.after) for change in made.rewrites] == [("max_model_len", "4096")]


def test_pard_is_asked_for_as_a_draft_model_in_parallel() -> None:
    (world,) = worlds(profile("vllm"), version_of("0.33.0"))
    wanted = engine("vllm").needed(world, "pard", "./drafter", "./target")
    keys = {key: value.value for key, value in wanted.speculative_config.items()}
    assert (keys["method"], keys["parallel_drafting"]) == ("draft_model", True)
    (world,) = worlds(profile("sglang"), version_of("0.5.23"))
    assert "STANDALONE" in engine("sglang").needed(world, "pard", "./drafter", "./target").argv


@pytest.mark.parametrize(
    ("drafter", "target", "cost"),
    [
        ("Qwen--Qwen3-0.6B", "Qwen--Qwen3-8B", 0.08),
        ("meta-llama--Llama-3.2-1B-Instruct", "meta-llama--Llama-3.1-8B-Instruct", 0.16),
        ("Qwen--Qwen3-1.7B", "Qwen--Qwen3-4B", 0.43),
    ],
)
def test_what_a_draft_step_costs(drafter: str, target: str, cost: float) -> None:
    sides = [config(published.drafter(drafter)), config(published.target(target))]
    ours, theirs = (weights_read(side.config) for side in sides)
    assert ours
    assert theirs
    assert ours / theirs == pytest.approx(cost, abs=0.01)


def config(recipe: Recipe) -> Checkpoint:
    source = recipe.without_weights().source()
    return Checkpoint(Reference(spelling="x", kind="local", name="x"), source, role="drafter")


@pytest.mark.parametrize(
    ("target", "active"),
    [
        ("deepseek-ai--DeepSeek-V3", 37e9),
        ("moonshotai--Kimi-K2-Instruct", 32e9),
        (
            "Qwen--Qwen3-30B-A3B-Instruct-2507",
            3.3e9 - 151936 * 2048,
        ),  # the card counts the embedding, which is not read
        ("Qwen--Qwen3-32B", 32.8e9),
    ],
)
def test_what_a_token_reads_is_what_the_card_calls_active(target: str, active: float) -> None:
    assert weights_read(config(published.target(target)).config) == pytest.approx(active, rel=0.03)


def test_a_draft_model_of_half_its_target_is_slow_and_told_once() -> None:
    drafter, target = published.drafter("Qwen--Qwen3-1.7B"), published.target("Qwen--Qwen3-4B").without_weights()
    roles: tuple[Role, ...] = ("drafter", "target")
    sides = [
        Checkpoint(Reference(spelling=side.name, kind="hub", name=side.name), side.source(name=side.name), role=role)
        for side, role in zip((drafter, target), roles, strict=True)
    ]
    made = check_pair(understand(*sides), EngineChoice(name="sglang", version="0.5.23"), selection=Selection())
    assert [item.code for item in made.findings] == ["DFL703"]
    assert made.findings[0].measured["best"] == pytest.approx(1.75, abs=0.02)


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        (151936, 152064, True),
        (32000, 32016, True),
        (262144, 262208, True),
        (49152, 256000, False),
        (32000, 128256, False),
    ],
)
def test_padding(ours: int, theirs: int, *, same: bool) -> None:
    assert may_be_padding(ours, theirs) == same
