"""One checkpoint on one screen: what it is, what it needs, in symbols and numbers, and what it cost to find out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

import published
from command_line import SMALL, call
from drafter_lint.recipe import Recipe
from hub_pairs import COMMITS, CountingHub, run
from loopback_hub import Repo

ROOT = Path(__file__).parents[1]
SCHEMA = json.loads((ROOT / "schemas" / "inspection.schema.json").read_text("utf-8"))
KIMI = "moonshotai/Kimi-K2.5"
EAGLE3 = Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8"))


@pytest.fixture(autouse=True)
def hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)


def document(*words: str) -> dict[str, object]:
    """The JSON document of an inspection, which follows its schema."""
    code, out, err = call("inspect", *words, "--format", "json")
    assert (code, err) == (0, "")
    made = json.loads(out)
    jsonschema.validate(made, SCHEMA)
    assert isinstance(made, dict)
    return made


def screen(*words: str) -> str:
    code, out, err = call("inspect", *words)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) <= 40
    return " ".join(out.split())


def test_a_drafter_in_symbols_and_numbers() -> None:
    said = screen("fixtures/recipes/AQ-MedAI--Kimi-K25-eagle3.recipe.toml")
    for part in (
        "EAGLE-3, 1 layer, fc takes 21504 = 3 x 7168, draft vocabulary 32000 (d2t)",
        "3 auxiliary states of the target, each 7168 wide: boundaries 2/30/58 (written as inputs of layers)",
        "H 7168 (width), Ht 7168 (the target's), K 3 (states), V 163840 (vocabulary), Vd 32000 (drafted)",
        "fc.weight [H, K*Ht] = [7168, 21504]",
        "d2t, 32000 entries that lead to 32000 ids, 0 to 163834; t2d has the same ids",
        "moonshotai/Kimi-K2.5 (model card base_model)",
        "the target's embedding: the file has none",
        "sglang 0.5.23 --speculative-algorithm EAGLE3 --speculative-draft-model-path AQ-MedAI/Kimi-K25-eagle3",
        """vllm 0.33.0 vllm serve --speculative-config '{"method": "eagle3",""",
    ):
        assert part in said


def test_the_flags_are_those_a_check_without_flags_is_made_with() -> None:
    reference = "fixtures/recipes/AngelSlim--Qwen3-8B_eagle3.recipe.toml"
    wanted = document(reference)["wanted"]
    checked = call("check", reference, "-t", "fixtures/targets/Qwen--Qwen3-8B.recipe.toml", "--format", "json").out
    assert isinstance(wanted, list)
    for item, check in zip(wanted, json.loads(checked)["checks"], strict=True):
        assert (item["engine"], item["version"]) == (check["engine"]["name"], check["engine"]["version"])
        argv = [word for word in check["launch"]["argv"] if word not in {"--model-path", "Qwen/Qwen3-8B"}]
        assert item["argv"] == argv


def test_a_shape_that_does_not_fit_its_symbols_is_told(tmp_path: Path) -> None:
    folder = EAGLE3.patched({"tensors": {"lm_head.weight": "BF16 512x64"}}).write(tmp_path / "drafter")
    assert "lm_head.weight [512, 64], where [Vd, H] was to be expected" in screen(str(folder))
    parts = {part["name"]: part["fits"] for part in document(str(folder))["parts"]}  # type: ignore[attr-defined]
    assert parts == {"fc.weight": True, "lm_head.weight": False, "d2t": True, "t2d": True}


def test_a_map_that_was_never_filled_in_is_told(tmp_path: Path) -> None:
    folder = EAGLE3.patched({"tensors": {"d2t": "I64 256 = zeros"}}).write(tmp_path / "drafter")
    assert "all zero: a placeholder" in screen(str(folder))


