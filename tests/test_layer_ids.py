"""Auxiliary layer ids: which boundaries a list means, and when that cannot be told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import AuxNeed, Dialect, Eagle, Trained, aux_need, default_boundaries
from drafter_lint.drafters.recognise import recognise
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference

EAGLE3 = {
    "model.safetensors": {
        "fc.weight": "BF16 64x192",
        "midlayer.hidden_norm.weight": "BF16 64",
        "midlayer.self_attn.q_proj.weight": "BF16 64x128",
    }
}


def eagle(**fields: object) -> Eagle:
    config = {"architectures": ["LlamaForCausalLMEagle3"], "hidden_size": 64, **fields}
    recipe = Recipe(config=json.dumps(config), tensors=EAGLE3)
    checkpoint = Checkpoint(Reference(spelling="x", kind="local", name="x"), recipe.source(), role="drafter")
    drafter = recognise(checkpoint).drafter
    assert isinstance(drafter, Eagle)
    return drafter


def need(layers: int, *, top: list[int] | None = None, nested: list[int] | None = None, **fields: object) -> AuxNeed:
    ids = "eagle_aux_hidden_state_layer_ids"
    if top is not None:
        fields[ids] = top
    if nested is not None:
        fields["eagle_config"] = {ids: nested}
    return aux_need(eagle(**fields), layers)


def test_the_default_is_the_same_three_states_in_both_dialects() -> None:
    assert default_boundaries(61) == (2, 30, 58)
    assert default_boundaries(32) == (2, 16, 29)


@pytest.mark.parametrize(
    ("layers", "ids", "dialect", "boundaries"),
    [
        (61, [2, 30, 58], Dialect.BOUNDARY, (2, 30, 58)),
        (61, [1, 29, 57], Dialect.OUTPUT, (2, 30, 58)),
        (61, [57, 1, 29], Dialect.OUTPUT, (2, 30, 58)),
        (36, [24, 30, 36], Dialect.BOUNDARY, (24, 30, 36)),
        (36, [1, 17, 32], Dialect.OUTPUT, (2, 18, 33)),
    ],
)
def test_lists_that_can_be_decided(layers: int, ids: list[int], dialect: Dialect, boundaries: tuple[int, ...]) -> None:
    found = need(layers, nested=ids)
    assert (found.dialect, found.boundaries) == (dialect, boundaries)


def test_a_list_that_fits_neither_default_stays_ambiguous() -> None:
    found = need(43, nested=[1, 21, 40])
    assert found.dialect is Dialect.AMBIGUOUS
    assert found.boundaries is None
    assert found.readings == ((1, 21, 40), (2, 22, 41))


def test_no_list_means_the_default_but_is_not_certain() -> None:
    found = need(61)
    assert found.boundaries == (2, 30, 58)
    assert found.dialect is Dialect.DEFAULT
    assert found.confidence.value == "likely"


def test_an_empty_list_is_no_list() -> None:
    assert need(61, nested=[]).dialect is Dialect.DEFAULT


def test_speculators_count_inputs() -> None:
    found = need(36, top=[3, 17, 31], speculators_model_type="eagle3", transformer_layer_config={"hidden_size": 64})
    assert (found.dialect, found.boundaries) == (Dialect.BOUNDARY, (3, 17, 31))


def test_speculators_with_the_output_default_contradict_themselves() -> None:
    found = need(94, top=[1, 46, 90], speculators_model_type="eagle3", transformer_layer_config={"hidden_size": 64})
    assert found.boundaries is None


def test_both_places_one_apart_explain_each_other() -> None:
    found = need(36, top=[24, 30, 35], nested=[23, 29, 34])
    assert (found.dialect, found.boundaries) == (Dialect.BOUNDARY, (24, 30, 35))


def test_what_the_user_says_wins() -> None:
    drafter = eagle(eagle_config={"eagle_aux_hidden_state_layer_ids": [1, 3, 6]})
    told = replace(drafter, trained=Trained(boundaries=(2, 4, 7)))
    assert aux_need(told, 8).boundaries == (2, 4, 7)
    assert aux_need(told, 8).dialect is Dialect.DECLARED
