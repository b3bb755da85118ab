"""The shipped catalogue: its shape, the names it lends to aliases, and a target it stands in for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

import published
from command_line import call
from drafter_lint import catalogue
from drafter_lint.aliases import Aliases, aliases
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.errors import AmbiguousAlias, Trouble, Unavailable, UsageError
from drafter_lint.facts import engines
from drafter_lint.findings import Confidence
from drafter_lint.linter import EngineChoice, Selection, check_pairs, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference, normalise, parse_reference
from drafter_lint.sources import FileEntry, Identity, MemorySource
from drafter_lint.standin import stand_in
from drafter_lint.targets import read_target

ROOT = Path(__file__).parents[1]
CATALOGUE = json.loads((ROOT / "schemas" / "catalogue.json").read_text("utf-8"))
_SAID = {
    "source": {"type": "array", "items": {"enum": list(CATALOGUE["sources"])}, "minItems": 1},
    "confidence": {"enum": list(CATALOGUE["confidences"])},
}
_WHOLE = {"type": "integer", "minimum": 0}
SHAPE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schema", "about", "confidences", "sources", "targets", "drafters"],
    "properties": {
        "schema": {"const": 1},
        "about": {"type": "string"},
        "confidences": {"type": "object"},
        "sources": {"type": "object", "additionalProperties": {"type": "string", "minLength": 8}},
        "targets": {
            "type": "object",
            "propertyNames": {"pattern": r"^[\w.-]+/[\w.-]+$"},
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["facts", "source", "confidence"],
                "properties": {
                    **_SAID,
                    "from": {"type": "string"},
                    "copy_of": {"enum": list(CATALOGUE["targets"])},
                    "facts": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["hidden_size"],
                        "properties": {
                            "architectures": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                            "model_type": {"type": "string"},
                            "text_model_type": {"type": "string"},
                            "tie_word_embeddings": {"type": "boolean"},
                            "torch_dtype": {"enum": ["bfloat16", "float16", "float32"]},
                            "quant_method": {"type": "string"},
                            **dict.fromkeys(
                                (
                                    "hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads",
                                    "num_key_value_heads", "head_dim", "max_position_embeddings",
                                    "num_nextn_predict_layers", "intermediate_size", "q_lora_rank", "kv_lora_rank",
                                    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "n_routed_experts",
                                    "num_experts", "num_local_experts", "first_k_dense_replace", "sliding_window",
                                    "bos_token_id", "pad_token_id",
                                ),
                                _WHOLE,
                            ),
                            "rms_norm_eps": {"type": "number"},
                            "rope_theta": {"type": "number"},
                            "rope_scaling": {"type": "object"},
                            "rope_parameters": {"type": "object"},
                            "hidden_act": {"type": "string"},
                            "eos_token_id": {"type": ["integer", "array"]},
                        },
                    },
                },
            },
        },
        "drafters": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": False,
                "required": ["targets", "method", "source", "confidence"],
                "properties": {**_SAID, "targets": {"type": "array", "minItems": 1}, "method": {"type": "string"}},
            },
        },
    },
}  # fmt: skip
GATED = Unavailable(Trouble.GATED, "meta-llama/Llama-3.1-8B-Instruct", "its terms have not been accepted")


def resolved(text: str) -> str | tuple[str, ...]:
    """The id a spelling leads to; several candidates; "" for none."""
    try:
        return parse_reference(text, exists=lambda _: False, aliases=Aliases({})).name
    except AmbiguousAlias as ambiguous:
        return ambiguous.candidates
    except UsageError:
        return ""


def test_it_has_its_shape() -> None:
    jsonschema.validate(CATALOGUE, SHAPE)
    assert len(CATALOGUE["targets"]) > 120
    assert len(CATALOGUE["drafters"]) > 190
    used = {key for part in ("targets", "drafters") for entry in CATALOGUE[part].values() for key in entry["source"]}
    assert used == set(CATALOGUE["sources"])


@pytest.mark.parametrize("name", published.targets())
def test_it_agrees_with_the_published_targets_of_the_fixtures(name: str) -> None:
    known = catalogue.target(name.replace("--", "/"))
    if known is None:
        assert name == "Qwen--Qwen2.5-72B-Instruct"
        return
    settings = published.target(name).settings
    inner = settings.get("text_config", settings)
    assert isinstance(inner, dict)
    for fact in ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads"):
        if fact in known.facts and known.confidence == "documented":
            assert known.facts[fact] == inner[fact], fact
    if "architectures" in known.facts and known.confidence == "documented":
        assert known.facts["architectures"] == settings["architectures"]


# Names.


@pytest.mark.parametrize(
    ("spelling", "leads_to"),
    [
        ("kimi-k2.5", "moonshotai/Kimi-K2.5"),
        ("Kimi_K25", "moonshotai/Kimi-K2.5"),
        ("kimik2.5", "moonshotai/Kimi-K2.5"),
        ("kimi-k2.5-nvfp4", "nvidia/Kimi-K2.5-NVFP4"),
        ("kimi-k2-thinking", "moonshotai/Kimi-K2-Thinking"),
        ("kimi_k26", "moonshotai/Kimi-K2.6"),
        ("kimi-k2.7-coder", "moonshotai/Kimi-K2.7-Code"),
        ("dsr1", "deepseek-ai/DeepSeek-R1"),
        ("deepseek-v3.2", "deepseek-ai/DeepSeek-V3.2"),
        ("glm-5.2", "zai-org/GLM-5.2"),
        ("LLaMA3.1-Instruct-8B", "meta-llama/Llama-3.1-8B-Instruct"),
        ("llama-3.3-70b", "meta-llama/Llama-3.3-70B-Instruct"),
        ("llama-4-scout", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
        ("llama2-chat-7b", "meta-llama/Llama-2-7b-chat-hf"),
        ("qwen3_8b", "Qwen/Qwen3-8B"),
        ("qwen3-8b", "Qwen/Qwen3-8B"),
        ("qwen3-32b", "Qwen/Qwen3-32B"),
        ("qwen3-30b-a3b-instruct-2507", "Qwen/Qwen3-30B-A3B-Instruct-2507"),
        ("gptoss120b", "openai/gpt-oss-120b"),
        ("oss-120b", "openai/gpt-oss-120b"),
        ("gpt-oss-20b", "openai/gpt-oss-20b"),
        ("minimaxm2.5", "MiniMaxAI/MiniMax-M2.5"),
        ("nvidia/Kimi-K2.5-NVFP4", "nvidia/Kimi-K2.5-NVFP4"),
    ],
)
def test_a_spelling_that_leaves_one_id_resolves(spelling: str, leads_to: str) -> None:
    assert resolved(spelling) == leads_to


@pytest.mark.parametrize(
    ("spelling", "among"),
    [
        ("kimi-k2", "moonshotai/Kimi-K2-Instruct"),
        ("deepseek-v4", "deepseek-ai/DeepSeek-V4-Pro"),
        ("dsv4", "deepseek-ai/DeepSeek-V4-Flash"),
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B"),
        ("llama3-8b", "meta-llama/Meta-Llama-3-8B-Instruct"),
        ("llama70b", "meta-llama/Llama-3.3-70B-Instruct"),
        ("llama-3.1-70b", "meta-llama/Llama-3.1-70B-Instruct"),
        ("qwen3-235b-a22b", "Qwen/Qwen3-235B-A22B-Instruct-2507"),
        ("gemma-4-26b-a4b", "google/gemma-4-26B-A4B-it"),
        ("ling-flash", "inclusionAI/Ling-flash-2.0"),
        ("mimo", "XiaomiMiMo/MiMo-V2-Flash"),
        ("qwen3-next", "Qwen/Qwen3-Next-80B-A3B-Instruct"),
        ("vicuna-7b", "lmsys/vicuna-7b-v1.3"),
        ("qwen3-a3b", "Qwen/Qwen3-30B-A3B"),
        ("qwen3-235b", "Qwen/Qwen3-235B-A22B"),
        ("qwen3-coder", "Qwen/Qwen3-Coder-30B-A3B-Instruct"),
        ("qwen3.5", "Qwen/Qwen3.5-27B"),
        ("gemma-4-31b", "google/gemma-4-31B-it"),
        ("kimi-k2.5-eagle3", "AQ-MedAI/Kimi-K25-eagle3"),
    ],
)
def test_a_spelling_that_leaves_several_lists_them(spelling: str, among: str) -> None:
    found = resolved(spelling)
    assert isinstance(found, tuple)
    assert among in found
    assert len(found) > 1


@pytest.mark.parametrize("spelling", ["deepseek", "llama", "kimi", "Kimi-K2.5-Quux", "llama-3.1"])
def test_a_spelling_nobody_knows_is_none(spelling: str) -> None:
    assert resolved(spelling) == ""


def test_the_users_own_aliases_win_over_both_tables() -> None:
    own = Aliases({"kimi-k2.5": ("acme/mine",), "pet": ("acme/pet",)})
    assert (own["kimi-k2.5"], own["pet"], own["kimi-k2.6"]) == (
        ("acme/mine",),
        ("acme/pet",),
        ("moonshotai/Kimi-K2.6",),
    )
    assert len(own) == len(set(own)) > len(aliases())
    with pytest.raises(KeyError):
        own["nobody"]


def test_every_alias_of_one_id_names_something_known() -> None:
    single = {ids[0] for ids in aliases().values() if len(ids) == 1}
    assert len([name for name in single if catalogue.target(name)]) > 24
    assert all(normalise(key) == key for key in catalogue.names())


def test_it_is_not_read_unless_it_is_asked() -> None:
    """340 kB of JSON would be a tenth of what a local check may take; it has 96 kB, and a local check needs none."""
    program = (
        "import sys; sys.argv=['x']; from drafter_lint import catalogue; from drafter_lint.api import Job, run; "
        "d, t = sys.stdin.read().split(); run(Job(drafter=d, target=t)); print(catalogue._table.cache_info().currsize)"
    )
    small = ROOT / "fixtures" / "small"
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{small / 'eagle3-llama.recipe.toml'} {small / 'target-llama.recipe.toml'}",
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert said.stdout == "0\n"


# Standing in.


class Unreadable:
    """A repository whose terms nobody has accepted."""

    def __init__(self, name: str) -> None:
        self.identity = Identity(name=name)

    @property
    def files(self) -> Mapping[str, FileEntry]:
        raise GATED

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        del path, start, length
        raise GATED


def target_at(name: str, *, kind: str = "hub") -> Checkpoint:
    reference = Reference(spelling=name, kind="hub" if kind == "hub" else "local", name=name)
    return Checkpoint(reference, MemorySource(name, {}), role="target")


def test_its_facts_stand_in_for_a_target_that_may_not_be_read() -> None:
    found = stand_in(target_at("meta-llama/Llama-3.1-8B-Instruct"), GATED)
    assert found
    assert found.standin.startswith("the catalogue (inferred")
    assert found.title.startswith("hidden 4096, 32 layers, vocabulary 128256, says the catalogue")
    assert found.hidden_size
    assert "(the catalogue's)" in found.hidden_size.at.subject
    nested = stand_in(target_at("moonshotai/Kimi-K2.5"), GATED)
    assert nested
    assert (nested.text.base, nested.quantization) == ("/text_config", None)


def test_what_it_does_not_know_is_not_read_rather_than_absent() -> None:
    found = stand_in(target_at("moonshotai/Kimi-K2.5"), GATED)
    assert found
    for read in (
        lambda: found.checkpoint.tensors,
        lambda: found.checkpoint.card,
        lambda: found.checkpoint.other_json("tokenizer_config.json"),
        lambda: list(found.checkpoint.source.files),
        lambda: len(found.checkpoint.source.files),
        lambda: found.checkpoint.source.files["tokenizer.json"],
        lambda: found.checkpoint.source.read("tokenizer.json"),
    ):
        with pytest.raises(Unavailable) as raised:
            read()
        assert raised.value.trouble is Trouble.GATED


@pytest.mark.parametrize(
    ("name", "kind", "trouble"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "hub", Trouble.NOT_FOUND),
        ("meta-llama/Llama-3.1-8B-Instruct", "hub", Trouble.MALFORMED),
        ("meta-llama/Llama-3.1-8B-Instruct", "local", Trouble.DENIED),
        ("acme/nobody-knows", "hub", Trouble.GATED),
        ("lmsys/vicuna-7b-v1.3", "hub", Trouble.GATED),  # widths alone: too little to plan with
    ],
)
def test_it_stands_in_for_nothing_else(name: str, kind: str, trouble: Trouble) -> None:
    assert stand_in(target_at(name, kind=kind), Unavailable(trouble, name, "is so")) is None


def test_a_check_that_rests_on_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "empty"))
    drafter = published.drafter("lightseekorg--kimi-k2.5-eagle3").write(tmp_path / "kimi-k2.5-eagle3")
    words = ("check", str(drafter), "-t", "kimi-k2.5", "--offline", "-e", "sglang==0.5.23")
    code, out, _ = call(*words, "--format", "json", "--", "--speculative-algorithm", "EAGLE")
    (check,) = json.loads(out)["checks"]
    found = check["findings"][0]
    assert (code, found["code"], found["confidence"]) == (1, "DFL401", "likely")
    assert found["evidence"][0]["note"] == (
        "the target could not be read: its facts are those of the catalogue (documented)"
    )
    assert "says the catalogue" in check["target"]["title"]
    needed = {item["code"]: item["needed"] for item in check["not_checked"]}
    assert (needed["DFL004"], needed["DFL208"], needed["DFL209"]) == (True, False, False)
    shown = " ".join(call(*words, "--", "--speculative-algorithm", "EAGLE").out.split())
    assert "= likely: the target could not be read: its facts are those of the catalogue (documented); sglang" in shown
    code, out, _ = call(*words)
    assert code == 3
    assert "kimi-k2.5 -> moonshotai/Kimi-K2.5" in out
    assert "says the catalogue (documented)" in " ".join(out.split())


STANDING = [pair for pair in published.pairs() if stand_in(target_at(pair.target.replace("--", "/")), GATED)]


@pytest.mark.parametrize("pair", STANDING, ids=lambda pair: f"{pair.drafter}-{pair.target}")
def test_what_it_does_not_know_is_no_finding(pair: published.Pair) -> None:
    """Nothing is found with the catalogue's facts that is not found with the target itself."""
    target = published.target(pair.target).without_weights()
    reference = Reference(spelling=target.name, kind="hub", name=target.name)
    readable = Checkpoint(reference, target.source(), role="target")
    unreadable = Checkpoint(reference, Unreadable(target.name), role="target")
    drafter = published.drafter(pair.drafter)
    files = Checkpoint(Reference(spelling="d", kind="local", name="d"), drafter.source(), role="drafter")
    choices = [EngineChoice(name=name) for name in engines()]
    everything = Selection(min_confidence=Confidence.POSSIBLE)
    found, known = (
        {
            (item.code, item.message)
            for check in check_pairs(opened, choices, selection=everything)
            for item in check.findings
        }
        for opened in (understand(files, unreadable), understand(files, readable))
    )
    assert found <= known
    assert len(STANDING) > 15


def test_the_same_check_is_certain_once_the_target_can_be_read(tmp_path: Path) -> None:
    drafter = published.drafter("lightseekorg--kimi-k2.5-eagle3").write(tmp_path / "kimi-k2.5-eagle3")
    target = published.target("moonshotai--Kimi-K2.5").without_weights()
    folder = target.write(tmp_path / "target")
    words = ("check", str(drafter), "-t", str(folder), "-e", "sglang==0.5.23", "--format", "json")
    (check,) = json.loads(call(*words, "--", "--speculative-algorithm", "EAGLE").out)["checks"]
    assert [item["confidence"] for item in check["findings"] if item["code"] == "DFL401"] == ["certain"]
    assert not read_target(Checkpoint(*_opened(target), role="target")).standin


def _opened(recipe: Recipe) -> tuple[Reference, MemorySource]:
    return Reference(spelling=recipe.name, kind="hub", name=recipe.name), recipe.source()
