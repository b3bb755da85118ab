"""Rules that no engine has a say in: access, the drafter's files, the pair, the vocabulary, and provenance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Eagle
from drafter_lint.drafters.recognise import recognise
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Confidence, Finding, Outcome, Role, Skip
from drafter_lint.linter import Selection, judge, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.rules import all_rules
from drafter_lint.rules.files.core import missing_core, told_as_missing
from drafter_lint.scope import Reading
from drafter_lint.sources.memory import MemorySource
from published import FIXTURES, Pair, drafter, pairs, target

SMALL = Recipe.parse((FIXTURES / "small" / "eagle3-llama.recipe.toml").read_text(encoding="utf-8"))
TARGET = Recipe.parse((FIXTURES / "small" / "target-llama.recipe.toml").read_text(encoding="utf-8"))
HIDDEN = Selection(min_confidence=Confidence.POSSIBLE)


def checkpoint(source: Recipe, role: Role = "drafter") -> Checkpoint:
    """A recipe as a checkpoint in memory."""
    return Checkpoint(Reference(spelling=source.name, kind="hub", name=source.name), source.source(), role=role)


def results(drafter_files: Checkpoint, target_files: Checkpoint | None = None) -> Sequence[Finding | Skip]:
    """Everything said without an engine."""
    return linter._files(understand(drafter_files, target_files), HIDDEN).results


def eagle(source: Recipe) -> Eagle:
    """The drafter a recipe is."""
    found = recognise(checkpoint(source)).drafter
    assert isinstance(found, Eagle)
    return found


@pytest.mark.parametrize("trouble", list(Trouble))
@pytest.mark.parametrize("what", ["lab/drafter: config.json", "lab/drafter: model.safetensors", "lab/drafter"])
def test_one_rule_speaks_of_a_trouble(trouble: Trouble, what: str) -> None:
    """No trouble is mute and none is told twice; what keeps the verdict open is needed."""
    reading = Reading(
        checkpoint=Checkpoint(
            Reference(spelling="lab/drafter", kind="hub", name="lab/drafter"),
            MemorySource("lab/drafter", {}),
            role="drafter",
        ),
        trouble=Unavailable(trouble, what, "was seen", hint="try this"),
    )
    (said,) = judge(reading, HIDDEN).results
    text = said.reason if isinstance(said, Skip) else said.message
    assert "was seen" in text
    assert said.needed if isinstance(said, Skip) else said.outcome is Outcome.REFUSES


def test_a_trouble_inside_a_map_is_no_refusal() -> None:
    """A map of broken floats loads."""
    broken = Unavailable(Trouble.MALFORMED, "lab/d: model.safetensors: d2t", "[3] = 1.5 is no integer (dtype F32)")
    (said,) = judge(Reading(checkpoint=checkpoint(SMALL), trouble=broken), HIDDEN).results
    assert isinstance(said, Finding)
    assert said.outcome is Outcome.SILENT
    assert (said.locations[0].file, said.locations[0].tensor) == ("model.safetensors", "d2t")


@pytest.mark.parametrize("pair", pairs(), ids=lambda pair: f"{pair.drafter} on {pair.target}")
def test_published_pairs(pair: Pair) -> None:
    """A right pair is not complained of; of a wrong one something is said that explains it, whatever the engine."""
    said = results(checkpoint(drafter(pair.drafter)), checkpoint(target(pair.target).without_weights(), "target"))
    grave = [
        f"{item.code} {item.outcome} {item.message}"
        for item in said
        if isinstance(item, Finding)
        and item.outcome.rank >= Outcome.SLOW.rank
        and item.confidence is not Confidence.POSSIBLE
    ]
    assert bool(grave) == bool(pair.wrong), grave


def test_evidence_names_files_inside_the_engine() -> None:
    """Paths start inside the package, and a version is given."""
    said = [
        item
        for change in ({"drop": ["fc.weight"]}, {"drop": ["d2t", "t2d"]}, {"set": {"/draft_vocab_size": 300}})
        for item in results(checkpoint(SMALL.patched(change)))
        if isinstance(item, Finding)
    ]
    evidence = [item for finding in said for item in finding.evidence]
    assert evidence
    assert all(item.version[0].isdigit() and item.file.startswith(("srt/", "model_executor/")) for item in evidence)


class TestMissingTensors:
    """What a drafter cannot do without."""

    def test_quantised_names_count(self) -> None:
        """weight_packed and its scales stand in for weight."""
        quantised = SMALL.patched(
            {
                "drop": ["midlayer.mlp.down_proj.weight"],
                "tensors": {"midlayer.mlp.down_proj.weight_packed": "I32 64x16"},
            }
        )
        assert missing_core(eagle(quantised)) == ()

    def test_a_mixture_of_experts_has_no_mlp_of_its_own(self) -> None:
        """Experts stand in for it."""
        experts = SMALL.patched(
            {
                "drop": ["midlayer.mlp.*"],
                "tensors": {f"midlayer.mlp.experts.0.{part}_proj.weight": "BF16 64x64" for part in ("up", "down")},
            }
        )
        assert missing_core(eagle(experts)) == ()

    def test_latent_attention_has_other_parts(self) -> None:
        """q_b_proj and kv_b_proj stand in for q, k and v."""
        latent = Recipe.parse((FIXTURES / "small" / "eagle3-mla.recipe.toml").read_text(encoding="utf-8"))
        assert missing_core(eagle(latent)) == ()
        assert missing_core(eagle(latent.patched({"drop": ["midlayer.self_attn.kv_b_proj.weight"]})))

    def test_fc_is_not_missed_where_it_is_switched_off(self) -> None:
        """use_aux_hidden_state false: nothing to join."""
        off = SMALL.patched({"set": {"/eagle_config": {"use_aux_hidden_state": False}}, "drop": ["fc.weight"]})
        assert missing_core(eagle(off)) == ()
        assert missing_core(eagle(off.patched({"drop": ["midlayer.hidden_norm.weight"]}))) == ()

    def test_norms_are_not_missed_where_the_exporter_switched_them_off(self) -> None:
        """Model-Optimizer writes the switches beside the weights."""
        switches = {"use_input_layernorm_in_first_layer": False, "use_last_layernorm": False}
        bare = SMALL.patched({"drop": ["midlayer.input_layernorm.weight", "norm.weight"]})
        assert missing_core(eagle(bare)) == ("layers.0.input_layernorm.weight", "norm.weight")
        assert missing_core(eagle(bare.patched({"set": {"/eagle_config": switches}}))) == ()

    @pytest.mark.parametrize(
        ("dropped", "parameter"),
        [
            ("fc.weight", "model.fc.weight"),
            ("midlayer.self_attn.q_proj.weight", "model.layers.0.self_attn.qkv_proj.weight"),
            ("midlayer.mlp.up_proj.weight", "model.midlayer.mlp.gate_up_proj.weight"),
            ("norm.weight", "model.norm.weight"),
        ],
    )
    def test_the_engines_parameter_behind_it(self, dropped: str, parameter: str) -> None:
        """So that an unfilled parameter is not told a second time."""
        assert told_as_missing(eagle(SMALL.patched({"drop": [dropped]})), parameter)
        assert not told_as_missing(eagle(SMALL), parameter)
        assert not told_as_missing(eagle(SMALL.patched({"drop": [dropped]})), "model.layers.1.mlp.down_proj.weight")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 300) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
FIELDS = [
    "architectures", "auto_map", "draft_vocab_size", "eagle_aux_hidden_state_layer_ids", "eagle_config", "head_dim",
    "hidden_size", "intermediate_size", "max_position_embeddings", "model_type", "num_attention_heads",
    "num_hidden_layers", "num_key_value_heads", "rms_norm_eps", "speculators_config", "target_hidden_size",
    "tie_word_embeddings", "transformer_layer_config", "vocab_size", "_name_or_path",
]  # fmt: skip
SHAPES = st.lists(st.sampled_from([0, 1, 7, 64, 128, 192, 256, 512]), max_size=3)


@given(
    ours=st.dictionaries(st.sampled_from(FIELDS), JUNK, max_size=4),
    theirs=st.dictionaries(st.sampled_from(FIELDS), JUNK, max_size=3),
    shapes=st.dictionaries(st.sampled_from(sorted(SMALL.table())), SHAPES, max_size=4),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_rule_stumbles_over_what_files_say(
    ours: dict[str, Any], theirs: dict[str, Any], shapes: dict[str, list[int]]
) -> None:
    """Any value under any key, any shape under any name: something is said, nothing is raised."""
    tensors = {
        name: f"{SMALL.table()[name].dtype} {'x'.join(map(str, shape)) or 'scalar'}" for name, shape in shapes.items()
    }
    change = {"config": json.dumps(SMALL.settings | ours), "tensors": tensors}
    other = {"config": json.dumps(TARGET.settings | theirs)}
    said = results(checkpoint(SMALL.patched(change)), checkpoint(TARGET.patched(other).without_weights(), "target"))
    assert all(item.code[:3] == "DFL" for item in said)


def test_pages_say_what_they_must() -> None:
    """Every page of these families has its four sections and a title that ends in a full stop."""
    for rule in all_rules():
        if rule.family not in "01238":
            continue
        sections = [line for line in rule.page.splitlines() if line.startswith("## ")]
        assert sections == ["## What it checks", "## Why it bites", "## Fix", "## Limits"], rule.code
        assert rule.page.splitlines()[0].endswith("."), rule.code
