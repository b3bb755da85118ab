"""Two checkpoints side by side: what is told first, in which group, and that nothing is told that does not differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

import published
from command_line import SMALL, call
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.comparing import Comparison, Difference, Group, compare, knowledge
from drafter_lint.comparing.fields import fields
from drafter_lint.comparing.model import Of
from drafter_lint.comparing.tensors import named
from drafter_lint.facts import profile
from drafter_lint.looking import look
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
#: As typed in the root of the repository: a longer path would break where it cannot be broken.
K2, K25 = (f"fixtures/targets/moonshotai--{name}.recipe.toml" for name in ("Kimi-K2-Instruct", "Kimi-K2.5"))
WITH_HEAD = "fixtures/recipes/lightseekorg--kimi-k2.5-eagle3.recipe.toml"
WITHOUT_HEAD = "fixtures/recipes/nvidia--Kimi-K2.6-Eagle3.recipe.toml"
EAGLE3 = Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8"))
TARGET = Recipe.parse((SMALL / "target-llama.recipe.toml").read_text("utf-8"))


def opened(recipe: Recipe) -> Checkpoint:
    name = recipe.name or "made"
    return Checkpoint(Reference(spelling=name, kind="local", name=name), recipe.source(), role="drafter")


def compared(one: Recipe, other: Recipe) -> Comparison:
    return compare(look(opened(one)), look(opened(other)))


def patched(patch: Mapping[str, object], recipe: Recipe = EAGLE3) -> Comparison:
    """A checkpoint against itself with a change."""
    return compared(recipe, recipe.patched(patch))


def configured(**values: object) -> dict[str, object]:
    """A patch that sets fields of config.json."""
    return {"set": {f"/{name}": "json:null" if value is None else value for name, value in values.items()}}


def told(found: Comparison) -> dict[str, tuple[Group, str, str]]:
    return {item.name: (item.group, item.a.text, item.b.text) for item in found.differences}


def only(found: Comparison) -> Difference:
    (item,) = found.differences
    return item


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)


# The first screen.


def first_screen(*words: str) -> str:
    code, out, err = call("compare", *words)
    assert (code, err) == (0, "")
    lines = out.splitlines()[:24]
    assert all(len(line) <= 80 for line in lines)
    return "\n".join(lines)


def test_two_targets_of_equal_widths_are_told_apart_on_the_first_screen() -> None:
    screen = first_screen(K2, K25)
    assert "the same in all that a drafter's shapes depend on" in screen
    assert "decides whether it runs\n  architectures\n    A DeepseekV3ForCausalLM\n    B KimiK25For" in screen
    assert "sglang: A 0.5.4.post3 to 0.5.23; B 0.5.10.post1 to 0.5.23" in screen
    assert "max_position_embeddings  A 131072   B 262144" in screen


def test_a_drafter_without_a_head_is_told_on_the_first_screen() -> None:
    screen = first_screen(WITH_HEAD, WITHOUT_HEAD)
    assert "decides whether it runs\n  lm_head.weight      A BF16 [163840, 7168]   B not in the file\n" in screen
    flat = " ".join(screen.split())
    assert "vllm 0.8.5 to 0.10.2: EAGLE-3 keeps a head that nothing filled; 0.11.2 to 0.33.0: the target's head" in flat


def test_order_of_the_two_only_changes_sides() -> None:
    one = compared(EAGLE3, EAGLE3.patched(configured(norm_before_fc=True)))
    other = compared(EAGLE3.patched(configured(norm_before_fc=True)), EAGLE3)
    assert [(item.name, item.a.text, item.b.text) for item in one.differences] == [
        (item.name, item.b.text, item.a.text) for item in other.differences
    ]


# What differs, and in which group.


def test_nothing_differs_from_itself() -> None:
    for recipe in (EAGLE3, TARGET):
        found = compared(recipe, recipe)
        assert found.differences == ()
        assert found.not_compared == ()
        assert found.same_tensors == len(recipe.table())
        assert not found.matters


@pytest.mark.parametrize(
    ("patch", "name", "group", "sides"),
    [
        (configured(max_position_embeddings=64), "max_position_embeddings", Group.DECIDES, ("512", "64")),
        (configured(norm_before_residual=True), "norm_before_residual", Group.CHANGES, ("–", "true")),
        (configured(something_new=[1, 2]), "something_new", Group.UNKNOWN, ("–", "[1, 2]")),
        (configured(use_cache=False), "use_cache", Group.NOTHING, ("–", "false")),
        (configured(norm_output=False), "norm_output", Group.NOTHING, ("–", "false")),
        (configured(anything=None), "anything", Group.NOTHING, ("–", "null")),
        (configured(eagle_config=None), "eagle_config", Group.DECIDES, ("–", "null")),
        ({"drop": ["lm_head.weight"]}, "lm_head.weight", Group.DECIDES, ("BF16 [256, 64]", "not in the file")),
    ],
)
def test_one_change_is_one_difference_in_its_group(
    patch: dict[str, object], name: str, group: Group, sides: tuple[str, str]
) -> None:
    assert told(patched(patch))[name] == (group, *sides)


def test_a_difference_that_rests_on_engines_names_their_releases() -> None:
    item = next(item for item in patched({"drop": ["lm_head.weight"]}).differences if item.kind == "tensor")
    assert [said.partition(" ")[0] for said in item.says] == ["sglang", "sglang", "vllm"]
    cited = {(row.engine, row.version, row.symbol) for row in item.evidence}
    assert ("vllm", "0.8.5 to 0.10.2", "EagleProposer.load_model") in cited


def test_spellings_of_one_thing_are_one_field() -> None:
    one = TARGET.patched(configured(torch_dtype="bfloat16"))
    other = TARGET.patched(configured(dtype="bfloat16"))
    assert told(compared(one, other)) == {}
    scaled = TARGET.patched(configured(rope_theta=1e6, rope_scaling={"type": "yarn", "factor": 2.0}))
    newer = configured(rope_parameters={"rope_theta": 1000000, "rope_type": "yarn", "factor": 2})
    assert told(compared(scaled, TARGET.patched({**newer, "remove": ["/rope_theta"]}))) == {}


def test_a_nested_text_model_is_compared_with_a_plain_one() -> None:
    inner = {**TARGET.settings, "architectures": ["Inner"]}
    wrapper = TARGET.patched({"config": json.dumps({"architectures": ["Outer"], "text_config": inner})})
    found = told(compared(TARGET, wrapper))
    assert "hidden_size" not in found
    assert found["architectures"] == (Group.DECIDES, "LlamaForCausalLM", "Outer")


def test_maps_are_compared_by_what_they_draft() -> None:
    reduced = published.drafter("AQ-MedAI--Kimi-K25-eagle3")
    line = reduced.tensors["model.safetensors"]["d2t"]
    moved = reduced.patched({"tensors": {"d2t": line.replace("163584", "163583")}})
    found = told(compared(reduced, moved))
    assert set(found) == {"d2t"}
    item = only(compared(reduced, moved))
    assert item.group is Group.CHANGES
    assert "32000 entries lead elsewhere; 31999 ids are drafted by both, 1 by A alone, 1 by B alone" in item.says[0]


def test_layer_ids_are_compared_as_boundaries_where_the_targets_depth_is_known() -> None:
    one = published.drafter("AQ-MedAI--Kimi-K25-eagle3")
    ids = "eagle_aux_hidden_state_layer_ids"
    same = compared(one, one.patched(configured(eagle_config={ids: [1, 29, 57]})))
    assert "boundaries" not in told(same)
    assert f"eagle_config.{ids}" in told(same)
    other = compared(one, one.patched(configured(eagle_config={ids: [3, 31, 61]})))
    assert told(other)["boundaries"][1:] == (
        "2/30/58 (written as inputs of layers)",
        "3/31/61 (written as inputs of layers)",
    )
    assert f"eagle_config.{ids}" not in told(other)


def test_whom_they_were_trained_for_comes_before_other_changes() -> None:
    found = compared(
        published.drafter("AQ-MedAI--Kimi-K2-Instruct-eagle3"), published.drafter("AQ-MedAI--Kimi-K25-eagle3")
    )
    first = found.group(Group.CHANGES)[0]
    assert first.name == "trained for"
    assert first.a.text == "moonshotai/Kimi-K2-Instruct (model card base_model)"
    assert "shapes do not say which of them belongs to a target" in found.conclusion


def test_targets_of_other_widths_do_not_take_each_others_drafters() -> None:
    wider = TARGET.patched(configured(hidden_size=128))
    assert compared(TARGET, wider).conclusion.startswith("a drafter of the one does not fit the other: hidden size")


def test_a_model_beside_a_drafter() -> None:
    found = compared(TARGET, EAGLE3)
    assert found.of == "drafter"
    assert found.not_compared == ("A is a whole model and B a drafter: each field is told as a drafter's",)


# Exit codes and documents.


def test_differences_are_no_failure_unless_that_is_asked_for(tmp_path: Path) -> None:
    one, other = EAGLE3.write(tmp_path / "a"), EAGLE3.patched(configured(use_cache=False)).write(tmp_path / "b")
    far = EAGLE3.patched(configured(norm_output=True)).write(tmp_path / "c")
    assert call("compare", str(one), str(far)).code == 0
    assert call("compare", str(one), str(far), "--exit-code").code == 1
    assert call("compare", str(one), str(other), "--exit-code").code == 0
    assert call("compare", str(one), str(one), "--exit-code").code == 0


def test_what_could_not_be_read_is_named_and_is_exit_3(tmp_path: Path) -> None:
    one = EAGLE3.write(tmp_path / "a")
    other = EAGLE3.patched({"drop_files": ["model.safetensors"], "opaque": {"pytorch_model.bin": 10}})
    code, out, _ = call("compare", str(one), str(other.write(tmp_path / "b")))
    assert code == 3
    assert "its only weights are pytorch_model.bin" in " ".join(out.split())
    assert call("compare", str(one), str(tmp_path / "nowhere")).code == 3
    assert call("compare", str(one), "").code == 2


def test_the_document_follows_its_schema() -> None:
    schema = json.loads((ROOT / "schemas" / "comparison.schema.json").read_text("utf-8"))
    code, out, _ = call("compare", WITH_HEAD, WITHOUT_HEAD, "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, schema)
    assert (code, document["schema"], document["compared_as"]) == (0, 1, "drafter")
    head = next(item for item in document["differences"] if item["name"] == "lm_head.weight")
    assert head["group"] == "decides"
    assert head["a"]["at"]["tensor"] == "lm_head.weight"
    assert head["b"]["at"] is None
    assert {row["engine"] for row in head["evidence"]} == {"sglang", "vllm"}


def test_verbose_cites_and_quiet_leaves_out_the_head() -> None:
    assert (
        "v1/spec_decode/eagle.py, EagleProposer.load_model (read)" in call("compare", WITH_HEAD, WITHOUT_HEAD, "-v").out
    )
    assert call("compare", WITH_HEAD, WITHOUT_HEAD, "-q").out.startswith("\ndecides whether it runs\n")


# What is known.


def test_every_engine_fact_a_difference_rests_on_has_words_for_each_of_its_values() -> None:
    resting = [fact for item in knowledge.everything() for fact in item.facts]
    assert len(resting) > 20
    for fact in resting:
        assert {knowledge.word(row.value) for row in profile(fact.engine).observations[fact.key]} == set(fact.says)
        assert fact.spoken().startswith(f"{fact.engine} ")


def test_everything_known_is_well_formed() -> None:
    for item in knowledge.everything():
        assert item.of in {None, "drafter", "target"}
        assert item.kind in {"meaning", "field", "tensor"}
        assert item.group is not Group.UNKNOWN
        assert item.why[0].islower() or item.why.startswith(("H:", "Ht:", "V:", "Vd:", "n:", "K", "vLLM"))
        assert not item.why.endswith(".")
        assert item.names


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("recipes/**/*.toml")), ids=lambda path: path.name)
def test_every_field_and_tensor_of_a_published_drafter_is_known(path: Path) -> None:
    seen = look(opened(Recipe.parse(path.read_text("utf-8"))))
    of: Of = "target" if seen.is_model else "drafter"
    assert [name for name in fields(seen, of) if not knowledge.find(of, "field", name)] == []
    tensors = named(seen, of) if seen.tensors else {}
    assert [name for name in tensors if not knowledge.find(of, "tensor", name)] == []


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("targets/*.toml")), ids=lambda path: path.name)
def test_every_field_of_a_published_target_is_known(path: Path) -> None:
    seen = look(opened(Recipe.parse(path.read_text("utf-8")).without_weights()))
    assert [name for name in fields(seen, "target") if not knowledge.find("target", "field", name)] == []
