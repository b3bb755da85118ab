"""Every layout has a schema of its config and a published or made-up example, and the two agree with recognition."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

import census_entries as census
import published
from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Layout, Recognition
from drafter_lint.drafters.recognise import recognise
from drafter_lint.findings import Finding, Outcome, Role
from drafter_lint.linter import Selection
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "schemas" / "layouts"
EXAMPLES = ROOT / "fixtures" / "recipes" / "layouts"
LAYOUTS = [layout for layout in Layout if layout.family != "none"]
#: Layouts whose examples are among the published drafters of ``fixtures/recipes``.
ELSEWHERE = {
    Layout.EAGLE1: "yuhuili--EAGLE-LLaMA3-Instruct-8B",
    Layout.EAGLE3_MIDLAYER: "yuhuili--EAGLE3-LLaMA3.1-Instruct-8B",
    Layout.EAGLE3_LAYERS: "AngelSlim--Qwen3-8B_eagle3",
    Layout.EAGLE3_SPECULATORS: "RedHatAI--Qwen3-8B-speculator.eagle3",
    Layout.EAGLE3_MLA: "lightseekorg--kimi-k2.5-eagle3-mla",
}
#: The targets of examples, where they are among ``fixtures/targets``.
TARGETS = {
    Layout.DFLASH: "Qwen--Qwen3-4B",
    Layout.DFLASH_SPECULATORS: "Qwen--Qwen3-8B",
    Layout.DFLASH_DEEPSPEC: "Qwen--Qwen3-4B",
    Layout.DFLARE: "Qwen--Qwen3-8B",
    Layout.DFLASH2_SPECULATORS: "Qwen--Qwen3-8B",
    Layout.DOMINO: "Qwen--Qwen3-8B",
    Layout.XPRESS_SPECULATORS: "Qwen--Qwen3-8B",
    Layout.DSPARK_SPECULATORS: "Qwen--Qwen3-4B",
    Layout.DSPARK_DEEPSPEC: "Qwen--Qwen3-4B",
    Layout.DSPARK_MODELOPT: "Qwen--Qwen3-8B",
    Layout.EAGLE1_SPECULATORS: "meta-llama--Llama-3.1-8B-Instruct",
    Layout.EAGLE3_DEEPSPEC: "Qwen--Qwen3-4B",
    Layout.MTP_DEEPSEEK: "deepseek-ai--DeepSeek-V3",
    Layout.MTP_NEXTN: "deepseek-ai--DeepSeek-V3",
    Layout.MTP_SPECULATORS: "Qwen--Qwen3-8B",
    Layout.MEDUSA: "lmsys--vicuna-13b-v1.3",
    Layout.HYDRA: "lmsys--vicuna-13b-v1.3",
    Layout.MLP_SPECULATOR: "meta-llama--Meta-Llama-3-8B-Instruct",
    Layout.DRAFT_MODEL: "Qwen--Qwen3-8B",
    Layout.PARD: "Qwen--Qwen3-8B",
}


@cache
def example(layout: Layout) -> Recipe:
    """The example of a layout."""
    if layout in ELSEWHERE:
        return published.drafter(ELSEWHERE[layout])
    return Recipe.parse((EXAMPLES / f"{layout.value}.recipe.toml").read_text("utf-8"))


def checkpoint(recipe: Recipe, role: Role = "drafter") -> Checkpoint:
    """A checkpoint in memory."""
    return Checkpoint(Reference(spelling=recipe.name, kind="hub", name=recipe.name), recipe.source(), role=role)


def taken_for(recipe: Recipe) -> Recognition:
    """What a recipe is recognised as."""
    return recognise(checkpoint(recipe))


def schema(name: str) -> dict[str, Any]:
    """One schema as written."""
    found = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@cache
def validator(name: str) -> Draft202012Validator:
    """A schema with what it refers to."""
    common = Resource.from_contents(schema("common"), default_specification=DRAFT202012)
    registry: Registry[Any] = Registry().with_resource("common.schema.json", common)
    return Draft202012Validator(schema(name), registry=registry)


def test_one_schema_and_one_example_a_layout() -> None:
    names = {layout.value for layout in LAYOUTS}
    assert {path.name.split(".")[0] for path in SCHEMAS.glob("*.schema.json")} == names | {"common"}
    here = {path.name.split(".")[0] for path in EXAMPLES.glob("*.recipe.toml")}
    assert here == names - {layout.value for layout in ELSEWHERE}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_an_example_is_its_layout_and_sound(layout: Layout) -> None:
    recipe = example(layout)
    found = taken_for(recipe)
    assert found.drafter.layout is layout
    assert not found.conflicts
    assert recipe.sourced, "an example says where its values come from"
    target = TARGETS.get(layout)
    other = checkpoint(published.target(target).without_weights(), "target") if target else None
    opened = linter.understand(checkpoint(recipe), other)
    said = linter._files(opened, Selection()).results
    assert not [item for item in said if isinstance(item, Finding) and item.confidence.rank > 0]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_schema_describes_its_example(layout: Layout) -> None:
    Draft202012Validator.check_schema(schema(layout.value))
    assert schema(layout.value)["description"].endswith(".")
    validator(layout.value).validate(example(layout).settings)


@pytest.mark.parametrize("entry", [entry for entry in census.ENTRIES if entry.config], ids=lambda entry: entry.name)
def test_schemas_describe_the_census(entry: census.Entry) -> None:
    if entry.layout.family != "none":
        validator(entry.layout.value).validate(entry.settings)


@pytest.mark.parametrize(
    ("layout", "key", "value"),
    [
        (Layout.EAGLE1, "hidden_size", "4096"),
        (Layout.EAGLE3_MIDLAYER, "eagle_config", {"eagle_aux_hidden_state_layer_ids": [1.5]}),
        (Layout.DFLASH, "dflash_config", {"mask_token_id": "151669"}),
        (Layout.DSPARK_SPECULATORS, "speculators_model_type", "dflash"),
        (Layout.MTP_DEEPSEEK, "num_nextn_predict_layers", -1),
        (Layout.MLP_SPECULATOR, "top_k_tokens_per_head", 4),
    ],
)
def test_schemas_refuse_what_is_no_value(layout: Layout, key: str, value: object) -> None:
    settings = dict(example(layout).settings)
    assert validator(layout.value).is_valid(settings)
    assert not validator(layout.value).is_valid({**settings, key: value})


#: Methods an engine has no word for, or no more; classes it does not register; configs it does not read: SGLang none
#: of the speculators library, vLLM of its kinds the five of algos.py. That much is certain without a plan.
NOT_READ = ("DFL414",)
GRAVE: dict[tuple[Layout, str], tuple[str, ...]] = {
    (Layout.MEDUSA, "sglang"): ("DFL404",),
    (Layout.MEDUSA, "vllm"): ("DFL405", "DFL414"),
    (Layout.HYDRA, "sglang"): ("DFL404",),
    (Layout.HYDRA, "vllm"): ("DFL404", "DFL414"),
    (Layout.MLP_SPECULATOR, "sglang"): ("DFL404",),
    (Layout.MLP_SPECULATOR, "vllm"): ("DFL405", "DFL413", "DFL414"),
    (Layout.EAGLE1_SPECULATORS, "sglang"): NOT_READ,
    (Layout.EAGLE1_SPECULATORS, "vllm"): NOT_READ,
    (Layout.DFLASH_SPECULATORS, "sglang"): NOT_READ,
    (Layout.DFLASH2_SPECULATORS, "sglang"): NOT_READ,
    (Layout.XPRESS_SPECULATORS, "sglang"): NOT_READ,
    (Layout.XPRESS_SPECULATORS, "vllm"): NOT_READ,
    (Layout.MTP_SPECULATORS, "sglang"): NOT_READ,
    (Layout.MTP_SPECULATORS, "vllm"): NOT_READ,
    (Layout.EAGLE3_DEEPSPEC, "sglang"): ("DFL411",),
    (Layout.EAGLE3_DEEPSPEC, "vllm"): ("DFL411",),
    (Layout.DOMINO, "sglang"): ("DFL411",),
    (Layout.DOMINO, "vllm"): ("DFL411",),
    (Layout.DFLARE, "sglang"): ("DFL411",),
    (Layout.DFLARE, "vllm"): ("DFL411",),
    # A head of rank 0 is built and nothing fills it.
    (Layout.DFLASH_DEEPSPEC, "vllm"): ("DFL525",),
    (Layout.DFLASH2_SPECULATORS, "vllm"): ("DFL414",),
    (Layout.DSPARK_MODELOPT, "vllm"): ("DFL419",),
    # SGLang's own export of a prediction layer counts it from 0.
    (Layout.MTP_NEXTN, "vllm"): ("DFL525",),
    (Layout.DFLASH_DEEPSPEC, "sglang"): ("DFL419",),
    (Layout.DSPARK_SPECULATORS, "sglang"): NOT_READ,
    (Layout.DSPARK_MODELOPT, "sglang"): ("DFL419",),
    (Layout.DRAFT_MODEL, "vllm"): ("DFL701",),
    (Layout.PARD, "sglang"): ("DFL708",),
}


@pytest.mark.parametrize("engine", ["sglang", "vllm"])
@pytest.mark.parametrize("layout", list(TARGETS), ids=str)
def test_a_sound_drafter_raises_no_alarm_and_what_is_not_planned_is_said(layout: Layout, engine: str) -> None:
    """With the flags the newest engine needs, a sound drafter beside its own target."""
    drafter, target = example(layout), published.target(TARGETS[layout])
    beside = drafter if drafter.name == target.name else target.without_weights()  # what rides inside is its target
    opened = linter.understand(checkpoint(drafter), checkpoint(beside, "target"))
    check = linter.check_pair(opened, linter.EngineChoice(name=engine), selection=Selection())
    grave = {item.code for item in check.findings if item.outcome.rank >= Outcome.SLOW.rank}
    assert grave == set(GRAVE.get((layout, engine), ())), [item.message for item in check.findings]
    if not all(plan.understood for plan in check.plans):
        assert check.verdict in {"refuses", "unknown"}
        assert [skip for skip in check.not_checked if skip.code in {"DFL009", "DFL000"}] or grave
