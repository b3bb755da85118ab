"""Recipes: the grammar, true files from text, patches, and the fixtures that are written as recipes."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path

import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st

import published
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.vocab_map import decode
from drafter_lint.checkpoint.writing import safetensors_header
from drafter_lint.errors import Unavailable, UsageError
from drafter_lint.recipe import Recipe, record
from drafter_lint.recipe.build import INDEX
from drafter_lint.recipe.lines import expand, parse_line
from drafter_lint.recipe.record import collapsed
from drafter_lint.recipe.values import encoded, values_of, written
from drafter_lint.reference import Reference
from drafter_lint.sources import LocalSource, MemorySource, Source, Tally, VirtualFile
from truth_cases import load_cases

SMALL = """
about = "A small drafter."
name = "someone/small"
config = '''
{"hidden_size": 4, "eagle_config": {"ids": [1, 2, 3]},
 "rope_scaling": null}'''

[provenance]
sourced = ["hidden_size: a page"]
computed = ["everything else"]

[tensors."model.safetensors"]
"fc.weight" = "BF16 4x12"
"layers.{0..2}.norm.weight" = "F32 4"
d2t = "I64 4 = spread(8, 7)"
t2d = "BOOL 8 = matches(d2t)"

[text]
"README.md" = '''
A card with "quotes", a \\ and 'ticks'.
'''

