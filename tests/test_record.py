"""A checkpoint written as text: the same findings as of the folder, a few kilobytes, and nothing private in it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import published
from command_line import SMALL, call
from drafter_lint.api import Job, run
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import Trouble, Unavailable, UsageError
from drafter_lint.recipe import Recipe, record
from drafter_lint.recipe.private import redacted, redacted_json
from drafter_lint.recipe.record import MAX_CARD_CHARACTERS, MAX_RECIPE_BYTES
from drafter_lint.recipe.values import values_of, written
from drafter_lint.reference import Reference
from drafter_lint.report import Report
from drafter_lint.sources import LocalSource, MemorySource, Tally, VirtualFile

#: One of each layout, and what has something the matter with it: these are checked in every engine too.
PLANNED = (
    "AQ-MedAI--Kimi-K2-Instruct-eagle3",
    "RedHatAI--gpt-oss-20b-speculator.eagle3",
    "nvidia--Kimi-K2.6-Eagle3",
    "nvidia--gpt-oss-120b-Eagle3-v3",
    "yuhuili--EAGLE-LLaMA3-Instruct-8B",
    "yuhuili--EAGLE-llama2-chat-7B",
)
EAGLE3 = Recipe.parse((SMALL / "eagle3-llama.recipe.toml").read_text("utf-8"))


def local(folder: Path) -> Checkpoint:
    name = str(folder)
    reference = Reference(spelling=name, kind="local", name=name)
    return Checkpoint(reference, LocalSource(name, Tally()), role="drafter")


def in_memory(files: dict[str, bytes | VirtualFile]) -> Checkpoint:
    reference = Reference(spelling="made", kind="local", name="made")
    return Checkpoint(reference, MemorySource("made", files), role="drafter")


def said(report: Report) -> Counter[tuple[str, ...]]:
    """What a report comes to, without the names of files and folders."""
    return Counter(
        row
        for check in report.checks
        for row in (
            (str(check.engine and check.engine.name), check.verdict, str(check.checked)),
            *((item.code, item.outcome.value, item.confidence.value, str(item.measured)) for item in check.findings),
            *((item.code, str(item.needed)) for item in check.not_checked),
        )
    )


@pytest.mark.parametrize("name", published.drafters())
def test_the_recipe_of_a_folder_has_the_findings_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = published.drafter(name).write(tmp_path / name.partition("--")[2])
    written_to = tmp_path / f"{folder.name}.recipe.toml"
    written_to.write_text(record(local(folder)).toml(), "utf-8")
    assert written_to.stat().st_size < 16_000
    from_folder, from_recipe = (run(Job(drafter=str(path), alone=True)) for path in (folder, written_to))
    assert said(from_folder) == said(from_recipe)
    if name not in PLANNED:
        return
    pair = next(pair for pair in published.pairs() if pair.drafter == name)
    target = published.target(pair.target).without_weights().source()
    from_folder, from_recipe = (run(Job(drafter=str(path), target=target)) for path in (folder, written_to))
    assert said(from_folder) == said(from_recipe)
    assert all(check.plans for check in from_folder.checks) or not published.drafter(name).tensors


def test_weights_that_are_never_opened_are_there_again() -> None:
    recorded = record(Checkpoint(Reference(spelling="x", kind="local", name="x"), BIN.source(), role="drafter"))
    assert recorded.opaque == {"pytorch_model.bin": 1468039168}
    assert recorded.tensors == {}
    beside = EAGLE3.patched({"opaque": {"training_state.pt": 12, "optimizer.pt": 5}})
    recorded = record(Checkpoint(Reference(spelling="x", kind="local", name="x"), beside.source(), role="drafter"))
    assert recorded.opaque == {"training_state.pt": 12}


BIN = published.drafter("yuhuili--EAGLE-llama2-chat-7B")


# Nothing private.

PRIVATE = {
    '"_name_or_path": "/home/alice/ckpt/Qwen3-8B"': '"_name_or_path": "/redacted/Qwen3-8B"',
    '"/home/alice"': '"/redacted"',
    '"/Users/alice/"': '"/redacted/"',
    "cd /data/team-x/run_7/out": "cd /redacted/out",
    "~alice/models and ~/models/x": "/redacted/models and /redacted/x",
    r"C:\\Users\\alice\\models\\Qwen3": "/redacted/Qwen3",
    "C:/Users/alice": "/redacted",
    r"\\\\server\\share\\model": "/redacted/model",
    "hf_aBcDeFgHiJkLmNoP": "redacted",
    '"hub_token": "whatever it is"': '"hub_token": "redacted"',
    '"api_key": "k\\"k"': '"api_key": "redacted"',
    "https://alice:pw@example.org/x": "https://redacted/x",
    "write to alice@example.org": "write to redacted",
}
PUBLIC = (
    "owner/name, https://huggingface.co/owner/name/tree/main",
    '"eos_token": "</s>", "bos_token": "<|begin_of_text|>"',
    r"re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
    "model/layers/0, and/or, name@1.0.0, speculators@c05b95b3",
    "hf_hub_download, text_config, sk-learn",
)


@pytest.mark.parametrize("text", PRIVATE)
def test_what_is_private_is_replaced(text: str) -> None:
    assert redacted(text) == PRIVATE[text]
    assert redacted(PRIVATE[text]) == PRIVATE[text]


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_public_stays(text: str) -> None:
    assert redacted(text) == text


def test_escapes_hide_nothing() -> None:
    text = r'{"a": "\u002fhome\u002falice\u002fx", "b": ["\/home\/alice\/y"], "c": 1e400, "d": {}}'
    assert "alice" not in redacted_json(text)
    assert json.loads(redacted_json(text))["b"] == ["/redacted/y"]
    assert redacted_json('{"a": "b\\n"}') == '{"a": "b\\n"}'
    assert redacted_json("{ no JSON \\") == "{ no JSON \\"


def test_a_recipe_of_a_folder_says_nothing_of_where_it_lies(tmp_path: Path) -> None:
    home = tmp_path / "home" / "alice"
    texts = {
        "README.md": f"---\nbase_model: {home}/Llama-3.1-8B\n---\nTrained by alice@example.org.\n",
        "trainer_state.json": '{"run": "alice"}',
        "generation_config.json": json.dumps({"_name_or_path": str(home / "x")}),
    }
    changed = EAGLE3.patched({"text": texts, "set": {"/_name_or_path": str(home / "run" / "out")}})
    folder = changed.write(home / "my-eagle3")
    text = record(local(folder)).toml()
    assert "alice" not in text
    assert str(tmp_path) not in text
    again = Recipe.parse(text)
    assert again.name == "my-eagle3"
    assert set(again.text) == {"README.md", "generation_config.json"}
    assert "Llama-3.1-8B" in again.text["README.md"]


def test_a_long_card_is_cut_at_a_line(tmp_path: Path) -> None:
    card = "---\nbase_model: a/b\n---\n" + "word " * 200 + "\n" + "line\n" * 10_000
    text = record(local(EAGLE3.patched({"text": {"README.md": card}}).write(tmp_path / "x"))).text["README.md"]
    assert len(text) <= MAX_CARD_CHARACTERS
    assert card.startswith(text)
    assert text.endswith("line\n")


def test_of_a_large_tokenizer_its_digest_is_kept(tmp_path: Path) -> None:
    folder = EAGLE3.patched({"words": 5000}).write(tmp_path / "x")
    recorded = record(local(folder))
    assert "tokenizer.json" not in recorded.text
    size = (folder / "tokenizer.json").stat().st_size
    assert any(f"tokenizer.json, left out: {size} bytes, sha256:" in line for line in recorded.sourced)
    small = record(local(EAGLE3.patched({"words": 512}).write(tmp_path / "y")))
    assert json.loads(small.text["tokenizer.json"])["model"]["vocab"]["t1"] == 1


# Bounded.


def test_a_target_in_many_shards_is_written_in_patterns() -> None:
    """As moonshotai/Kimi-K2.5 is in full: 208,216 tensors in 64 shards make a recipe of 6 kB."""
    full = published.target("moonshotai--Kimi-K2.5")
    lines = {name.replace("{0..383}", "{0..15}"): line for name, line in full.tensors["model.safetensors"].items()}
    original = replace(full, tensors={"model.safetensors": lines})
    checkpoint = Checkpoint(Reference(spelling="x", kind="local", name="x"), original.source(), role="target")
    recorded = record(checkpoint)
    assert len(recorded.toml()) < 7_000
    assert (recorded.shards, recorded.index) == (64, True)
    assert recorded.computed == ("which of the 64 shards holds which tensor: spread by count",)
    assert recorded.table() == original.table()


def test_names_without_a_pattern_are_refused_with_the_reason() -> None:
    names = {f"layer_{number:x}_{'w' * 40}": ("BF16", (1,)) for number in range(6000)}
    header, _ = safetensors_header(names)
    files: dict[str, bytes | VirtualFile] = {
        "config.json": b"{}",
        "model.safetensors": VirtualFile(len(header) + 12_000, ((0, header),)),
    }
    with pytest.raises(Unavailable, match=f"over the bound of {MAX_RECIPE_BYTES}") as refused:
        record(in_memory(files))
    assert refused.value.trouble is Trouble.TOO_LARGE


def test_a_real_map_is_packed() -> None:
    random = Random(7)
    ids = sorted(random.sample(range(163840), 32000))
    offsets = tuple(token - index for index, token in enumerate(ids))
    text = written(offsets)
    assert text.startswith("packed(I8 ")
    assert len(text) < 32_000
    assert values_of(text, 32000, lambda _: ()) == offsets
    wide = tuple(random.randrange(-(2**31), 2**31 - 1) for _ in range(4000))
    assert values_of(written(wide), 4000, lambda _: ()) == wide


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("packed(I64 eNpjYGBgAAAABAAB)", "I8, I16 or I32"),
        ("packed(I8 eNpjYGBgAAAABAAB)", "gives more values than the 2"),
        ("packed(I8 eNpjAAAAAQAB)", "gives fewer values than the 2"),
        ("packed(I8 !!!)", "cannot be unpacked"),
        ("packed(I8 AAAA)", "cannot be unpacked"),
    ],
)
def test_a_packed_map_that_is_none(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        values_of(text, 2, lambda _: ())


# The command.


def test_the_command_prints_or_writes(tmp_path: Path) -> None:
    folder = EAGLE3.write(tmp_path / "drafter")
    code, out, err = call("record", str(folder))
    assert (code, err) == (0, "")
    assert Recipe.parse(out).name == "drafter"
    file = tmp_path / "drafter.recipe.toml"
    code, said_of_it, _ = call("record", str(folder), "-o", str(file))
    assert code == 0
    assert said_of_it.startswith(f"{file}: ")
    assert file.read_text("utf-8") == out
    assert call("check", str(file), "--alone").code == 0


def test_the_command_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    folder = EAGLE3.write(tmp_path / "drafter")
    code, _, err = call("record", str(folder), "-o", str(tmp_path / "drafter.toml"))
    assert (code, "a recipe is known by its name" in err) == (2, True)
    code, _, err = call("record", str(folder), "-o", str(tmp_path / "nowhere" / "x.recipe.toml"))
    assert (code, "could not be written" in err) == (2, True)
    assert call("record", str(tmp_path / "nowhere")).code == 3
