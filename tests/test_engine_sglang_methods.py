"""What the SGLang plan says of methods beside EAGLE: prediction layers, block drafters, NGRAM, UNO, laws of flags."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import census_entries as census
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines import Plan, engine
from drafter_lint.engines.plan import RefusalKind
from drafter_lint.facts import profile, version_of, worlds
from drafter_lint.findings import Role
from drafter_lint.launch import parse_command
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.targets import read_target
from test_engine_sglang import NEWEST, RELEASES, H, eagle3, kinds, llama, lost, plan, without
from test_engine_vllm_methods import (
    DENSE35,
    GLM,
    MIMO,
    NEXT,
    behind,
    deepseek,
    deepseek_weights,
    experts,
    grouped,
    mimo_weights,
    qwen_weights,
)

SMALL = Path(__file__).parents[1] / "fixtures" / "small"


def since(first: str) -> list[str]:
    return RELEASES[RELEASES.index(first) :]


def until(last: str) -> list[str]:
    return RELEASES[: RELEASES.index(last) + 1]


def inside(version: str, config: Mapping[str, Any], lines: Mapping[str, str], *flags: str) -> Plan:
    """Prediction layers that ride in the target: its folder is named as the drafter's."""
    return plan(version, config, lines, *flags, method="NEXTN", target=config, before=("SGLANG_IS_IN_CI=1",))


def empty(made: Plan) -> list[str]:
    return [state.name for state in made.parameters if state.matters and state.state in {"unfilled", "partly"}]


@pytest.mark.parametrize("version", RELEASES)
def test_a_whole_deepseek_layer_is_filled_in_every_release(version: str) -> None:
    made = inside(version, deepseek(), deepseek_weights())
    assert (made.refusals, made.draft_class, empty(made)) == ((), "DeepseekV3ForCausalLMNextN", [])
    assert sorted(fate.name for fate in made.tensors if fate.fate == "dropped") == [
        "model.layers.32.embed_tokens.weight",
        "model.layers.32.shared_head.head.weight",
    ]
    assert made.fc is not None
    assert {made.head and made.head.provider, made.embedding and made.embedding.provider} == {"target"}


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"num_nextn_predict_layers": 2}, RefusalKind.LAYER_COUNT),
        ({"num_nextn_predict_layers": 0}, RefusalKind.LAYER_COUNT),
    ],
)
def test_the_loader_takes_one_layer(version: str, changes: dict[str, Any], kind: RefusalKind) -> None:
    assert kinds(inside(version, deepseek(**changes), deepseek_weights())) == {kind}


@pytest.mark.parametrize(("version", "refused"), [("0.5.21", True), ("0.5.22", False), (NEWEST, False)])
def test_the_number_of_layers_has_a_default_from_transformers_5_19(version: str, refused: bool) -> None:
    config = {key: value for key, value in deepseek().items() if key != "num_nextn_predict_layers"}
    assert (RefusalKind.CONFIG_FIELD in kinds(inside(version, config, deepseek_weights()))) is refused


@pytest.mark.parametrize("version", RELEASES)
def test_a_missing_projection_is_nobodys_business(version: str) -> None:
    made = inside(version, deepseek(), without(deepseek_weights(), "model.layers.32.eh_proj.weight"))
    assert (made.refusals, empty(made)) == ((), ["model.eh_proj.weight"])


def test_a_layer_exported_alone_stands_at_zero() -> None:
    made = plan(NEWEST, deepseek(num_hidden_layers=1), deepseek_weights(0), method="NEXTN", target=deepseek())
    assert (made.refusals, empty(made)) == ((), [])
    elsewhere = plan(NEWEST, deepseek(num_hidden_layers=1), deepseek_weights(32), method="NEXTN", target=deepseek())
    assert len(empty(elsewhere)) > 10


