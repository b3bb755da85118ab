"""The stories the tool was built for: published pairs, real flags, and what each release does with them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from packaging.version import Version

import published
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.engines.plan import Plan
from drafter_lint.facts import profile
from drafter_lint.findings import Confidence, Finding, Outcome
from drafter_lint.launch import parse_command
from drafter_lint.linter import EngineChoice, Selection, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.report import Check

IDS = "eagle_aux_hidden_state_layer_ids"
EAGLE3 = ("--speculative-algorithm", "EAGLE3")
V1 = ("VLLM_USE_V2_MODEL_RUNNER=0",)
V2 = ("VLLM_USE_V2_MODEL_RUNNER=1",)


def check(
    drafter: Recipe, target: Recipe, engine: str, flags: Sequence[str] = (), environment: Sequence[str] = ()
) -> Check:
    name, _, version = engine.partition("==")
    words = _words(name, drafter.name or "./drafter", target.name or "./target", flags)
    request = parse_command((*environment, *words), engine=None)
    opened = understand(_open(drafter, role="drafter"), _open(target.without_weights(), role="target"))
    return check_pair(opened, EngineChoice(name=name, version=version, request=request), selection=Selection())


def _words(engine: str, drafter: str, target: str, flags: Sequence[str]) -> tuple[str, ...]:
    if engine == "vllm":
        config = json.dumps({"method": "eagle3", "model": drafter, "num_speculative_tokens": 3})
        return ("vllm", "serve", target, "--speculative-config", config)
    given = ("--model-path", target, "--speculative-draft-model-path", drafter, "--disable-cuda-graph")
    return ("python", "-m", "sglang.launch_server", *given, *(flags or EAGLE3))


def _open(recipe: Recipe, *, role: str) -> Checkpoint:
    name = recipe.name or f"./{role}"
    reference = Reference(spelling=name, kind="hub" if recipe.name else "local", name=name)
    return Checkpoint(reference, recipe.source(name=name), role="drafter" if role == "drafter" else "target")


def codes(found: Check, least: Outcome = Outcome.SLOW) -> set[str]:
    return {item.name for item in found.findings if item.outcome.rank >= least.rank}


def one(found: Check, name: str) -> Finding:
    (item,) = [item for item in found.findings if item.name == name]
    return item


def plan(found: Check) -> Plan:
    (made,) = found.plans
    return made


K2, K25 = published.drafter("AQ-MedAI--Kimi-K2-Instruct-eagle3"), published.target("moonshotai--Kimi-K2.5")


def test_the_founding_mistake() -> None:
    found = check(K2, K25, "sglang==0.5.10.post1", ("--speculative-algorithm", "EAGLE"))
    mistake = one(found, "eagle3-run-as-eagle")
    assert found.verdict == "silent"
    assert (mistake.code, mistake.confidence) == ("DFL401", Confidence.CERTAIN)
    assert mistake.measured["handed_over"] == 7168
    assert mistake.measured["fc_takes"] == 21504
    assert one(found, "trained-for-another-target").outcome is Outcome.SLOW


@pytest.mark.parametrize("version", [str(version) for version in profile("sglang").read])
def test_the_founding_mistake_is_never_clean(version: str) -> None:
    found = check(K2, K25, f"sglang=={version}", ("--speculative-algorithm", "EAGLE"))
    assert "eagle3-run-as-eagle" in codes(found, Outcome.SILENT)


def test_its_correction_leaves_only_what_was_trained_elsewhere() -> None:
    old = check(K2, K25, "sglang==0.5.10.post1")
    # That release adds one to every id of this target: the states are a layer late.
    assert codes(old) == {"trained-for-another-target", "aux-shifted"}
    new = check(K2, K25, "sglang==0.5.23")
    assert codes(new) == {"trained-for-another-target"}
    assert codes(check(K2, published.target("moonshotai--Kimi-K2-Instruct"), "sglang==0.5.23")) == set()


MLA = published.drafter("lightseekorg--kimi-k2.5-eagle3-mla")


def test_the_same_ids_are_a_layer_late_before_0_5_13() -> None:
    found = check(MLA, K25, "sglang==0.5.12.post1")
    assert one(found, "aux-shifted").measured["captured"] == [3, 31, 59]
    assert codes(found) == {"aux-shifted"}


@pytest.mark.parametrize(
    "version", [str(version) for version in profile("sglang").read if version >= Version("0.5.13")]
)
def test_and_right_from_0_5_13_on(version: str) -> None:
    found = check(MLA, K25, f"sglang=={version}")
    assert codes(found) == set()
    assert plan(found).capture is not None
    assert plan(found).capture.boundaries == (2, 30, 58)  # type: ignore[union-attr]


def test_ids_that_reach_the_last_layer() -> None:
    drafter, target = published.drafter("nvidia--gpt-oss-120b-Eagle3-v3"), published.target("openai--gpt-oss-120b")
    assert "aux-ignored" in codes(check(drafter, target, "vllm==0.33.0"))
    assert codes(check(drafter, target, "sglang==0.5.23")) == set()


SPECULATORS = published.drafter("made-up--gpt-oss-120b-speculator-top-level-ids")


def test_a_speculators_file_is_vllms_own() -> None:
    target = published.target("openai--gpt-oss-120b")
    assert codes(check(SPECULATORS, target, "vllm==0.33.0")) == set()
    refused = check(SPECULATORS, target, "sglang==0.5.23")
    assert refused.verdict == "refuses"
    assert "config-refused" in codes(refused)


def test_its_weights_behind_a_flat_config_lose_their_ids_in_sglang() -> None:
    assert SPECULATORS.config is not None
    nested = json.loads(SPECULATORS.config)
    layer = nested["transformer_layer_config"]
    flat = {
        **layer,
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "draft_vocab_size": nested["draft_vocab_size"],
        IDS: nested[IDS],
        "num_hidden_layers": 1,
        "tie_word_embeddings": False,
    }
    drafter = SPECULATORS.patched({"config": json.dumps(flat)})
    found = check(drafter, published.target("openai--gpt-oss-120b"), "sglang==0.5.23")
    assert one(found, "aux-ignored").measured["captured"] == [2, 18, 33]


#: What is captured, by engine, for five drafters; the expected boundaries stand in the first row. Drafter recipes:
#: DeepSeek-V3 from SpecForge [1,29,57], Kimi MLA [2,30,58], gpt-oss long context [1,17,32], gpt-oss v3 [24,30,36]
#: (all nested), speculators [3,17,31] at top level behind a flat config for SGLang.
EXPECTED = ((2, 30, 58), (2, 30, 58), (2, 18, 33), (24, 30, 36), (3, 17, 31))
DEFAULT = ((2, 30, 58), (2, 30, 58), (2, 18, 33), (2, 18, 33), (3, 17, 31))
RAW = ((1, 29, 57), (2, 30, 58), (1, 17, 32), (24, 30, 36), (3, 17, 31))
LATE = ((2, 30, 58), (3, 31, 59), (2, 18, 33), (25, 31, 37), (2, 18, 33))
MIXED = ((2, 30, 58), (2, 30, 58), (2, 18, 33), (25, 31, 37), (2, 18, 33))
RIGHT = ((2, 30, 58), (2, 30, 58), (2, 18, 33), (24, 30, 36), (2, 18, 33))
DRAFTERS = (
    ("made-up--deepseek-v3-eagle3-specforge", "deepseek-ai--DeepSeek-V3"),
    ("lightseekorg--kimi-k2.5-eagle3-mla", "moonshotai--Kimi-K2.5"),
    ("nvidia--gpt-oss-120b-Eagle3-long-context", "openai--gpt-oss-120b"),
    ("nvidia--gpt-oss-120b-Eagle3-v3", "openai--gpt-oss-120b"),
    ("made-up--gpt-oss-120b-speculator-top-level-ids", "openai--gpt-oss-120b"),
)


@pytest.mark.parametrize(
    ("engine", "environment", "asked"),
    [
        ("vllm==0.13.0", (), DEFAULT),
        ("vllm==0.21.0", (), DEFAULT),
        ("vllm==0.22.0", V1, RAW),
        ("vllm==0.33.0", V1, RAW),
        ("vllm==0.33.0", V2, DEFAULT),
        ("sglang==0.5.12.post1", (), LATE),
        ("sglang==0.5.13", (), MIXED),
        ("sglang==0.5.23", (), RIGHT),
    ],
)
def test_the_matrix(engine: str, environment: tuple[str, ...], asked: tuple[tuple[int, ...], ...]) -> None:
    for (drafter, target), boundaries, needed in zip(DRAFTERS, asked, EXPECTED, strict=True):
        recipe = published.drafter(drafter)
        if "speculator" in drafter and engine.startswith("sglang"):
            continue  # refused as it is; the flat form has a test of its own
        found = check(recipe, published.target(target), engine, environment=environment)
        capture = plan(found).capture
        if capture is None:  # this target or drafter is not served at all
            assert found.verdict == "refuses"
            continue
        assert tuple(sorted(capture.asked)) == boundaries, drafter
        spoken = {name for name in codes(found) if name.startswith("aux-") or name == "state-width"}
        assert bool(spoken) is (boundaries != needed), (drafter, spoken)


def test_one_drafter_on_five_releases_has_five_plans_where_they_differ() -> None:
    tables = {}
    for version in ("0.5.5.post3", "0.5.10.post1", "0.5.12.post1", "0.5.13", "0.5.23"):
        made = plan(
            check(
                published.drafter("nvidia--gpt-oss-120b-Eagle3-v3"),
                published.target("openai--gpt-oss-120b"),
                f"sglang=={version}",
            )
        )
        assert made.steps
        assert all(step.evidence for step in made.steps), [step.says for step in made.steps if not step.evidence]
        dropped = tuple(fate.name for fate in made.tensors if fate.fate == "dropped")
        tables[version] = (made.capture.boundaries if made.capture else (), dropped, made.fc.runs if made.fc else None)
    assert tables["0.5.5.post3"] != tables["0.5.12.post1"] != tables["0.5.23"]
    assert len(set(tables.values())) >= 3
