"""Properties of recognition: it never fails, and a damaged drafter is never a sound drafter of another kind."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import census_entries as census
import layout_tensors as made
from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Unsupported
from drafter_lint.drafters.recognise import recognise
from drafter_lint.findings import Confidence, Finding
from drafter_lint.linter import Selection, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(
    {
        name
        for layout, generate in census.GENERATORS.items()
        for name, _ in generate({"num_hidden_layers": 2}, made.sizes({"num_hidden_layers": 2}, states=3))
        if layout
    }
)
PREFIXES = ("", "model.", "module._orig_mod.", "language_model.model.", "midlayer.", "mtp.", "speculator.")
SHAPES = ("BF16 64x192", "BF16 64x128", "BF16 64", "F32 0", "I64 8", "BF16 2x3x4", "F8_E4M3 8x8", "BF16 64x64")
ARCHITECTURES = (
    "LlamaForCausalLM", "LlamaForCausalLMEagle", "LlamaForCausalLMEagle3", "Qwen3Eagle3Model", "DFlashDraftModel",
    "Qwen3DSparkModel", "DominoDraftModel", "DeepseekV3ForCausalLMNextN", "MedusaModel", "MLPSpeculatorPreTrainedModel",
    "Gemma4AssistantForCausalLM", "Eagle3Speculator", "",
)  # fmt: skip
#: Values a config may hold anywhere, sensible or not.
SCALARS = st.none() | st.booleans() | st.integers(-4, 1 << 70) | st.floats() | st.text(max_size=6)
VALUES = st.recursive(
    SCALARS | st.sampled_from((*ARCHITECTURES, "eagle3", "dflash", "mtp", "pard", "medusa", "kimi_k2")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = (
    "architectures", "model_type", "hidden_size", "num_hidden_layers", "vocab_size", "draft_vocab_size", "eagle_config",
    "dflash_config", "dspark_config", "speculators_model_type", "speculators_version", "transformer_layer_config",
    "eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids", "target_layer_ids", "block_size", "markov_rank",
    "num_nextn_predict_layers", "text_config", "medusa_num_heads", "n_predict", "emb_dim", "spd_type", "pard_token",
    "kv_lora_rank", "backbone_hidden_size", "mask_token_id", "intermediate_size", "num_attention_heads", "bias",
)  # fmt: skip
TENSOR_NAMES = st.builds(
    lambda prefix, name, number: prefix + name.replace(".0.", f".{number}."),
    st.sampled_from(PREFIXES),
    st.sampled_from(NAMES) | st.text(st.characters(codec="ascii", categories=("L", "N", "P")), min_size=1, max_size=12),
    st.sampled_from(("0", "1", "61", "9" * 40)),
)


def files(recipe: Recipe) -> Checkpoint:
    """A checkpoint in memory."""
    return Checkpoint(Reference(spelling="x", kind="local", name="x"), recipe.source(), role="drafter")


@given(
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8),
    st.dictionaries(TENSOR_NAMES, st.sampled_from(SHAPES), max_size=8),
    st.sampled_from(((), ("pytorch_model.bin",), ("freq_32.pt",), ("a.gguf",), ("adapter_config.json",))),
)
@settings(max_examples=150, deadline=None)
def test_recognition_is_total(config: dict[str, Any], tensors: dict[str, str], others: tuple[str, ...]) -> None:
    """Whatever stands in the files, recognition returns, and every rule on the files runs to its end."""
    recipe = Recipe(
        config=json.dumps(config),
        tensors={"model.safetensors": tensors} if tensors else {},
        opaque=dict.fromkeys(others, 4096),
    )
    opened = understand(files(recipe), None)
    assert opened.recognition.drafter.title
    assert all(match.reasons for match in opened.recognition.matches)
    linter.check_alone(opened, selection=Selection())


@cache
def sound() -> tuple[tuple[str, Recipe], ...]:
    """Every small drafter: nothing is the matter with any of them."""
    paths = sorted((FIXTURES / "small").glob("*.recipe.toml"))
    return tuple(
        (path.name, Recipe.parse(path.read_text("utf-8"))) for path in paths if not path.name.startswith("target")
    )


def said(recipe: Recipe) -> list[Finding]:
    """Everything the rules on a drafter's files find, however unsure."""
    check = linter.check_alone(understand(files(recipe), None), selection=Selection(min_confidence=Confidence.POSSIBLE))
    return list(check.findings)


def test_the_small_drafters_are_sound() -> None:
    assert len(sound()) >= 10
    for name, recipe in sound():
        assert not said(recipe), name


@st.composite
def damages(draw: st.DrawFn) -> tuple[str, Recipe, dict[str, object]]:
    """A sound drafter and one thing to do to it."""
    name, recipe = draw(st.sampled_from(sound()))
    tensors = sorted(recipe.table())
    tensor = draw(st.sampled_from(tensors))
    key = draw(st.sampled_from(sorted(recipe.settings)))
    patch: dict[str, object] = draw(
        st.sampled_from(
            (
                {"drop": [tensor]},
                {"rename": {tensor: f"x.{tensor}"}},
                {"remove": [f"/{key}"]},
                {"set": {f"/{key}": "json:null"}},
                {"set": {"/architectures": [draw(st.sampled_from(ARCHITECTURES))]}},
                {"set": {"/speculators_model_type": draw(st.sampled_from(("eagle3", "dflash", "dspark", "mtp")))}},
            )
        )
    )
    return name, recipe, patch


@given(damages())
@settings(max_examples=150, deadline=None)
def test_one_damage_makes_no_other_sound_drafter(damage: tuple[str, Recipe, dict[str, object]]) -> None:
    """It is still what it was, or it is not understood, or something is said."""
    _, recipe, patch = damage
    before, after = recognise(files(recipe)), recognise(files(recipe.patched(patch)))
    same = type(before.drafter) is type(after.drafter) and census.said(before.drafter) == census.said(after.drafter)
    if not same and not isinstance(after.drafter, Unsupported):
        assert after.conflicts or said(recipe.patched(patch))