def test_a_quantised_target_is_looked_through_by_name() -> None:
    quantised = deepseek(quantization_config={"quant_method": "fp8"})
    packed = {name.replace(".weight", ".weight_packed"): line for name, line in deepseek_weights().items()}
    assert empty(inside(NEWEST, quantised, packed)) == []
    assert "model.eh_proj.weight" in empty(inside(NEWEST, quantised, without(packed, *_named(packed, "eh_proj"))))


def _named(lines: Mapping[str, str], part: str) -> list[str]:
    return [name for name in lines if part in name]


@pytest.mark.parametrize("version", since("0.4.9.post6"))
def test_glms_layer(version: str) -> None:
    front = "model.layers.32."
    lines = behind({**grouped(front, biased=True, normed=True), **experts(front)})
    made = inside(version, GLM, lines)
    assert (made.refusals, made.draft_class, empty(made), lost(made)) == ((), "Glm4MoeForCausalLMNextN", [], set())
    unnormed = inside(version, GLM, without(lines, *_named(lines, "q_norm")))
    assert empty(unnormed) == ["model.decoder.self_attn.q_norm.weight"]


@pytest.mark.parametrize("version", RELEASES)
def test_mimos_layer(version: str) -> None:
    made = inside(version, MIMO, mimo_weights(), "--trust-remote-code")
    assert (made.refusals, made.draft_class, empty(made), lost(made)) == ((), "MiMoMTP", [], set())
    stray = inside(version, MIMO, {**mimo_weights(), "model.mtp_layers.0.mlp.gate.weight": "BF16 2x64"})
    assert kinds(stray) == {RefusalKind.TENSOR_UNEXPECTED}


@pytest.mark.parametrize("version", since("0.5.2"))
def test_qwen3_nexts_layer(version: str) -> None:
    made = inside(version, NEXT, qwen_weights())
    assert (made.refusals, made.draft_class, empty(made), lost(made)) == ((), "Qwen3NextForCausalLMMTP", [], set())
    second = {**qwen_weights(), "mtp.layers.1.input_layernorm.weight": f"BF16 {H}"}
    assert kinds(inside(version, NEXT, second)) == {RefusalKind.TENSOR_UNEXPECTED}


@pytest.mark.parametrize("version", since("0.5.9"))
def test_qwen3_5s_layer_inside_a_wrapper(version: str) -> None:
    lines = qwen_weights("model.language_model.embed_tokens.weight", sparse=False)
    made = inside(version, DENSE35, lines)
    assert (made.refusals, made.draft_class, empty(made), lost(made)) == ((), "Qwen3_5ForCausalLMMTP", [], set())
    second = {**lines, "mtp.layers.1.input_layernorm.weight": f"BF16 {H}"}
    assert lost(inside(version, DENSE35, second)) == {"mtp.layers.1.input_layernorm.weight"}


@pytest.mark.parametrize(("version", "own"), [("0.5.12.post1", False), ("0.5.13", True), (NEWEST, True)])
def test_a_plain_qwen3_moe_opened_as_a_drafter_is_built_from_nothing(version: str, own: bool) -> None:
    config = llama(
        architectures=["Qwen3MoeForCausalLM"], model_type="qwen3_moe", num_experts=2, moe_intermediate_size=32
    )
    made = inside(version, config, {"model.embed_tokens.weight": f"BF16 1000x{H}"})
    assert ("fc.weight" in empty(made)) is own


@pytest.mark.parametrize("version", since("0.5.13"))
def test_an_eagle3_flag_over_a_prediction_class(version: str) -> None:
    made = plan(version, deepseek(), deepseek_weights(), method="EAGLE3", target=deepseek())
    assert RefusalKind.METHOD_UNSUITABLE in kinds(made)


def small(name: str, **changes: Any) -> Recipe:
    recipe = Recipe.parse((SMALL / f"{name}.recipe.toml").read_text(encoding="utf-8"))
    config = json.loads(recipe.config or "{}")
    for key, value in changes.items():
        if value is ...:
            config.pop(key, None)
        elif isinstance(value, dict) and isinstance(config.get(key), dict):
            config[key] = {k: v for k, v in {**config[key], **value}.items() if v is not ...}
        else:
            config[key] = value
    return Recipe(name=recipe.name, config=json.dumps(config), tensors=recipe.tensors)


