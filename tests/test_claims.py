"""Which target a drafter claims, where it says so, and when two names mean the same weights."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters.claims import claims
from drafter_lint.drafters.names import basename, names_a_drafter, names_a_model, parse_name, same_model
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Confidence
from drafter_lint.reference import Reference
from drafter_lint.sources.memory import MemorySource

NAME = "lab/Kimi-K2.5-eagle3"


def drafter(
    config: Mapping[str, object] | None = None, *, card: str = "", name: str = NAME, kind: str = "hub"
) -> Checkpoint:
    """A drafter of a config and a card."""
    files = {"config.json": json.dumps(config or {}).encode()} | ({"README.md": card.encode()} if card else {})
    reference = Reference(spelling=name, kind="local" if kind == "local" else "hub", name=name)
    return Checkpoint(reference, MemorySource(name, files), role="drafter")


def said(checkpoint: Checkpoint) -> list[tuple[str, str]]:
    """Every claim as (target, strength)."""
    return [(claim.target.value, claim.strength) for claim in claims(checkpoint, checkpoint.config)]


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        (
            {"speculators_config": {"verifier": {"name_or_path": "Qwen/Qwen3-8B"}}},
            "/speculators_config/verifier/name_or_path",
        ),
        ({"target_model_name_or_path": "Qwen/Qwen3-8B"}, "/target_model_name_or_path"),
        ({"base_model_name_or_path": "Qwen/Qwen3-8B"}, "/base_model_name_or_path"),
    ],
)
def test_a_field_made_for_it_is_stated_and_located(config: dict[str, object], pointer: str) -> None:
    """The pointer is the one a person would look at."""
    checkpoint = drafter(config, name="lab/out")
    (claim,) = claims(checkpoint, checkpoint.config)
    assert claim.target.value == "Qwen/Qwen3-8B"
    assert claim.strength == "stated"
    assert claim.target.at.pointer == pointer
    assert claim.target.at.line == 1


def test_the_card_names_the_target() -> None:
    """base_model of the front matter, with its line."""
    checkpoint = drafter(card="---\nlicense: mit\nbase_model: moonshotai/Kimi-K2.5\n---\n", name="lab/out")
    (claim,) = claims(checkpoint, checkpoint.config)
    assert (claim.target.value, claim.strength, claim.target.at.line) == ("moonshotai/Kimi-K2.5", "stated", 3)


def test_a_drafter_tuned_from_a_drafter_claims_nothing_by_that() -> None:
    """The card then names the drafter it started from."""
    assert said(drafter(card="---\nbase_model: lightseekorg/kimi-k2.6-eagle3-mla\n---\n", name="lab/out")) == []


def test_a_field_left_over_from_a_template_is_a_hint() -> None:
    """_name_or_path claims a target if it names a model, and nothing if it names a folder or a drafter."""
    assert said(drafter({"_name_or_path": "meta-llama/Llama-3.1-8B-Instruct"}, name="lab/out")) == [
        ("meta-llama/Llama-3.1-8B-Instruct", "told")
    ]
    assert said(drafter({"_name_or_path": "/home/me/checkpoints/target"}, name="lab/out")) == []
    assert said(drafter({"_name_or_path": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"}, name="lab/out")) == []


def test_its_own_name_comes_last() -> None:
    """Stated claims stand before hints, whatever order they are met in."""
    checkpoint = drafter({"target_model_name_or_path": "moonshotai/Kimi-K2.6"})
    assert said(checkpoint) == [("moonshotai/Kimi-K2.6", "stated"), (NAME, "named")]


@pytest.mark.parametrize("name", ["/runs/eagle3-7", "lab/eagle3-out", "Qwen/Qwen3-0.6B", "amd/PARD-Qwen3-0.6B"])
def test_names_that_claim_nothing(name: str) -> None:
    """A folder without a family, a plain model, and a drafter named after itself."""
    assert said(drafter(name=name, kind="local" if name.startswith("/") else "hub")) == []


def test_a_card_that_cannot_be_read_claims_nothing() -> None:
    """The rest is still told."""

    class NoCard(MemorySource):
        def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            if path == "README.md":
                raise Unavailable(Trouble.UNREACHABLE, "README.md", "no answer")
            return super().read(path, start, length)

    source = NoCard(NAME, {"config.json": b"{}", "README.md": b"---\nbase_model: a/Qwen3-8B\n---\n"})
    checkpoint = Checkpoint(Reference(spelling=NAME, kind="hub", name=NAME), source, role="drafter")
    assert said(checkpoint) == [(NAME, "named")]


def test_a_config_that_cannot_be_read_claims_nothing() -> None:
    """None stands for it."""
    assert [claim.strength for claim in claims(drafter(), None)] == ["named"]


# A drafter's name and the target it is documented for: repository ids as published.
DOCUMENTED = [
    ("AQ-MedAI/Kimi-K2-Instruct-eagle3", "moonshotai/Kimi-K2-Instruct"),
    ("AQ-MedAI/Kimi-K25-eagle3", "moonshotai/Kimi-K2.5"),
    ("AQ-MedAI/Kimi-K25-eagle3", "nvidia/Kimi-K2.5-NVFP4"),
    ("AngelSlim/Qwen3-a3B_eagle3", "Qwen/Qwen3-30B-A3B"),
    ("RedHatAI/GLM-5.2-speculator.dspark-preview", "zai-org/GLM-5.2-FP8"),
    ("RedHatAI/Mistral-Small-4-119B-2603.dflash", "mistralai/Mistral-Small-4-119B-2603"),
    ("Tengyunw/qwen3_30b_moe_eagle3", "Qwen/Qwen3-30B-A3B"),
    ("ginsongsong/eagle3-kimik2.5-w4a8", "moonshotai/Kimi-K2.5"),
    ("google/gemma-4-31B-it-assistant", "nvidia/Gemma-4-31B-IT-NVFP4"),
    ("lightseekorg/kimi-k2.7-coder-eagle3.1-mla", "moonshotai/Kimi-K2.7-Code"),
    ("lmsys/SGLang-EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge-Nex", "Qwen/Qwen3-30B-A3B-Instruct-2507"),
    ("lmsys/sglang-EAGLE3-Llama-4-Maverick-17B-128E-Instruct-v1", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"),
    ("nvidia/Kimi-K2.5-Thinking-Eagle3", "moonshotai/Kimi-K2.5"),
    ("nvidia/Llama-4-Maverick-17B-128E-Eagle3", "nvidia/Llama-4-Maverick-17B-128E-Instruct-FP8"),
    ("nvidia/gpt-oss-120b-Eagle3-v3", "amd/gpt-oss-120b-w-mxfp4-a-fp8"),
    ("nvidia/gpt-oss-120b-Eagle3", "lmsys/gpt-oss-120b-bf16"),
    ("yuhuili/EAGLE-LLaMA3-Instruct-8B", "meta-llama/Meta-Llama-3-8B-Instruct"),
    ("yuhuili/EAGLE-llama2-chat-7B", "meta-llama/Llama-2-7b-chat-hf"),
    ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8"),
    ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4"),
    ("yuhuili/EAGLE3-Vicuna1.3-13B", "lmsys/vicuna-13b-v1.3"),
]
# Pairs that share every width and are not the same model.
OTHERS = [
    ("AQ-MedAI/Kimi-K2-Instruct-eagle3", "moonshotai/Kimi-K2.5"),
    ("AQ-MedAI/Kimi-K2-Instruct-eagle3", "moonshotai/Kimi-K2-Thinking"),
    ("AngelSlim/Qwen3-8B_eagle3", "Qwen/Qwen3-8B-Base"),
    ("AngelSlim/Qwen3-8B_eagle3", "Qwen/Qwen3-32B"),
    ("RedHatAI/gpt-oss-20b-speculator.eagle3", "openai/gpt-oss-120b"),
    ("lightseekorg/kimi-k2.5-eagle3-mla", "moonshotai/Kimi-K2.6"),
    ("lmsys/SGLang-EAGLE3-Llama-4-Scout-17B-16E", "meta-llama/Llama-4-Maverick-17B-128E-Instruct"),
    ("lmsys/SGLang-EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge-Nex", "Qwen/Qwen3-30B-A3B"),
    ("lmsys/SGLang-EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge-Nex", "Qwen/Qwen3-30B-A3B-Thinking-2507"),
    ("yuhuili/EAGLE-DeepSeek-R1-Distill-LLaMA-8B", "meta-llama/Llama-3.1-8B-Instruct"),
    ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama/Llama-3.1-8B"),
    ("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "meta-llama/Meta-Llama-3-8B-Instruct"),
    ("z-lab/Qwen3-8B-DFlash-b16", "meta-llama/Llama-3.1-8B-Instruct"),
    ("zai-org/GLM-4.7-eagle3", "zai-org/GLM-4.7-Flash"),
]


@pytest.mark.parametrize(("claimed", "served"), DOCUMENTED)
def test_published_pairs_are_the_same_model(claimed: str, served: str) -> None:
    """Spelling, mirrors, storage and partner names make no difference."""
    comparison = same_model(claimed, served, hinted=True)
    assert comparison.same is True, comparison.reason


@pytest.mark.parametrize(("claimed", "served"), OTHERS)
def test_releases_of_one_line_are_not(claimed: str, served: str) -> None:
    """Version, size, date stamp and variant tell them apart, and the reason names which."""
    comparison = same_model(claimed, served, hinted=True)
    assert comparison.same is False
    assert comparison.confidence is Confidence.LIKELY
    assert comparison.reason


def test_a_date_left_out_of_a_name_is_a_heuristic_and_of_a_field_is_not() -> None:
    """A repository's name may be short; a field made for the target is not."""
    served = "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8"
    assert same_model("lmsys/Qwen3-235B-A22B-EAGLE3", served, hinted=True).confidence is Confidence.POSSIBLE
    assert same_model("Qwen/Qwen3-235B-A22B", served).confidence is Confidence.LIKELY


