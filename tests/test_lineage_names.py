"""The names of published drafters and targets: a table of which mean the same weights, and which are siblings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import permutations

import pytest
from pydantic import BaseModel, ConfigDict

import published
from drafter_lint.drafters.names import basename, contradict, names_a_drafter, parse_name, same_model
from drafter_lint.findings import Confidence


class Documented(BaseModel):
    """Drafters and the targets one source documents for them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    drafters: dict[str, list[str]]


class Siblings(BaseModel):
    """Models that share a shape or a line, each another target."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    names: list[str]


class Names(BaseModel):
    """``fixtures/lineage/names.toml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    doubt: list[str]
    stored: list[str]
    documented: list[Documented]
    copies: dict[str, list[str]]
    siblings: list[Siblings]


TABLE = Names.model_validate(tomllib.loads((published.FIXTURES / "lineage" / "names.toml").read_text(encoding="utf-8")))
DRAFTERS = {name: targets for group in TABLE.documented for name, targets in group.drafters.items()}
TARGETS = sorted({target for targets in DRAFTERS.values() for target in targets} | set(TABLE.copies))


def stored(target: str) -> Iterator[str]:
    """The target, and every way anybody stores it again."""
    yield target
    yield from TABLE.copies.get(target, ())
    for form in TABLE.stored:
        yield f"anybody/{form.replace('NAME', basename(target))}"


def test_the_table_is_whole() -> None:
    assert len(DRAFTERS) > 200
    assert len(TABLE.stored) > 45
    assert set(TABLE.doubt) < set(DRAFTERS)
    assert all(group.source for group in TABLE.documented)


@pytest.mark.parametrize("drafter", [name for name in DRAFTERS if name not in TABLE.doubt])
def test_a_drafters_name_is_silent_beside_its_targets(drafter: str) -> None:
    """However the target is stored, and whoever uploaded it."""
    for target in DRAFTERS[drafter]:
        for served in stored(target):
            comparison = same_model(drafter, served, hinted=True)
            assert comparison.same is True, f"{served}: {comparison.reason}"


@pytest.mark.parametrize("drafter", DRAFTERS)
def test_a_drafters_name_does_not_contradict_its_card(drafter: str) -> None:
    """A card that names the documented target, or a copy of it, and a name that may be shorter."""
    for target in DRAFTERS[drafter]:
        for stated in stored(target):
            assert contradict(stated, drafter, hinted=True).same is True, stated


@pytest.mark.parametrize("drafter", TABLE.doubt)
def test_a_name_that_leaves_words_out_is_a_doubt_and_no_more(drafter: str) -> None:
    for target in DRAFTERS[drafter]:
        comparison = same_model(drafter, target, hinted=True)
        assert (comparison.same, comparison.confidence) == (False, Confidence.POSSIBLE)


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_is_itself_however_it_is_stored(target: str) -> None:
    """For a field that names the target itself, and for one that names a copy."""
    for served in stored(target):
        for claimed, other in ((target, served), (served, target)):
            comparison = same_model(claimed, other)
            assert comparison.same is True, f"{claimed} on {other}: {comparison.reason}"
        assert contradict(target, served).same is True


PAIRS = [pair for group in TABLE.siblings for pair in permutations(group.names, 2)]


def test_there_are_many_siblings() -> None:
    assert len(PAIRS) > 200


@pytest.mark.parametrize(("claimed", "served"), PAIRS)
def test_a_sibling_is_named(claimed: str, served: str) -> None:
    """Whatever it is stored as, and always with what tells the two apart."""
    for form in ("NAME", "NAME-FP8-dynamic", "NAME-NVFP4", "NAME-AWQ-4bit", "NAME-GGUF"):
        comparison = same_model(claimed, f"anybody/{form.replace('NAME', basename(served))}")
        assert comparison.same is False, form
        assert " against " in comparison.reason
        # A copy whose name lacks "Instruct" may be one of the instruct model all the same.
        shortened = form != "NAME" and comparison.reason == "variant instruct against not named"
        assert comparison.confidence is (Confidence.POSSIBLE if shortened else Confidence.LIKELY)
    assert contradict(claimed, served).same is False