def block(
    version: str,
    drafter: Recipe,
    *flags: str,
    method: str = "DFLASH",
    target: Recipe | None = None,
    before: tuple[str, ...] = (),
    path: bool = True,
) -> Plan:
    def opened(recipe: Recipe, role: Role) -> Checkpoint:
        return Checkpoint(Reference(spelling=f"./{role}", kind="local", name=role), recipe.source(), role=role)

    words = [*before, "python", "-m", "sglang.launch_server", "--model-path", "./target"]
    words += ["--speculative-draft-model-path", "./drafter"] if path else []
    words += ["--speculative-algorithm", method, *flags]
    (world,) = worlds(profile("sglang"), version_of(version))
    verifier = read_target(opened(target or small("target-qwen3"), "target"))
    return engine("sglang").plan(world, parse_command(words), opened(drafter, "drafter"), verifier)


BLOCK = since("0.5.11")
SPARK = since("0.5.17")


@pytest.mark.parametrize("version", BLOCK)
def test_a_right_dflash_pair(version: str) -> None:
    made = block(version, small("dflash"))
    assert (made.refusals, empty(made), lost(made)) == ((), [], set())
    assert made.capture is not None
    assert made.capture.boundaries == (2, 4, 6)
    assert made.fc is not None
    assert (made.fc.takes, made.fc.fed) == (192, 192)
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert ("--speculative-num-draft-tokens", "unset", "4") in written


@pytest.mark.parametrize("version", RELEASES)
def test_c30_dflash_by_release(version: str) -> None:
    made = block(version, small("dflash"))
    assert (RefusalKind.METHOD_UNKNOWN in kinds(made)) is (version in until("0.5.10.post1"))


@pytest.mark.parametrize("version", BLOCK)
def test_what_dflash_does_not_run_with(version: str) -> None:
    def refused(*flags: str, **changes: Any) -> set[RefusalKind]:
        return kinds(block(version, small("dflash", **changes), *flags))

    assert kinds(block(version, small("dflash"), path=False)) == {RefusalKind.DRAFT_PATH_MISSING}
    assert refused("--pp-size", "2") == {RefusalKind.METHOD_UNSUITABLE}
    assert refused("--enable-dp-attention") == {RefusalKind.METHOD_UNSUITABLE}
    assert refused("--speculative-dflash-block-size", "0") == {RefusalKind.TOKEN_COUNTS}
    tokens = ("--speculative-num-draft-tokens", "8")
    assert refused("--speculative-dflash-block-size", "4", *tokens) == {RefusalKind.TOKEN_COUNTS}
    assert refused(*tokens) == set()
    assert refused(dflash_config={"target_layer_ids": [1, 3, 8]}) >= {RefusalKind.STATE_WIDTH}
    assert refused(dflash_config={"mask_token_id": 512}) == {RefusalKind.VOCABULARY}
    assert refused("--tp", "3") == {RefusalKind.TENSOR_PARALLEL}


@pytest.mark.parametrize(("version", "allowed"), [("0.5.22", False), ("0.5.23", True)])
def test_dflash_beside_data_parallel_attention(version: str, allowed: bool) -> None:
    made = block(version, small("dflash"), "--enable-dp-attention", "--enable-dp-lm-head")
    assert (not made.refusals) is allowed


@pytest.mark.parametrize(
    ("version", "refused"), [("0.5.11", True), ("0.5.17", True), ("0.5.18", False), (NEWEST, False)]
)
def test_ids_are_held_against_the_drafters_own_depth_where_the_targets_is_not_written(
    version: str, refused: bool
) -> None:
    made = block(version, small("dflash", num_target_layers=...))
    assert (RefusalKind.CONFIG_FIELD in kinds(made)) is refused


