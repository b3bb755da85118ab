"""The census: every published drafter and trainer template is what its authors call it, in its own layout."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

import census_entries as census
from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import BlockDrafter, Drafter, Eagle, Layout, Unsupported
from drafter_lint.linter import Selection
from drafter_lint.reference import Reference

ENTRIES = census.entries()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_it_is_what_its_authors_call_it(entry: census.Entry) -> None:
    found = entry.recognition
    assert (census.said(found.drafter), found.drafter.layout) == (entry.method, entry.layout)
    assert bool(found.conflicts) is entry.conflict
    assert found.matches[0].reasons


def test_the_census_is_whole() -> None:
    """136 templates of four trainers, and every drafter of which more than a name is public."""
    names = [entry.name for entry in ENTRIES]
    assert len(set(names)) == len(names)
    trainers = Counter("/".join(entry.name.split("/")[:2]) for entry in ENTRIES if entry.name.count("/") > 1)
    assert trainers == {
        "sgl-project/SpecForge": 95,
        "Tencent/AngelSlim": 25,
        "SafeAILab/EAGLE": 10,
        "lightseekorg/TorchSpec": 6,
    }
    assert len(ENTRIES) - trainers.total() == 70


def _read(drafter: Drafter) -> dict[str, object]:
    return {
        "hidden_size": drafter.hidden_size,
        "vocab_size": drafter.vocab_size,
        "num_hidden_layers": drafter.num_layers,
    }


@pytest.mark.parametrize(
    "entry",
    [entry for entry in ENTRIES if entry.config and entry.layout not in (Layout.MEDUSA_VLLM, Layout.OTHER)],
    ids=lambda entry: entry.name,
)
def test_needs_are_read_from_the_config(entry: census.Entry) -> None:
    """Every size the config declares is a need of the typed drafter, with its place."""
    drafter = entry.recognition.drafter
    assert not isinstance(drafter, Unsupported)
    nested = next((entry.settings[key] for key in ("transformer_layer_config", "model") if key in entry.settings), None)
    declared = nested if isinstance(nested, dict) else entry.settings
    for key, located in _read(drafter).items():
        if key not in declared or (key == "num_hidden_layers" and drafter.layout.family == "mtp"):
            continue
        assert getattr(located, "value", None) == declared[key]
        assert getattr(located, "at").pointer.endswith(f"/{key}")  # noqa: B009 - the located type differs by entry


def test_captured_states_fit_the_projection() -> None:
    """The number of states is the projection's width over the state's, in every EAGLE-3 and block drafter."""
    counted = 0
    for entry in ENTRIES:
        drafter = entry.recognition.drafter
        if not isinstance(drafter, (BlockDrafter, Eagle)) or drafter.fc is None or not drafter.hidden_size:
            continue
        counted += 1
        written = [ids.ids.value for ids in drafter.layer_ids]
        if isinstance(drafter, Eagle) and drafter.generation == 1:
            assert drafter.states == 1
        else:
            assert drafter.states == (len(written[0]) if written else drafter.states)
            assert drafter.states
    assert counted == 148


def test_configs_are_json_objects() -> None:
    assert all(isinstance(json.loads(entry.config), dict) for entry in ENTRIES if entry.config)


#: What is the matter with published configurations, by their trainers' and users' own word (see fixtures/variants).
FLAWS = {
    "yuhuili/EAGLE3-Vicuna1.3-13B": {"DFL110"},
    "Tencent/AngelSlim/angelslim/compressor/speculative/train/configs/cosyvoice3-llm-eagle3.json": {"DFL110"},
    "sgl-project/SpecForge/configs/glm4-flash-eagle3.json": {"DFL116"},
    "sgl-project/SpecForge/configs/qwen2.5-7b-eagle3.json": {"DFL116"},
    "sgl-project/SpecForge/configs/kimi-k2-eagle3.json": {"DFL106"},
    "sgl-project/SpecForge/configs/qwen3-8b-edsd.json": {"DFL010"},
    # Templates that leave the layers to the trainer, which chooses them before it trains.
    "lightseekorg/TorchSpec/torchspec/config/dflash_draft_config.json": {"DFL212"},
    "sgl-project/SpecForge/configs/deepseek-v2-lite-dflash-baseline.json": {"DFL212"},
    "sgl-project/SpecForge/configs/deepseek-v2-lite-dflash.json": {"DFL212"},
}
#: Fields whose absence means nothing here: only documented values stand in the census.
ABSENT = {"DFL005", "DFL114"}


def test_nothing_but_known_flaws_is_found() -> None:
    """The rules on a drafter's files, over everything published."""
    found: dict[str, set[str]] = {}
    for entry in ENTRIES:
        reference = Reference(spelling=entry.name, kind="hub", name=entry.name)
        # The vocabulary maps are made up: there is nothing to learn from them, and they take long to write out.
        tables = {
            file: {name: line for name, line in lines.items() if name not in {"d2t", "t2d"}}
            for file, lines in entry.recipe.tensors.items()
        }
        files = Checkpoint(reference, replace(entry.recipe, tensors=tables).source(), role="drafter")
        check = linter.check_alone(linter.understand(files, None), selection=Selection(ignore=("DFL3",)))
        told = {item.code for item in check.findings} - ABSENT
        masked = "mask_token" in (entry.config or "") or "pard_token" in (entry.config or "")
        found[entry.name] = told if masked else told - {"DFL115"}
    null = found.pop("sgl-project/SpecForge/configs/qwen3.5-27b-dflash.json")
    assert null == {"DFL115"}
    assert {name: codes for name, codes in found.items() if codes} == FLAWS