def test_a_tuned_copy_is_a_heuristic() -> None:
    """Words nobody knows may be a partner's name or another training."""
    comparison = same_model("AngelSlim/Qwen3-32B_eagle3", "nex-agi/Qwen3-32B-Nex-N1", hinted=True)
    assert (comparison.same, comparison.confidence) == (False, Confidence.POSSIBLE)


def test_a_folder_may_leave_words_out() -> None:
    """kimi-k2 on disk may well be the instruct model; kimi-k2.5 is not."""
    assert same_model("AQ-MedAI/Kimi-K2-Instruct-eagle3", "/models/kimi-k2", folder=True).same is True
    assert same_model("AQ-MedAI/Kimi-K2-Instruct-eagle3", "/models/kimi-k2.5", folder=True).same is False
    assert same_model("AQ-MedAI/Kimi-K2-Instruct-eagle3", "/models/target", folder=True).same is None


@pytest.mark.parametrize(
    "spelling",
    [
        "moonshotai/Kimi-K2.5",
        "moonshotai/Kimi-K2.5@main",
        "hf://moonshotai/Kimi-K2.5",
        "/data/Kimi-K2.5/",
        "/root/.cache/huggingface/hub/models--moonshotai--Kimi-K2.5/snapshots/0c1a2b",
    ],
)
def test_the_models_own_part_of_a_spelling(spelling: str) -> None:
    """Owner, revision, folders and the cache's form fall away."""
    assert basename(spelling) == "Kimi-K2.5"


def test_words_are_sorted_by_meaning() -> None:
    """One name of every kind of word."""
    name = parse_name("nvidia/Qwen3-30B-A3B-Instruct-2507-SpecForge-Nex-NVFP4")
    assert name.families == {"qwen"}
    assert name.versions == {"3"}
    assert name.sizes == {"30b", "a3b"}
    assert name.dates == {"2507"}
    assert name.variants == {"instruct"}
    assert name.others == {"nex"}


@given(st.text(max_size=80))
def test_any_text_can_be_compared(text: str) -> None:
    """Total, and no name differs from itself."""
    assert same_model(text, text).same is not False
    assert names_a_model(text) == bool(parse_name(text).families)
    assert names_a_drafter(text) in {True, False}