@pytest.mark.parametrize(("version", "read"), [("0.5.17", False), ("0.5.18", True)])
def test_a_mask_token_at_the_top(version: str, read: bool) -> None:
    made = block(version, small("dflash", mask_token_id=512, dflash_config={"mask_token_id": ...}))
    assert (RefusalKind.VOCABULARY in kinds(made)) is read


def test_steps_and_branches_become_one() -> None:
    made = block(NEWEST, small("dflash"), "--speculative-num-steps", "3", "--speculative-eagle-topk", "4")
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert {("--speculative-num-steps", "3", "1"), ("--speculative-eagle-topk", "4", "1")} <= written


def test_the_last_layers_output_is_never_passed_by_the_loop() -> None:
    made = block(NEWEST, small("dflash", dflash_config={"target_layer_ids": [1, 3, 7]}))
    assert kinds(made) == {RefusalKind.STATE_WIDTH}


def test_classes_that_draft_no_blocks() -> None:
    assert kinds(block(NEWEST, small("eagle3-llama"))) == {RefusalKind.METHOD_UNSUITABLE}
    assert RefusalKind.TARGET_UNSUPPORTED in kinds(
        block(NEWEST, small("dflash"), target=small("target-qwen3", architectures=["MixtralForCausalLM"]))
    )


TOP: dict[str, Any] = {"markov_rank": 16, "markov_head_type": "vanilla"}


@pytest.mark.parametrize("version", SPARK)
def test_a_right_dspark_pair(version: str) -> None:
    made = block(version, small("dspark", **TOP, mask_token_id=510), method="DSPARK")
    assert (made.refusals, empty(made), lost(made)) == ((), [], set())
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert ("--speculative-num-draft-tokens", "unset", "5") in written


@pytest.mark.parametrize("version", SPARK)
def test_what_a_dspark_drafter_must_have(version: str) -> None:
    def refused(*flags: str, **changes: Any) -> set[RefusalKind]:
        right: dict[str, Any] = {**TOP, "mask_token_id": 510, **changes}
        return kinds(block(version, small("dspark", **right), *flags, method="DSPARK"))

    assert refused(markov_rank=...) == {RefusalKind.METHOD_UNSUITABLE}
    assert refused(markov_rank=0) == {RefusalKind.METHOD_UNSUITABLE}
    assert refused(markov_head_type="other", dflash_config={"markov_head_type": ...}) == {RefusalKind.CONFIG_FIELD}
    assert refused(mask_token_id=..., dflash_config={"mask_token_id": ...}) == {RefusalKind.CONFIG_FIELD}
    assert refused("--speculative-num-draft-tokens", "4") == {RefusalKind.TOKEN_COUNTS}
    assert refused("--speculative-num-draft-tokens", "5") == set()


def test_the_confidence_head_is_built_outside_static_verification_only() -> None:
    drafter = small("dspark", **TOP, mask_token_id=510)
    bare = Recipe(
        name=drafter.name,
        config=drafter.config,
        tensors={file: without(lines, *_named(lines, "confidence")) for file, lines in drafter.tensors.items()},
    )
    assert not block(NEWEST, bare, method="DSPARK").refusals
    ragged = block(NEWEST, bare, method="DSPARK", before=("SGLANG_RAGGED_VERIFY_MODE=compact",))
    assert kinds(ragged) == {RefusalKind.TENSOR_REQUIRED}