def test_a_target_says_who_can_draft_for_it() -> None:
    said = screen("fixtures/targets/moonshotai--Kimi-K2-Instruct.recipe.toml")
    for part in (
        "what hidden 7168, 61 layers, vocabulary 163840",
        "EAGLE-3 states sglang 0.5.4.post3 to 0.5.23 vllm 0.18.1 to 0.33.0",
        "drafters for it AQ-MedAI/Kimi-K2-Instruct-eagle3",
    ):
        assert part in said
    seen = document("fixtures/targets/moonshotai--Kimi-K2-Instruct.recipe.toml")
    assert (seen["kind"], seen["wanted"], seen["symbols"]) == ("model", [], {"H": 7168, "n": 61, "V": 163840})


def test_weights_that_are_never_opened_leave_the_rest() -> None:
    said = screen("fixtures/recipes/yuhuili--EAGLE-llama2-chat-7B.recipe.toml")
    assert "weights pytorch_model.bin: never opened" in said
    assert "meta-llama/Llama-2-7b-chat-hf (the catalogue, documented:" in said
    seen = document("fixtures/recipes/yuhuili--EAGLE-llama2-chat-7B.recipe.toml")
    assert (seen["kind"], seen["parts"], seen["vocabulary_map"]) == ("drafter", [], None)


def test_of_a_target_that_cannot_be_read_the_catalogue_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    code, out, _ = call("inspect", "kimi-k2.5", "--offline")
    assert code == 3
    said = " ".join(out.split())
    assert "as a target hidden 7168, 61 layers, vocabulary 163840, says the catalogue (documented)" in said
    assert "sglang 0.5.10.post1 to 0.5.23" in said
    code, out, _ = call("inspect", "kimi-k2.5", "--offline", "--format", "json")
    seen = json.loads(out)
    jsonschema.validate(seen, SCHEMA)
    assert (code, seen["kind"], seen["target"]["standin"]) == (3, "unknown", "the catalogue (documented)")


@pytest.mark.parametrize("path", sorted(ROOT.glob("fixtures/recipes/layouts/*.toml")), ids=lambda path: path.name)
def test_every_layout_has_a_useful_answer(path: Path) -> None:
    seen = document(str(path.relative_to(ROOT)))
    assert seen["because"]
    assert seen["layout"] != "unknown"
    assert seen["symbols"]
    assert screen(str(path.relative_to(ROOT)))


def test_a_block_drafter_says_what_it_is_fed() -> None:
    said = screen("fixtures/small/dflash.recipe.toml")
    assert "3 states of the target, each 64 wide: outputs of layers [1, 3, 5] (nested) 4 tokens a block" in said
    assert "sglang 0.5.23 --speculative-algorithm DFLASH --speculative-draft-model-path example/drafter" in said
    medusa = document("fixtures/small/medusa.recipe.toml")
    assert (medusa["method"], medusa["wanted"]) == ("medusa", [])


@pytest.mark.parametrize("name", ["eagle1", "eagle3-mla", "eagle3-speculators", "target-deepseek", "target-qwen3"])
def test_every_small_checkpoint_has_a_useful_answer(name: str) -> None:
    seen = document(f"fixtures/small/{name}.recipe.toml")
    assert seen["kind"] == ("model" if "target" in name else "drafter")
    assert seen["because"]
    assert seen["symbols"]


@pytest.fixture(scope="module")
def kimi() -> Mapping[str, Repo]:
    return {KIMI: {"commit": COMMITS["target"], "files": published.target_files("moonshotai--Kimi-K2.5")}}


def test_a_full_size_target_costs_two_headers(kimi: Mapping[str, Repo]) -> None:
    """All its headers have 54 MB in 132 requests, its index alone 23.6 MB."""
    with CountingHub(kimi) as hub:
        answer = run("inspect", KIMI, "--format", "json")
        weights = [request.path for request in hub.requests if ".safetensors" in request.path]
        assert len(hub.requests) <= 14
        assert hub.sent.bytes <= 4_000_000
    assert answer.code == 0
    seen = json.loads(answer.out)
    assert (seen["name"], seen["kind"], seen["weights"]["files"]) == (KIMI, "model", 64)
    assert seen["target"]["text_config"] == "/text_config"
    assert {path.partition("?")[0].rpartition("/")[2] for path in weights} == set(seen["weights"]["sampled"])
    assert len(seen["weights"]["sampled"]) == 2