[opaque]
"pytorch_model.bin" = 1000
"""


def small(**patch: object) -> Recipe:
    return Recipe.parse(SMALL).patched(patch)


def checkpoint(source: Source) -> Checkpoint:
    return Checkpoint(Reference(spelling="x", kind="local", name="x"), source, role="drafter")


def content(recipe: Recipe, name: str) -> bytes:
    found = recipe.files()[name]
    return found if isinstance(found, bytes) else found.span(0, found.size)


# The grammar


@pytest.mark.parametrize(
    ("text", "length", "values"),
    [
        ("zeros", 3, (0, 0, 0)),
        ("0*2 37*2", 4, (0, 0, 37, 37)),
        ("5..7 -1", 4, (5, 6, 7, -1)),
        ("spread(8)", 4, (0, 1, 2, 3)),
        ("noise(7)", 4, (121, 16, -7, 40)),
        ("absolute(8)", 4, (0, 2, 4, 6)),
        ("absolute(8, 7)", 4, (0, 2, 4, 7)),
        ("matches(d2t)", 6, (0, 1, 0, 0, 1, 0)),
    ],
)
def test_values(text: str, length: int, values: tuple[int, ...]) -> None:
    assert values_of(text, length, lambda _: (1, 4)) == values


@pytest.mark.parametrize("text", ["0*3", "spread(2)", "spread()", "spread(8, 8)", "random(8)", "a b c d", "1.5"])
def test_values_that_do_not_fit_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        values_of(text, 4, lambda _: ())


@given(st.lists(st.integers(-5, 5) | st.integers(-(2**40), 2**40), min_size=1, max_size=40))
def test_written_values_are_read_back(values: list[int]) -> None:
    assert values_of(written(values), len(values), lambda _: ()) == tuple(values)


@given(st.integers(1, 400), st.data())
def test_spread_ids_are_distinct_ascending_and_hold_what_must_be_there(vocabulary: int, data: st.DataObject) -> None:
    length = data.draw(st.integers(1, vocabulary))
    wanted = data.draw(st.lists(st.integers(0, vocabulary - 1), max_size=length, unique=True))
    ids = values_of(f"absolute({', '.join(map(str, [vocabulary, *wanted]))})", length, lambda _: ())
    assert len(set(ids)) == length
    assert list(ids) == sorted(ids)
    assert set(wanted) <= set(ids) <= set(range(vocabulary))


@pytest.mark.parametrize("text", ["BF16", "4x4", "bf16 4", "BF16 4x", "BF16 4 =", "BF16 4x4 zeros", "BF16 -1"])
def test_a_malformed_line_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no tensor"):
        parse_line(text)


def test_a_line_is_written_as_it_is_read() -> None:
    for text in ("BF16 7168x21504", "F32 scalar", "I64 4 = 0*4"):
        assert parse_line(text).text == text


def test_braces_expand_with_the_last_range_fastest() -> None:
    assert list(expand("a.{0..1}.b.{9..10}")) == ["a.0.b.9", "a.0.b.10", "a.1.b.9", "a.1.b.10"]


def test_numbered_names_collapse_to_patterns_that_expand_to_the_same_names() -> None:
    names = [f"m.{i}.e.{j}.w" for i in (0, 1, 3) for j in range(12)] + ["m.0.norm", "head", "m.7.8"]
    lines = dict(collapsed((name, "BF16 1") for name in names))
    assert "m.{0..1}.e.{0..11}.w" in lines
    assert len(lines) < len(names)
    assert sorted(name for pattern in lines for name in expand(pattern)) == sorted(names)


def test_values_are_written_in_the_dtype_of_their_tensor() -> None:
    assert encoded((1, -1), "I32") == struct.pack("<2i", 1, -1)
    assert decode(encoded((1, -1, 2049), "F32"), "F32") == (1, -1, 2049)
    assert decode(encoded((1, -1, 2049), "F16"), "F16") == (1, -1, 2048)
    assert decode(encoded((1, -1, 300, 301), "BF16"), "BF16") == (1, -1, 300, 300)


def test_values_of_a_dtype_that_cannot_hold_them_are_refused() -> None:
    for values, dtype in (((1,), "F8_E4M3"), ((300,), "U8"), ((2,), "BOOL"), ((70000,), "F16"), ((10**40,), "BF16")):
        with pytest.raises(UsageError):
            encoded(values, dtype)


# The document


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("abuot = ''", "abuot"),
        ("[layout]\nshards = -1", "shards"),
        ("[opaque]\n'../x' = 1", "opaque"),
        ("[text]\n'/etc/x' = ''", "text"),
        ("config = 3", "config"),
        ("about = ", "Invalid value"),
    ],
)
def test_a_recipe_says_what_is_wrong_with_it(text: str, where: str) -> None:
    with pytest.raises(UsageError, match=where):
        Recipe.parse(text)


def test_toml_is_read_back_unchanged() -> None:
    odd = {"a.txt": "tab\tbell\x07 '''", "b.txt": "\r\n", "c.txt": "x\n'", "d.txt": '\\ "" \x7f é', "e.txt": "\n\nx"}
    recipe = small(text=odd, words=5, truncate={"config.json": 3}, opaque={"x y.pt": 0})
    assert Recipe.parse(recipe.toml()) == recipe


def test_a_config_may_be_absent_or_malformed() -> None:
    assert "config.json" not in small(no_config=True).files()
    broken = small(config='{"a": 1,}')
    assert content(broken, "config.json") == b'{"a": 1,}'
    with pytest.raises(UsageError, match="config"):
        _ = broken.settings


# Files


def test_a_file_is_what_the_format_says() -> None:
    name, values = "model.safetensors", (0, 1, 2, 4)
    tensors = dict(safetensors.deserialize(content(small(), name)))  # type: ignore[no-untyped-call]
    assert {key: (entry["dtype"], entry["shape"]) for key, entry in tensors.items()} == {
        "fc.weight": ("BF16", [4, 12]),
        **{f"layers.{i}.norm.weight": ("F32", [4]) for i in range(3)},
        "d2t": ("I64", [4]),
        "t2d": ("BOOL", [8]),
    }
    assert bytes(tensors["d2t"]["data"]) == struct.pack("<4q", *values)
    assert bytes(tensors["t2d"]["data"]) == bytes([1, 0, 1, 0, 1, 0, 0, 1])
    assert not any(tensors["fc.weight"]["data"])


def test_a_folder_and_memory_hold_the_same_bytes(tmp_path: Path) -> None:
    recipe = small()
    folder = LocalSource(str(recipe.write(tmp_path / "x")), Tally())
    memory = recipe.source()
    assert memory.identity.name == "someone/small"
    assert {path: entry.size for path, entry in folder.files.items()} == {
        path: entry.size for path, entry in memory.files.items()
    }
    for path in memory.files:
        assert folder.read(path) == memory.read(path)


def test_a_large_checkpoint_is_a_hole_on_disk(tmp_path: Path) -> None:
    folder = published.drafter("AQ-MedAI--Kimi-K2-Instruct-eagle3").write(tmp_path)
    status = (folder / "model.safetensors").stat()
    assert status.st_size > 2_000_000_000
    assert status.st_blocks * 512 < 2_000_000


def test_shards_hold_every_tensor_once_where_the_index_says() -> None:
    recipe = Recipe.parse(SMALL.replace("[text]", "[layout]\nshards = 3\nindex = true\n\n[text]"))
    table = checkpoint(recipe.source()).tensors
    assert table.index == "model.safetensors.index.json"
    assert (table.disagreements, table.missing_files, dict(table.duplicates)) == ((), (), {})
    assert table.files == tuple(f"model-{i:05d}-of-00003.safetensors" for i in (1, 2, 3))
    assert Counter(tensor.file for tensor in table.values()) == dict.fromkeys(table.files, 2)
    assert json.loads(content(recipe, table.index))["metadata"]["total_size"] == 96 + 48 + 32 + 8


def test_a_mask_finds_its_map_in_another_shard() -> None:
    recipe = Recipe.parse(SMALL.replace("[text]", "[layout]\nshards = 6\n\n[text]"))
    assert checkpoint(recipe.source()).vocab_map.drafted == (0, 2, 4, 7)


def test_an_index_among_the_text_files_wins() -> None:
    text = '{"weight_map": {"fc.weight": "gone.safetensors"}}'
    recipe = small(text={"model.safetensors.index.json": text})
    assert checkpoint(recipe.source()).tensors.missing_files == ("gone.safetensors",)


def test_a_truncated_file_keeps_its_first_bytes() -> None:
    whole = content(small(), "model.safetensors")
    for size in (0, 5, len(whole) - 3):
        assert content(small(truncate={"model.safetensors": size}), "model.safetensors") == whole[:size]
    for damage in ({"model.safetensors": len(whole) + 1}, {"nothing": 1}):
        with pytest.raises(UsageError):
            small(truncate=damage).files()


def test_without_weights_nothing_is_expanded() -> None:
    endless = Recipe.parse(SMALL.replace('d2t = "I64 4 = spread(8, 7)"', '"a.{0..99999999999}" = "BF16 1"'))
    assert set(endless.without_weights().files()) == {"config.json", "README.md"}
    with pytest.raises(UsageError, match="stands for more than"):
        endless.files()


def test_values_without_end_are_refused() -> None:
    for values in ("I64 4 = 0*99999999999999", "I64 4 = 0..99999999999999", "I64 99999999999999 = zeros"):
        with pytest.raises(UsageError):
            small(tensors={"d2t": values}).files()


def test_a_generated_tokenizer_gives_every_word_one_id() -> None:
    model = json.loads(content(small(words=4), "tokenizer.json"))["model"]
    assert model["vocab"] == {"t0": 0, "t1": 1, "t2": 2, "<unk>": 3}


# Patches


def test_a_patch_changes_the_config_by_pointer() -> None:
    patch = {"/eagle_config/ids/0": 7, "/eagle_config/ids/-": 9, "/a~1b/c": "json:null", "/hidden_size": {"x": True}}
    assert small(set=patch, remove=["/rope_scaling"]).settings == {
        "hidden_size": {"x": True},
        "eagle_config": {"ids": [7, 2, 3, 9]},
        "a/b": {"c": None},
    }


def test_a_config_no_value_of_which_changes_stays_as_written() -> None:
    assert small(prefix="model.").config == Recipe.parse(SMALL).config


@pytest.mark.parametrize(
    "patch",
    [
        {"st": {}},
        {"set": {"no-pointer": 1}},
        {"set": {"/hidden_size/x": 1}},
        {"set": {"/x": "json:{"}},
        {"remove": ["/absent"]},
        {"remove": ["/eagle_config/ids/3"]},
        {"drop": ["absent.*"]},
        {"rename": {"absent": "x"}},
        {"tensors": {"x": "BF16"}},
        {"drop_files": ["absent"]},
        {"config": "{", "remove": ["/x"]},
    ],
)
def test_a_patch_that_does_not_apply_is_refused(patch: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"patch|recipe"):
        small(**patch)


def test_tensors_are_dropped_renamed_reshaped_and_added() -> None:
    patched = small(
        rename={"layers.1.": "midlayer.", "fc.": "encoder."},
        prefix="model.",
        drop=["model.layers.*"],
        tensors={"model.encoder.weight": "BF16 4x8", "new.{0..1}": "I32 2"},
    ).table()
    assert {name: line.text for name, line in patched.items()} == {
        "model.encoder.weight": "BF16 4x8",
        "model.midlayer.norm.weight": "F32 4",
        "model.d2t": "I64 4 = spread(8, 7)",
        "model.t2d": "BOOL 8 = matches(d2t)",
        "new.0": "I32 2",
        "new.1": "I32 2",
    }


def test_one_tensor_of_a_pattern_can_be_replaced() -> None:
    table = small(tensors={"layers.1.norm.weight": "F32 5"}).table()
    assert [table[f"layers.{i}.norm.weight"].shape for i in range(3)] == [(4,), (5,), (4,)]


@pytest.mark.parametrize("patch", [{"drop": ["d2t"]}, {"tensors": {"d2t": "I64 4 = zeros"}}, {"prefix": "model."}])
def test_a_mask_keeps_its_values_whatever_becomes_of_the_map(patch: dict[str, object]) -> None:
    assert checkpoint(small(**patch).source()).vocab_map.drafted == (0, 2, 4, 7)


def test_files_are_replaced_and_left_out() -> None:
    files = small(drop_files=["README.md", "model.safetensors"], opaque={"pytorch_model.bin": 7}, name="b/c")
    assert files.name == "b/c"
    assert set(files.files()) == {"config.json", "pytorch_model.bin"}
    assert files.source().files["pytorch_model.bin"].size == 7


# From a checkpoint back to a recipe


def test_a_recorded_recipe_gives_the_same_checkpoint() -> None:
    original = Recipe.parse(SMALL.replace("[text]", "[layout]\nshards = 2\nindex = true\n\n[text]"))
    recorded = record(checkpoint(original.source()))
    assert Recipe.parse(recorded.toml()) == recorded
    assert {name: content(recorded, name) for name in recorded.files()} == {
        name: content(original, name) for name in original.files()
    }


def test_a_name_that_a_recipe_would_take_for_a_range_is_not_recorded() -> None:
    header, _ = safetensors_header({"a.{0..1}": ("BF16", (1,))})
    source = MemorySource("x", {"model.safetensors": VirtualFile(len(header) + 2, ((0, header),))})
    with pytest.raises(UsageError, match="cannot be written"):
        record(checkpoint(source))


def test_weights_that_are_not_opened_are_recorded_by_their_size() -> None:
    """With and without a safetensors file beside them."""
    for gone in ([], ["model.safetensors"]):
        original = small(drop_files=gone, opaque={"pytorch_model.bin": 1234, "optimizer.pt": 9})
        assert record(checkpoint(original.source())).opaque == {"pytorch_model.bin": 1234}


def test_what_cannot_be_read_is_not_recorded_as_if_it_were_absent() -> None:
    recorded = record(checkpoint(small(drop_files=["model.safetensors"]).source()))
    assert recorded.tensors == {}
    with pytest.raises(Unavailable):
        record(checkpoint(small(truncate={"model.safetensors": 20}).source()))


# The fixtures


@pytest.mark.parametrize("name", published.drafters())
def test_a_published_drafter_is_a_true_checkpoint(name: str) -> None:
    recipe = published.drafter(name)
    assert Recipe.parse(recipe.toml()) == recipe
    assert recipe.about
    assert recipe.sourced
    assert recipe.computed
    assert recipe.name == ("" if name.startswith("made-up--") else name.replace("--", "/"))
    read = checkpoint(recipe.source())
    assert dict(read.config.value) == recipe.settings
    if not recipe.tensors:
        return
    assert {tensor: (entry.dtype, entry.shape) for tensor, entry in read.tensors.items()} == {
        tensor: (line.dtype, line.shape) for tensor, line in recipe.table().items()
    }
    drafted, vocabulary = recipe.settings.get("draft_vocab_size"), read.vocab_map
    assert (vocabulary.d2t is None) == (drafted in {None, _vocabulary(recipe)})
    if vocabulary.targets is not None:
        assert len(set(vocabulary.targets)) == drafted
        assert list(vocabulary.targets) == sorted(vocabulary.targets)
        assert vocabulary.drafted in {None, vocabulary.targets}


def _vocabulary(recipe: Recipe) -> object:
    layer = recipe.settings.get("transformer_layer_config", recipe.settings)
    assert isinstance(layer, dict)
    return layer["vocab_size"]


@pytest.mark.parametrize("name", published.targets())
def test_a_published_target_is_a_true_checkpoint(name: str) -> None:
    recipe = published.target(name)
    assert Recipe.parse(recipe.toml()) == recipe
    assert recipe.name == name.replace("--", "/")
    assert recipe.sourced
    source = (recipe if len(recipe.table()) < 10_000 else recipe.without_weights()).source()
    read = checkpoint(source)
    assert dict(read.config.value) == recipe.settings
    if recipe.shards and "model.safetensors.index.json" in source.files:
        assert read.tensors.disagreements == ()
        assert len(read.tensors.files) == recipe.shards


def test_every_published_drafter_stands_beside_its_target() -> None:
    right = [pair for pair in published.pairs() if not pair.wrong]
    assert {pair.drafter for pair in published.pairs()} <= set(published.drafters())
    assert {pair.target for pair in published.pairs()} <= set(published.targets())
    assert {pair.drafter for pair in right} == set(published.drafters())
    # A head is made for one target; a language model drafts for any of its tokenizer.
    heads = Counter(pair.drafter for pair in right if not pair.drafter.startswith(("Qwen--", "meta-llama--")))
    assert set(heads.values()) == {1}
    for pair in right:
        claimed = [
            at.value for at in checkpoint(published.drafter(pair.drafter).without_weights().source()).card_front_matter
        ]
        assert claimed in ([], [pair.target.replace("--", "/")])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("nvidia--Kimi-K2.5-Thinking-Eagle3", 1.84e9),
        ("yuhuili--EAGLE-LLaMA3-Instruct-8B", 0.25e9 + 128256 * 4096),
        ("nebius--EAGLE3-gpt-oss-20b", 350e6),
        ("meta-llama--Llama-3.2-1B-Instruct", 1.23e9),
        ("Qwen--Qwen2.5-0.5B-Instruct", 0.49e9),
        ("Qwen--Qwen3-0.6B", 0.6e9),
    ],
)
def test_a_reconstruction_has_the_documented_number_of_parameters(name: str, parameters: float) -> None:
    table = published.drafter(name).table()
    weights = sum(line.elements for tensor, line in table.items() if tensor not in {"d2t", "t2d"})
    assert weights == pytest.approx(parameters, rel=0.02)


def test_the_largest_target_is_as_large_as_the_real_one() -> None:
    recipe, files = published.target("moonshotai--Kimi-K2.5"), published.target_files("moonshotai--Kimi-K2.5")
    size = sum(file.size for file in files.values() if isinstance(file, VirtualFile))
    assert len(recipe.table()) > 208_000
    assert sum(name.endswith(".safetensors") for name in files) == 64
    assert 590e9 < size < 600e9


def test_the_truth_is_complete() -> None:
    cases = load_cases()
    assert len(cases) == 365
    assert sum(len(run.versions) for case in cases for run in case.runs) == 2805
    assert Counter(case.family for case in cases) == {"eagle": 347, "other": 18}
    for case in cases:
        runs = [(run.engine, version) for run in case.runs for version in run.versions]
        assert len(runs) == len(set(runs)), case.id
        for note in case.says_nothing:
            assert {(note.engine, version) for version in note.versions} <= set(runs), case.id
            assert set(note.about) <= set(type(case.runs[0]).model_fields), case.id


def test_the_truth_pairs_are_checkpoints(tmp_path: Path) -> None:
    for case in load_cases():
        drafter, target = case.write(tmp_path / case.id)
        assert (target / "tokenizer.json").is_file()
        assert (drafter == target) == case.drafter_is_target
        read = checkpoint(case.drafter.source())
        assert dict(read.config.value) == case.drafter.settings
        if case.drafter.truncate or not case.drafter.tensors or INDEX in case.drafter.text:  # one that is out of date
            continue
        values = {name: line for name, line in case.drafter.table().items() if line.values}
        d2t = next((name for name in values if name.rpartition(".")[2] == "d2t"), None)
        assert read.vocab_map.d2t == (case.drafter.values(d2t) if d2t else None), case.id
        assert len(read.tensors) == len(case.drafter.table())