@pytest.mark.parametrize(("version", "tokens"), [("0.5.3.post3", "12"), ("0.5.9", "12"), ("0.5.10.post1", "12")])
def test_ngram_opens_no_drafter(version: str, tokens: str) -> None:
    made = plan(version, eagle3(), method="NGRAM", counts=("--speculative-eagle-topk", "2"))
    assert (made.understood, made.refusals, made.draft_class) == (True, (), None)
    assert [item.field for item in made.ignored_flags] == ["--speculative-draft-model-path"]
    written = {(item.what, item.before, item.after) for item in made.rewrites}
    assert ("--speculative-eagle-topk", "2", "10") in written
    assert ("--speculative-num-draft-tokens", "unset", tokens) in written
    assert kinds(plan(version, eagle3(), None, "--enable-dp-attention", method="NGRAM", counts=())) == {
        RefusalKind.METHOD_UNSUITABLE
    }


def test_unos_laws() -> None:
    right = ("--uno-lora-path", "./adapter", "--speculative-num-draft-tokens", "4")
    assert not plan(NEWEST, eagle3(), None, *right, method="UNO", counts=(), path=False).refusals
    made = plan(NEWEST, eagle3(), method="UNO", counts=())
    assert kinds(made) == {RefusalKind.METHOD_UNSUITABLE, RefusalKind.TOKEN_COUNTS}


@pytest.mark.parametrize(
    ("method", "drafter", "words"),
    [
        ("mtp", "someone/target", ["NEXTN"]),
        ("mtp", "someone/drafter", ["NEXTN", "--speculative-draft-model-path", "someone/drafter"]),
        ("dflash", "someone/drafter", ["DFLASH", "--speculative-draft-model-path", "someone/drafter"]),
        ("dspark", "someone/target", ["DSPARK"]),
    ],
)
def test_what_each_kind_of_drafter_needs(method: str, drafter: str, words: list[str]) -> None:
    (world,) = worlds(profile("sglang"), version_of(NEWEST))
    request = engine("sglang").needed(world, method, drafter, "someone/target")
    assert list(request.argv)[3:] == words


def test_a_class_that_is_not_followed_is_still_seen_to_have_nothing() -> None:
    config = llama(architectures=["Step3p5ForCausalLM"], model_type="llama")
    whole = inside(NEWEST, config, {"model.layers.32.eh_proj.weight": f"BF16 {H}x{2 * H}"})
    assert (whole.understood, whole.refusals, whole.draft_class, whole.parameters) == (True, (), "Step3p5MTP", ())
    bare = inside(NEWEST, config, {"model.embed_tokens.weight": f"BF16 1000x{H}"})
    assert [state.state for state in bare.parameters] == ["unfilled"]


@pytest.mark.parametrize(("version", "found"), [("0.5.22", False), ("0.5.23", True)])
def test_a_dspark_drafter_in_a_folder_of_the_target(version: str, found: bool) -> None:
    plain = small("target-qwen3")
    folder = Recipe(name=plain.name, config=plain.config, tensors=plain.tensors, text={"dspark/config.json": "{}"})
    made = block(version, small("dspark"), method="DSPARK", target=folder, path=False)
    assert (RefusalKind.DRAFT_PATH_MISSING in kinds(made)) is not found
    assert made.understood is not found


def is_plain(settings: Any) -> bool:
    """DFlash on a Qwen3 body, with the layers written."""
    return bool(
        "DFlashDraftModel" in settings.get("architectures", ())
        and settings.get("model_type") == "qwen3"
        and settings.get("dflash_config", {}).get("target_layer_ids")
    )


TEMPLATES = [entry for entry in census.entries() if is_plain(entry.settings)]


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 10


@pytest.mark.parametrize("entry", TEMPLATES, ids=lambda entry: entry.name)
def test_no_published_dflash_template_is_refused(entry: census.Entry) -> None:
    written: Any = entry.settings
    target = llama(
        architectures=["Qwen3ForCausalLM"],
        model_type="qwen3",
        hidden_size=written["hidden_size"],
        vocab_size=written["vocab_size"],
        num_hidden_layers=written["num_target_layers"],
        max_position_embeddings=1024,
    )
    made = block(NEWEST, entry.recipe, target=Recipe(name="target", config=json.dumps(target), tensors={}))
    assert (made.refusals, empty(made), lost(made)) == ((), [], set())