@pytest.mark.parametrize("drafter", [name for name in DRAFTERS if name not in TABLE.doubt])
def test_a_drafters_name_speaks_beside_the_siblings_of_its_target(drafter: str) -> None:
    """At least as a doubt; and where nothing but words were left out of the name it is no more."""
    for group in TABLE.siblings:
        if set(group.names).isdisjoint(DRAFTERS[drafter]):
            continue
        others = [name for name in group.names if name not in DRAFTERS[drafter]]
        told = [same_model(drafter, other, hinted=True) for other in others]
        bare = [other for other, comparison in zip(others, told, strict=True) if comparison.same]
        # Names of drafters leave "Instruct" out, so a bare name fits the base model as well as the instruct model.
        assert all("instruct" not in parse_name(drafter).variants for _ in bare), bare


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("Qwen/Qwen3-8B", "lab/qwen3-8b-eagle3", False),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "lab/Qwen3-235B-A22B-EAGLE3", False),
        ("meta-llama/Llama-3.1-8B", "lab/EAGLE3-LLaMA3.1-Instruct-8B", True),
        ("moonshotai/Kimi-K2.6", "lab/kimi-k2.5-eagle3", True),
        ("Qwen/Qwen3-30B-A3B", "lab/Qwen3-Coder-30B-A3B-DFlash", True),
        ("google/gemma-4-31B-it", "lab/gemma4-31b-assistant", False),
        ("openai/gpt-oss-120b", "lab/EAGLE3-gpt-oss-20b", True),
        ("nex-agi/Qwen3-32B-Nex-N1", "lab/Qwen3-32B-eagle3", False),
    ],
)
def test_a_field_and_a_name_contradict_each_other(one: str, other: str, *, differ: bool) -> None:
    """A name may leave out what the field says; it may not say something else."""
    assert (contradict(one, other, hinted=True).same is False) is differ


def test_words_are_sorted_by_meaning() -> None:
    """One name of every kind of word."""
    name = parse_name("RedHatAI/DeepSeek-R1-Distill-Llama-8B-0528-Nex-eagle3-quantized.w4a16-G128")
    assert name.owner == "RedHatAI"
    assert name.families == {"deepseek", "llama"}
    assert name.versions == {"r1"}
    assert name.sizes == {"8b"}
    assert name.dates == {"0528"}
    assert name.variants == {"distill"}
    assert name.storage == {"quantized", "w4a16", "g128"}
    assert name.methods == {"eagle3"}
    assert name.others == {"nex"}


@pytest.mark.parametrize(
    ("spelling", "served"),
    [
        ("kimi-k2-5", "moonshotai/Kimi-K2.5"),
        ("kimi_k2p5", "moonshotai/Kimi-K2.5"),
        ("llama-3-1-8b-instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("llama-v3p3-70b-instruct", "meta-llama/Llama-3.3-70B-Instruct"),
        ("deepseek-v3-1-terminus", "deepseek-ai/DeepSeek-V3.1-Terminus"),
        ("dsv3", "deepseek-ai/DeepSeek-V3"),
        ("qwen3-5-27b", "Qwen/Qwen3.5-27B"),
        ("glm-4-7", "zai-org/GLM-4.7"),
        ("minimax-m2-5", "MiniMaxAI/MiniMax-M2.5"),
        ("vicuna-7b-v1-5", "lmsys/vicuna-7b-v1.5"),
    ],
)
def test_names_without_dots(spelling: str, served: str) -> None:
    """Where a name may hold no dots, as in a cluster."""
    assert same_model(served, f"/models/{spelling}", folder=True).same is True
    assert same_model(f"lab/{spelling}-eagle3", served, hinted=True).same is True


def test_a_fine_tune_is_another_model_either_way() -> None:
    """A word nobody knows is a doubt; a partner's name in a drafter's own name is none."""
    tuned, plain = "nex-agi/Qwen3-32B-Nex-N1", "Qwen/Qwen3-32B"
    for claimed, served in ((tuned, plain), (plain, tuned)):
        comparison = same_model(claimed, served)
        assert (comparison.same, comparison.confidence) == (False, Confidence.POSSIBLE)
    assert same_model("lmsys/SGLang-EAGLE3-Qwen3-32B-SpecForge-Nex", plain, hinted=True).same is True


def test_a_revision_of_a_drafter_is_no_version_of_its_target() -> None:
    assert parse_name("lmsys/sglang-EAGLE3-Llama-4-Scout-17B-16E-Instruct-v1").versions == {"4", "1"}
    assert parse_name("google/gemma-2-2b-it").versions == {"2"}


@pytest.mark.parametrize(
    ("spelling", "owner"),
    [("moonshotai/Kimi-K2.5", "moonshotai"), ("/models/Kimi-K2.5", ""), ("./Kimi-K2.5", ""), ("Kimi-K2.5", "")],
)
def test_only_an_id_has_an_owner(spelling: str, owner: str) -> None:
    assert parse_name(spelling).owner == owner


def test_a_path_may_leave_instruct_out_and_an_id_may_not() -> None:
    served = "meta-llama/Llama-3.1-8B-Instruct"
    assert same_model("/data/llama-3.1-8b", served).same is True
    assert same_model("meta-llama/Llama-3.1-8B", served).same is False


def test_every_documented_name_is_a_drafters_or_carries_its_drafter() -> None:
    """The few that do not say so are targets with a drafter inside."""
    silent = [name for name in DRAFTERS if not names_a_drafter(name)]
    assert silent == []
