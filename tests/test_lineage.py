"""Was this drafter trained on this target: rows held together, claims held together, and what it all costs."""

from __future__ import annotations

import json
import math
import random
import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest

import published
from drafter_lint import check
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.rows import cosine, equal
from drafter_lint.drafters.recognise import recognise
from drafter_lint.findings import Confidence, Finding, Role, Skip
from drafter_lint.lineage import Kinship, Lineage
from drafter_lint.linter import EngineChoice, Selection, check_alone, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.sources import MemorySource, VirtualFile
from drafter_lint.targets import read_target
from hub_pairs import COMMITS, DRAFTER, TARGET, Answer, CountingHub, run
from loopback_hub import Content, LoopbackHub, Repo

HIDDEN, VOCABULARY, DRAFTED = 16, 64, 8
Matrix = list[list[float]]
Entry = tuple[str, tuple[int, ...], bytes]
WORDS = ("check", DRAFTER, "--target", TARGET, "--engine", "sglang==0.5.23", "--format", "json")


# Small checkpoints, their bytes written by hand.


def bf16(value: float) -> bytes:
    """The upper half of a float, rounded to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return int((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).to_bytes(2, "little")


def matrix(seed: int, *, rows: int = VOCABULARY, columns: int = HIDDEN, near: Matrix | None = None) -> Matrix:
    """Random rows, or such that are near those of another matrix; every value is one of BF16 and of F16."""
    drawn = random.Random(seed)
    made = [[drawn.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]
    if near is not None:
        made = [[b + a / 20 for a, b in zip(row, other, strict=True)] for row, other in zip(made, near, strict=True)]
    return [[round(value * 16) / 16 for value in row] for row in made]


def packed(rows: Matrix, dtype: str) -> bytes:
    """The matrix as a file has it."""
    values = [value for row in rows for value in row]
    if dtype == "BF16":
        return b"".join(map(bf16, values))
    return struct.pack(f"<{len(values)}{'e' if dtype == 'F16' else 'f'}", *values)


def safetensors(entries: Mapping[str, Entry]) -> bytes:
    """A file of tensors."""
    header: dict[str, object] = {}
    data = b""
    for name, (dtype, shape, content) in entries.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(rows: Matrix, dtype: str = "BF16") -> Entry:
    """A matrix as an entry of a file."""
    return dtype, (len(rows), len(rows[0])), packed(rows, dtype)


def drafter_files(
    *, embedding: Matrix | None = None, head: Matrix | None = None, dtype: str = "BF16", d2t: Sequence[int] = ()
) -> dict[str, Content]:
    """An EAGLE-3 drafter with an embedding or a head of its own, or with none."""
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "num_hidden_layers": 1,
        "vocab_size": VOCABULARY,
        "draft_vocab_size": len(d2t) or VOCABULARY,
    }
    entries: dict[str, Entry] = {
        "fc.weight": entry(matrix(0, rows=HIDDEN, columns=3 * HIDDEN)),
        "midlayer.hidden_norm.weight": ("BF16", (HIDDEN,), bytes(2 * HIDDEN)),
    }
    if embedding:
        entries["embed_tokens.weight"] = entry(embedding, dtype)
    if head:
        entries["lm_head.weight"] = entry(head, dtype)
    if d2t:
        entries["d2t"] = ("I64", (len(d2t),), struct.pack(f"<{len(d2t)}q", *d2t))
    return {"config.json": json.dumps(config).encode(), "model.safetensors": safetensors(entries)}


def target_files(
    embedding: Matrix | None,
    *,
    head: Matrix | None = None,
    dtype: str = "BF16",
    name: str = "model.embed_tokens.weight",
    config: Mapping[str, object] | None = None,
) -> dict[str, Content]:
    """A target with these matrices and nothing else in it."""
    whole = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "num_hidden_layers": 8,
        "num_attention_heads": 2,
        "vocab_size": VOCABULARY,
        **(config or {}),
    }
    entries: dict[str, Entry] = {"model.norm.weight": ("BF16", (HIDDEN,), bytes(2 * HIDDEN))}
    if embedding:
        entries[name] = entry(embedding, dtype)
    if head:
        entries["lm_head.weight"] = entry(head, dtype)
    return {"config.json": json.dumps(whole).encode(), "model.safetensors": safetensors(entries)}


def opened(files: Mapping[str, Content], role: Role, name: str, *, kind: Literal["hub", "local"] = "hub") -> Checkpoint:
    """A checkpoint held in memory."""
    return Checkpoint(Reference(spelling=name, kind=kind, name=name), MemorySource(name, files), role=role)


def kinship(
    drafter: Mapping[str, Content],
    target: Mapping[str, Content],
    *,
    compare: bool = True,
    kind: Literal["hub", "local"] = "hub",
) -> Kinship | None:
    """What the rows of a pair say; ``kind``: where the target comes from."""
    read = read_target(opened(target, "target", TARGET, kind=kind))
    return Lineage(recognise(opened(drafter, "drafter", DRAFTER)).drafter, read, compare=compare).kinship


def said(
    drafter: Mapping[str, Content],
    target: Mapping[str, Content],
    *,
    names: tuple[str, str] = (DRAFTER, TARGET),
    rule: str = "DFL802",
) -> tuple[list[Finding], list[Skip]]:
    """What a rule of provenance says of a pair, doubts included."""
    pair = understand(opened(drafter, "drafter", names[0]), opened(target, "target", names[1]))
    chosen = Selection(select=(rule,), min_confidence=Confidence.POSSIBLE)
    made = check_pair(pair, EngineChoice(name="sglang", version="0.5.23"), selection=chosen)
    return list(made.findings), [item for item in made.not_checked if item.code == rule]


# Rows.


def test_bytes_written_here_are_read_there() -> None:
    """What this file writes by hand, against struct: 1.0 and -2.5 in two bytes."""
    assert bf16(1.0) + bf16(-2.5) == struct.pack("<f", 1.0)[2:] + struct.pack("<f", -2.5)[2:]


@pytest.mark.parametrize("ours", ["BF16", "F16", "F32"])
@pytest.mark.parametrize("theirs", ["BF16", "F16", "F32"])
def test_the_targets_own_rows_in_any_dtype(ours: str, theirs: str) -> None:
    own = matrix(1)
    found = kinship(drafter_files(embedding=own, dtype=ours), target_files(own, dtype=theirs))
    assert found
    assert (found.kind, found.part, found.cosines) == ("equal", "embedding", (1.0, 1.0))
    assert len(found.ids) > 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("F32", 0.1), ("BF16", 0.10009765625), True),  # 0.1 rounded to eight bits of mantissa
        (("F32", 0.1), ("BF16", 0.099609375), False),
        (("F32", 0.1), ("F16", 0.0999755859375), True),
        (("F16", 0.0999755859375), ("BF16", 0.10009765625), True),
        (("F16", math.inf), ("BF16", 131072.0), True),  # over what F16 can hold
        (("F16", 0.0), ("BF16", 2.0**-30), True),  # below it
        (("F32", 1.0), ("F32", 1.0000001192092896), False),
    ],
)
def test_equal_is_a_cast_away(one: tuple[str, float], other: tuple[str, float], *, same: bool) -> None:
    """Whichever side was cast, and nothing more than that."""
    assert equal([one[1]], [other[1]], dtypes=(one[0], other[0])) is same
    assert equal([other[1]], [one[1]], dtypes=(other[0], one[0])) is same


def test_a_cosine() -> None:
    assert cosine([3.0, 4.0], [4.0, 3.0]) == pytest.approx(24 / 25)
    assert cosine([1.0, 0.0], [0.0, 2.0]) == 0.0


def test_close_rows() -> None:
    """Those of a sibling, or trained further."""
    own = matrix(1)
    found = kinship(drafter_files(embedding=matrix(2, near=own)), target_files(own))
    assert found
    assert found.kind == "close"
    assert 0.99 < found.cosines[0] <= found.cosines[1] < 1.0


def test_one_row_that_differs_is_enough() -> None:
    """Fine-tuning moves the rows of some pieces and not of others."""
    own = matrix(1)
    theirs = [list(row) for row in own]
    theirs[VOCABULARY // 4 + 1][0] += 0.5
    found = kinship(drafter_files(embedding=own), target_files(theirs))
    assert found
    assert found.kind == "close"


def test_unrelated_rows() -> None:
    found = kinship(drafter_files(embedding=matrix(1)), target_files(matrix(2)))
    assert found
    assert found.kind == "unrelated"
    assert max(map(abs, found.cosines)) < 0.8
    assert found.drafter
    assert found.target
    assert (found.drafter.tensor, found.target.tensor) == ("embed_tokens.weight", "model.embed_tokens.weight")


def test_the_same_rows_every_time() -> None:
    made = [kinship(drafter_files(embedding=matrix(1)), target_files(matrix(2))) for _ in range(2)]
    assert made[0] == made[1]


def test_rows_of_a_head_stand_for_the_ids_of_the_map() -> None:
    """Drafted are 20 to 23, 40 to 43: the row of an id is found behind the map."""
    ids = [20, 21, 22, 23, 40, 41, 42, 43]
    whole = matrix(1)
    offsets = [target - row for row, target in enumerate(ids)]
    mine = drafter_files(head=[whole[target] for target in ids], d2t=offsets)
    found = kinship(mine, target_files(matrix(3), head=whole))
    assert found
    assert (found.kind, found.part, found.ids) == ("equal", "head", (20, 21, 22, 23))
    tied = target_files(whole, config={"tie_word_embeddings": True})
    assert (found := kinship(mine, tied)) is not None
    assert found.kind == "equal"


def test_a_map_without_neighbours_gives_one_row() -> None:
    ids = list(range(1, VOCABULARY, 8))
    whole = matrix(1)
    mine = drafter_files(head=[whole[target] for target in ids], d2t=[target - row for row, target in enumerate(ids)])
    found = kinship(mine, target_files(matrix(3), head=whole))
    assert found
    assert (found.kind, found.ids) == ("equal", (17,))


def test_a_map_that_leads_nowhere() -> None:
    mine = drafter_files(head=matrix(1, rows=DRAFTED), d2t=[900] * DRAFTED)
    found = kinship(mine, target_files(matrix(3), head=matrix(1)))
    assert found
    assert found.kind is None
    assert "stand for is not known" in found.reason


# What is not compared, and why.


def no_rows(drafter: Mapping[str, Content], target: Mapping[str, Content], *, compare: bool = True) -> str:
    """Why nothing was compared."""
    found = kinship(drafter, target, compare=compare)
    assert found
    assert found.kind is None
    return found.reason


def test_a_hole_is_no_data() -> None:
    """Folders made from recipes hold zeros where nothing is known."""
    hole = [[0.0] * HIDDEN] * VOCABULARY
    own = matrix(1)
    assert "nothing but zeros: there is no data" in no_rows(drafter_files(embedding=hole), target_files(own))
    assert "nothing but zeros" in no_rows(drafter_files(embedding=own), target_files(hole))
    assert "nothing but zeros" in no_rows(drafter_files(embedding=hole), target_files(hole))


def test_a_row_of_zeros_is_left_out_and_the_others_count() -> None:
    own = matrix(1)
    theirs = [list(row) for row in own]
    theirs[VOCABULARY // 4] = [0.0] * HIDDEN
    found = kinship(drafter_files(embedding=own), target_files(theirs))
    assert found
    assert found.kind == "equal"


def test_what_is_no_number_is_not_compared() -> None:
    broken = [[math.nan] * HIDDEN] * VOCABULARY
    assert "no numbers" in no_rows(drafter_files(embedding=matrix(1)), target_files(broken))


def test_fewer_than_sixteen_bits() -> None:
    files = target_files(None)
    files["model.safetensors"] = safetensors(
        {"model.embed_tokens.weight": ("F8_E4M3", (VOCABULARY, HIDDEN), bytes(VOCABULARY * HIDDEN))}
    )
    assert no_rows(drafter_files(embedding=matrix(1)), files) == (
        "model.embed_tokens.weight of the target is stored as F8_E4M3"
    )


def test_a_quantised_target_is_believed_only_where_it_agrees() -> None:
    """Some ways of quantising turn the embedding; none makes it another one's."""
    own = matrix(1)
    fp8 = {"quantization_config": {"quant_method": "fp8"}}
    found = kinship(drafter_files(embedding=own), target_files(own, config=fp8))
    assert found
    assert found.kind == "equal"
    assert "stored with fp8" in no_rows(drafter_files(embedding=own), target_files(matrix(2), config=fp8))


def test_a_target_without_such_a_tensor() -> None:
    assert "does not show in the one read" in no_rows(drafter_files(embedding=matrix(1)), target_files(None))
    assert "does not show" in no_rows(drafter_files(embedding=matrix(1)), target_files(matrix(1, columns=8)))
    few = no_rows(drafter_files(embedding=matrix(1)), target_files(matrix(1, rows=8)))
    assert few.startswith("model.embed_tokens.weight of the target has 8 rows, too few for id ")


def test_a_target_in_a_format_that_is_not_opened() -> None:
    files = target_files(None)
    del files["model.safetensors"]
    assert "its only weights are model.Q4_K_M.gguf" in no_rows(
        drafter_files(embedding=matrix(1)), {**files, "model.Q4_K_M.gguf": b"GGUF"}
    )
    assert "no weight file" in no_rows(drafter_files(embedding=matrix(1)), files)


def test_turned_off_nothing_is_read() -> None:
    files = drafter_files(embedding=matrix(1))
    source = MemorySource(TARGET, target_files(matrix(1)))
    target = read_target(Checkpoint(Reference(spelling=TARGET, kind="hub", name=TARGET), source, role="target"))
    before = source._tally.bytes
    lineage = Lineage(recognise(opened(files, "drafter", DRAFTER)).drafter, target, compare=False)
    assert lineage.kinship
    assert lineage.kinship.reason == "comparing rows was turned off"
    assert source._tally.bytes == before


def test_an_embedding_of_its_own_width_has_no_counterpart() -> None:
    assert kinship(drafter_files(), target_files(matrix(1))) is None
    narrow = drafter_files(embedding=matrix(1, columns=8))
    assert kinship(narrow, target_files(matrix(1))) is None
    assert said(narrow, target_files(matrix(1))) == ([], [])


@pytest.mark.parametrize(
    "name",
    [
        "model.embed_tokens.weight",
        "language_model.model.embed_tokens.weight",
        "model.language_model.embed_tokens.weight",
        "transformer.wte.weight",
        "model.word_embeddings.weight",
        "backbone.embeddings.weight",
        "tok_embeddings.weight",
    ],
)
def test_an_embedding_by_whatever_name(name: str) -> None:
    own = matrix(1)
    found = kinship(drafter_files(embedding=own), target_files(own, name=name))
    assert found
    assert found.kind == "equal"


# What the rules make of it.


def test_equal_rows_are_silent_close_ones_a_doubt_unrelated_ones_a_finding() -> None:
    own = matrix(1)
    assert said(drafter_files(embedding=own), target_files(own)) == ([], [])
    ((close,), skips) = said(drafter_files(embedding=matrix(2, near=own)), target_files(own))
    assert (close.confidence, skips) == (Confidence.POSSIBLE, [])
    assert "is close to the target's and not equal (8 rows from id 16, cosines 0.99" in close.message
    assert close.message.endswith("): a sibling's, or trained further")
    ((unrelated,), _) = said(drafter_files(embedding=matrix(2)), target_files(own))
    assert unrelated.confidence is Confidence.LIKELY
    assert "the drafter's embedding is unrelated to the target's" in unrelated.message
    assert unrelated.measured["ids"] == list(range(VOCABULARY // 4, VOCABULARY // 4 + 8))


def test_unrelated_rows_of_another_number_are_a_doubt() -> None:
    ((found,), _) = said(drafter_files(embedding=matrix(1, rows=80)), target_files(matrix(2)))
    assert found.confidence is Confidence.POSSIBLE


def test_a_head_of_its_own_says_nothing_by_being_another() -> None:
    """Heads are trained from nothing."""
    mine = drafter_files(head=matrix(1))
    assert said(mine, target_files(matrix(3), head=matrix(2))) == ([], [])


UNDATED = ("lab/Qwen3-235B-A22B-EAGLE3", "Qwen/Qwen3-235B-A22B-Instruct-2507")


@pytest.mark.parametrize("part", ["embedding", "head"])
def test_equal_rows_end_a_doubt_about_names(part: str) -> None:
    own = matrix(1)
    mine = drafter_files(embedding=own) if part == "embedding" else drafter_files(head=own)
    theirs = target_files(own, head=own)
    assert said(mine, theirs, names=UNDATED, rule="DFL801") == ([], [])
    other = target_files(matrix(2), head=matrix(2))
    ((found,), _) = said(mine, other, names=UNDATED, rule="DFL801")
    assert found.confidence is Confidence.POSSIBLE


def test_equal_rows_make_a_doubt_of_what_only_a_name_says() -> None:
    own = matrix(1)
    names = ("lab/Kimi-K2-Instruct-eagle3", "moonshotai/Kimi-K2.5")
    ((plain,), _) = said(drafter_files(embedding=matrix(2)), target_files(own), names=names, rule="DFL801")
    ((equal_rows,), _) = said(drafter_files(embedding=own), target_files(own), names=names, rule="DFL801")
    assert (plain.confidence, equal_rows.confidence) == (Confidence.LIKELY, Confidence.POSSIBLE)


def test_equal_rows_do_not_outweigh_a_field_made_for_it() -> None:
    """Siblings may share an embedding; a field that names another one stays what it is."""
    own = matrix(1)
    mine = drafter_files(embedding=own)
    mine["README.md"] = b"---\nbase_model: moonshotai/Kimi-K2-Instruct\n---\n"
    ((found,), _) = said(mine, target_files(own), names=("lab/out-7", "moonshotai/Kimi-K2.5"), rule="DFL801")
    assert found.confidence is Confidence.LIKELY
    assert found.message.endswith("; rows of its embedding are the target's, which siblings may share")


def test_where_names_say_nothing_the_rows_are_told() -> None:
    own = matrix(1)
    ((), (skip,)) = said(drafter_files(embedding=own), target_files(own), rule="DFL801")
    assert skip.reason.endswith("which target it was trained for; rows of its embedding are the target's")


# Claims, graded and put together.


def with_claims(*, card: str = "", config: Mapping[str, object] | None = None) -> dict[str, Content]:
    """A drafter without matrices of its own that claims something."""
    files = drafter_files()
    document = files["config.json"]
    assert isinstance(document, bytes)
    files["config.json"] = json.dumps({**json.loads(document), **(config or {})}).encode()
    return files | ({"README.md": card.encode()} if card else {})


TEXT = "# A drafter\n\nIt is a draft model for `moonshotai/Kimi-K2-Instruct`.\n"
COMMAND = (
    "# A drafter\n\n```bash\npython3 -m sglang.launch_server \\\n    --model-path /models/Kimi-K2-Instruct \\\n"
    "    --speculative-algorithm EAGLE3 --speculative-draft-model-path lab/out-eagle3\n```\n"
)


@pytest.mark.parametrize(
    ("files", "name", "confidence", "source"),
    [
        (with_claims(config={"target_model_name_or_path": "moonshotai/Kimi-K2-Instruct"}), "lab/out", "likely", "targ"),
        (with_claims(card="---\nbase_model: moonshotai/Kimi-K2-Instruct\n---\n"), "lab/out", "likely", "model card"),
        (with_claims(), "lab/Kimi-K2-Instruct-eagle3", "likely", "its own name"),
        (with_claims(card=TEXT), "lab/out", "possible", "the text of its card"),
        (with_claims(card=COMMAND), "lab/out", "possible", "the text of its card"),
        (with_claims(config={"_name_or_path": "moonshotai/Kimi-K2-Instruct"}), "lab/out", "possible", "_name_or_path"),
    ],
)
def test_every_kind_of_claim_is_graded(files: Mapping[str, Content], name: str, confidence: str, source: str) -> None:
    target = target_files(None)
    ((found,), _) = said(files, target, names=(name, "moonshotai/Kimi-K2.5"), rule="DFL801")
    assert found.confidence == confidence
    assert str(found.measured["source"]).startswith(source)
    for copy in (
        "unsloth/Kimi-K2-Instruct-GGUF",
        "RedHatAI/Kimi-K2-Instruct-FP8-dynamic",
        "moonshotai/Kimi-K2-Instruct",
    ):
        assert said(files, target, names=(name, copy), rule="DFL801") == ([], [])


def test_claims_that_agree_are_told_together() -> None:
    files = with_claims(card="---\nbase_model: moonshotai/Kimi-K2-Instruct\n---\n" + TEXT)
    names = ("lab/Kimi-K2-Instruct-eagle3", "moonshotai/Kimi-K2.5")
    ((found,), _) = said(files, target_files(None), names=names, rule="DFL801")
    assert found.message == (
        "the drafter was trained for moonshotai/Kimi-K2-Instruct (by model card base_model, its own name and the text "
        "of its card); the target is moonshotai/Kimi-K2.5 (version k2 against k2.5)"
    )
    assert found.measured["claims"] == {
        "model card base_model": "moonshotai/Kimi-K2-Instruct",
        "its own name": "lab/Kimi-K2-Instruct-eagle3",
        "the text of its card": "moonshotai/Kimi-K2-Instruct",
    }


def test_a_weaker_claim_that_fits_leaves_a_doubt() -> None:
    files = with_claims(config={"target_model_name_or_path": "moonshotai/Kimi-K2-Instruct"})
    names = ("lab/kimi-k2.5-eagle3", "moonshotai/Kimi-K2.5")
    ((found,), _) = said(files, target_files(None), names=names, rule="DFL801")
    assert found.confidence is Confidence.POSSIBLE


def test_a_stronger_claim_that_fits_is_enough() -> None:
    files = with_claims(config={"target_model_name_or_path": "moonshotai/Kimi-K2.5"}, card=TEXT)
    names = ("lab/kimi-k2.6-eagle3", "moonshotai/Kimi-K2.5")
    assert said(files, target_files(None), names=names, rule="DFL801") == ([], [])


@pytest.mark.parametrize(
    "text",
    [
        "Trained with SGLang on ShareGPT.",
        "A draft model for fast chat.",
        "A draft model of Llama layers.",
        "Continued from lightseekorg/kimi-k2.6-eagle3-mla.",
        "vllm serve moonshotai/Kimi-K2.5\n\nvllm serve moonshotai/Kimi-K2.6",
        "--model-path lab/kimi-k2.6-eagle3",
    ],
)
def test_a_card_that_names_no_target_or_several(text: str) -> None:
    """Data sets, drafters and a choice of targets are no claim."""
    assert not recognise(opened(with_claims(card=text), "drafter", "lab/out")).drafter.claims


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (1, "It accelerates the inference of the **Kimi-K2.5** family."),
        (1, "vllm serve moonshotai/Kimi-K2.5 --speculative-config '{}'"),
        (3, "---\nlicense: mit\nA speculator model for the [moonshotai/Kimi-K2.5](https://example.org).\n"),
        (1, "Designed for `moonshotai/Kimi-K2.5`."),
    ],
)
def test_a_card_names_its_target_where_it_stands(line: int, text: str) -> None:
    (claim,) = recognise(opened(with_claims(card=text), "drafter", "lab/out")).drafter.claims
    assert claim.strength == "told"
    assert (claim.target.value.split("/")[-1], claim.target.at.line) == ("Kimi-K2.5", line)
    assert claim.target.at.text
    assert claim.target.at.column
    assert claim.target.at.text[claim.target.at.column - 1 :].startswith(claim.target.value)


def test_a_card_that_lists_another_verifier() -> None:
    """A card copied from another drafter's; one that was published said so of a drafter for Maverick."""
    card = "# A drafter\n\n- **Verifier:** [Qwen/Qwen3-32B](https://example.org)\n- **Algorithm:** EAGLE-3\n"
    files = with_claims(card=card)
    pair = understand(opened(files, "drafter", "lab/Llama-4-Maverick-17B-128E-Instruct-speculator.eagle3"), None)
    (found,) = check_alone(pair, selection=Selection(select=("DFL803",))).findings
    assert found.confidence is Confidence.LIKELY
    assert "trained for Qwen/Qwen3-32B by the verifier its card lists" in found.message
    assert (found.locations[0].file, found.locations[0].line, found.locations[0].column) == ("README.md", 3, 18)


@pytest.mark.parametrize(
    ("verifier", "base", "confidence"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-14B", "likely"),
        ("Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-30B-A3B-Instruct-2507", "likely"),
        ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct", "likely"),
        ("moonshotai/Kimi-K2.5", "nvidia/Kimi-K2.5-NVFP4", None),
        ("Qwen/Qwen3-8B", "RedHatAI/Qwen3-8B-FP8-dynamic", None),
        ("/data/checkpoints/7", "Qwen/Qwen3-8B", None),
    ],
)
def test_two_fields_that_disagree(verifier: str, base: str, confidence: str | None) -> None:
    """Two models contradict each other, a copy and its model do not."""
    config = {"speculators_config": {"verifier": {"name_or_path": verifier}}}
    files = with_claims(config=config, card=f"---\nbase_model: {base}\n---\n")
    chosen = Selection(select=("DFL803",), min_confidence=Confidence.POSSIBLE)
    found = check_alone(understand(opened(files, "drafter", "lab/out"), None), selection=chosen).findings
    assert [item.confidence for item in found] == ([confidence] if confidence else [])
    if confidence:
        assert f"trained for {verifier} by speculators_config.verifier.name_or_path" in found[0].message
        assert f"for {base} by model card base_model" in found[0].message
        assert [place.file for place in found[0].locations] == ["config.json", "README.md"]


def test_several_models_in_one_place_do_not_contradict_each_other() -> None:
    card = "---\nbase_model:\n  - moonshotai/Kimi-K2.5\n  - moonshotai/Kimi-K2.6\n---\n"
    files = with_claims(card=card, config={"target_model_name_or_path": "moonshotai/Kimi-K2.6"})
    chosen = Selection(select=("DFL803",), min_confidence=Confidence.POSSIBLE)
    assert check_alone(understand(opened(files, "drafter", "lab/out"), None), selection=chosen).findings == ()


# On the Hub: what it costs, and what it says of faults.


def skipped(answer: Answer) -> list[str]:
    """What the rule says."""
    return [line for line in answer.said if line.startswith("DFL802")]


def filled(files: Mapping[str, Content], path: str, name: str, value: bytes) -> dict[str, Content]:
    """Files in which the rows of a matrix that would be read hold something."""
    content = files[path]
    assert isinstance(content, VirtualFile)
    size = int.from_bytes(content.span(0, 8), "little")
    header = json.loads(content.span(8, size))
    start, _ = header[name]["data_offsets"]
    rows = (8 + size + start + 1000 * header[name]["shape"][1] * 2, value)
    return {**files, path: VirtualFile(content.size, (*content.parts, rows))}


FIRST = {
    "moonshotai--Kimi-K2.5": "model-00001-of-00064.safetensors",
    "moonshotai--Kimi-K2-Instruct": "model.safetensors",
}
DATA = packed(matrix(1, rows=3, columns=7168), "BF16")


@pytest.fixture(scope="module")
def large() -> dict[str, dict[str, Content]]:
    """A drafter that ships an embedding, and full-size targets with the same rows; the founding one has 64 shards."""
    drafter = published.drafter("lightseekorg--kimi-k2.5-eagle3").files()
    made = {DRAFTER: filled(drafter, "model.safetensors", "embed_tokens.weight", DATA)}
    for name, path in FIRST.items():
        made[name] = filled(published.target_files(name), path, embedding_of(name), DATA)
    return made


def embedding_of(target: str) -> str:
    """What the target calls its embedding."""
    return f"{'language_model.' if target.endswith('K2.5') else ''}model.embed_tokens.weight"


def pair_of(drafter: Mapping[str, Content], target: Mapping[str, Content]) -> dict[str, Repo]:
    """Two repositories."""
    return {
        DRAFTER: {"commit": COMMITS["drafter"], "files": drafter},
        TARGET: {"commit": COMMITS["target"], "files": target},
    }


def cost(repos: Mapping[str, Repo], *options: str) -> tuple[Answer, int, int]:
    """A cold check: what it said, its requests, and the bytes sent."""
    with CountingHub(repos) as hub:
        answer = run(*WORDS, *options)
        return answer, len(hub.requests), hub.sent.bytes


@pytest.mark.parametrize(
    ("target", "extra", "reason"),
    [
        ("moonshotai--Kimi-K2-Instruct", 4, ""),
        # Its embedding stands behind thousands of experts in a header of a megabyte.
        ("moonshotai--Kimi-K2.5", 3, "the target's embedding does not show in the one read"),
    ],
)
def test_it_costs_four_requests_and_two_hundred_kilobytes_at_most(
    large: Mapping[str, dict[str, Content]], target: str, extra: int, reason: str
) -> None:
    repos = pair_of(large[DRAFTER], large[target])
    without, requests, sent = cost(repos, "--no-fingerprint")
    with_it, more_requests, more_sent = cost(repos)
    assert more_requests - requests == extra
    assert 0 < more_sent - sent <= 200_000
    assert more_requests <= 14
    assert more_sent <= 1_200_000
    assert skipped(without) == ["DFL802 comparing rows was turned off"]
    assert [line.partition(" ")[2][: len(reason)] for line in skipped(with_it)] == ([reason] if reason else [])
    print(f"\n{target}: {extra} more requests, {more_sent - sent} more bytes; {more_requests} requests in all")  # noqa: T201


def test_a_hole_ends_it_after_one_request(large: Mapping[str, dict[str, Content]]) -> None:
    hole = published.drafter("lightseekorg--kimi-k2.5-eagle3").files()
    repos = pair_of(hole, large["moonshotai--Kimi-K2-Instruct"])
    _, requests, _ = cost(repos, "--no-fingerprint")
    answer, more, _ = cost(repos)
    assert more - requests == 1
    assert "nothing but zeros" in skipped(answer)[0]


def test_in_a_folder_the_target_is_searched_to_its_end(large: Mapping[str, dict[str, Content]]) -> None:
    """There a read costs next to nothing."""
    found = kinship(large[DRAFTER], large["moonshotai--Kimi-K2.5"], kind="local")
    assert found
    assert (found.kind, found.ids) == ("equal", (1000, 1001, 1002))
    assert found.target
    assert found.target.file == "model-00001-of-00064.safetensors"


def test_rows_that_differ_on_the_hub(large: Mapping[str, dict[str, Content]]) -> None:
    """Of a target that says it is quantised they prove nothing; of the same without that they do."""
    name = "moonshotai--Kimi-K2-Instruct"
    other = packed(matrix(2, rows=3, columns=7168), "BF16")
    files = filled(large[name], FIRST[name], embedding_of(name), other)
    answer, _, _ = cost(pair_of(large[DRAFTER], files))
    assert "from a target stored with fp8" in skipped(answer)[0]
    config = json.loads(published.target_files(name)["config.json"])  # type: ignore[arg-type]
    del config["quantization_config"]
    answer, _, _ = cost(pair_of(large[DRAFTER], {**files, "config.json": json.dumps(config).encode()}))
    assert "is unrelated to the target's (3 rows from id 1000, cosines " in skipped(answer)[0]


def small_repos(embedding: Matrix | None = None) -> dict[str, Repo]:
    """A pair of hand-written files."""
    own = matrix(1)
    return {
        DRAFTER: {"commit": COMMITS["drafter"], "files": drafter_files(embedding=embedding or own)},
        TARGET: {"commit": COMMITS["target"], "files": target_files(own)},
    }


@pytest.mark.parametrize(
    ("kind", "word"), [("gated", "terms"), ("401", "401"), ("503", "503"), ("404", "does not have it")]
)
def test_weights_that_cannot_be_read_are_not_compared(monkeypatch: pytest.MonkeyPatch, kind: str, word: str) -> None:
    """The verdict does not rest on them: it is the same as without the rule."""
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))
    with LoopbackHub(small_repos(), keeping=False) as hub:  # a kept header hides the fault
        sound = run(*WORDS)
        hub.fault(TARGET, "header", kind)  # type: ignore[arg-type]
        answer = run(*WORDS)
    (line,) = [line for line in answer.said if line.startswith("DFL802")]
    assert f"{TARGET} @ 8d2e004: model.safetensors" in line or f"{TARGET}: model.safetensors" in line
    assert word in line
    assert (answer.code, answer.verdicts) == (sound.code, sound.verdicts)


def test_offline_the_rows_are_not_compared() -> None:
    with LoopbackHub(small_repos()) as hub:
        from huggingface_hub import snapshot_download  # noqa: PLC0415

        for name, patterns in ((DRAFTER, ["*"]), (TARGET, ["*.json"])):
            snapshot_download(
                name, allow_patterns=patterns, cache_dir=hub.cache, endpoint=hub.endpoint, token=hub.token
            )
        before = len(hub.requests)
        answer = run(*WORDS, "--offline")
        assert len(hub.requests) == before
    (line,) = [line for line in answer.said if line.startswith("DFL802")]
    assert "offline was asked for" in line


def test_the_days_of_the_repositories_are_told_where_the_listing_has_them() -> None:
    repos = small_repos()
    repos["lab/Kimi-K2-Instruct-eagle3"] = repos.pop(DRAFTER)
    repos["moonshotai/Kimi-K2.5"] = repos.pop(TARGET)
    words = ("check", "lab/Kimi-K2-Instruct-eagle3", "--target", "moonshotai/Kimi-K2.5", *WORDS[4:], "--no-fingerprint")

    def told() -> str:
        with LoopbackHub(repos):
            (line,) = [line for line in run(*words).said if line.startswith("DFL801")]
            return line

    assert "last changed" not in told()
    repos["lab/Kimi-K2-Instruct-eagle3"]["dates"] = {"lastModified": "2025-09-11T08:00:00.000Z"}
    repos["moonshotai/Kimi-K2.5"]["dates"] = {"createdAt": "2026-01-27T05:11:30.000Z"}
    assert told().endswith("; the drafter was last changed on 2025-09-11, the target's repository made on 2026-01-27")
    repos["lab/Kimi-K2-Instruct-eagle3"]["dates"] = {"lastModified": "2026-03-01T08:00:00.000Z"}
    assert "last changed" not in told()
    repos["moonshotai/Kimi-K2.5"]["dates"] = {"createdAt": "yesterday"}
    assert "last changed" not in told()


# Turning it off.


def write(folder: Path, files: Mapping[str, Content]) -> str:
    """Files in a folder."""
    folder.mkdir()
    for name, content in files.items():
        assert isinstance(content, bytes)
        (folder / name).write_bytes(content)
    return str(folder)


def test_every_way_to_turn_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An option, a settings key, an argument."""
    monkeypatch.chdir(tmp_path)
    drafter = write(tmp_path / "drafter", drafter_files(embedding=matrix(2)))
    target = write(tmp_path / "target", target_files(matrix(1)))
    words = ("check", drafter, "--target", target, *WORDS[4:])
    assert "is unrelated to" in skipped(run(*words))[0]
    assert skipped(run(*words, "--no-fingerprint")) == ["DFL802 comparing rows was turned off"]
    script = f"python -m sglang.launch_server --model-path {target} --speculative-draft-model-path {drafter}"
    (tmp_path / "serve.sh").write_text(f"{script} --speculative-algorithm EAGLE3\n")
    assert "is unrelated to" in skipped(run("scan", "serve.sh", "--format", "json"))[0]
    assert "turned off" in skipped(run("scan", "serve.sh", "--format", "json", "--no-fingerprint"))[0]
    (tmp_path / "drafter-lint.toml").write_text("fingerprint = false\n")
    assert skipped(run(*words)) == ["DFL802 comparing rows was turned off"]

    def codes(*, fingerprint: bool) -> set[str]:
        report = check(drafter, target, engines=["sglang==0.5.23"], fingerprint=fingerprint)
        return {item.code for made in report.checks for item in made.findings}

    assert "DFL802" in codes(fingerprint=True)
    assert "DFL802" not in codes(fingerprint=False)


def test_a_plan_and_a_lock_read_no_rows() -> None:
    with LoopbackHub(small_repos()) as hub:
        run("plan", *WORDS[1:])
        assert not [seen for seen in hub.requests if seen.path.startswith(f"/{TARGET}/") and "safetensors" in seen.path]
        run(*WORDS)
        assert [seen for seen in hub.requests if seen.path.startswith(f"/{TARGET}/") and "safetensors" in seen.path]


# The founding pair.


def test_the_founding_pair_is_named_and_the_right_one_is_not() -> None:
    """AQ-MedAI's drafter for Kimi-K2 on Kimi-K2.5, on its own target, and on copies of it."""
    name = "AQ-MedAI/Kimi-K2-Instruct-eagle3"
    drafter = published.drafter(name.replace("/", "--")).files()
    for target, expected in {
        "moonshotai/Kimi-K2.5": [Confidence.LIKELY],
        "nvidia/Kimi-K2.5-NVFP4": [Confidence.LIKELY],
        "moonshotai/Kimi-K2-Thinking": [Confidence.LIKELY],
        "moonshotai/Kimi-K2-Instruct-0905": [Confidence.LIKELY],
        "moonshotai/Kimi-K2-Instruct": [],
        "unsloth/Kimi-K2-Instruct-GGUF": [],
        "RedHatAI/Kimi-K2-Instruct-FP8-dynamic": [],
        "cpatonn/Kimi-K2-Instruct-AWQ-4bit": [],
    }.items():
        files = published.target("moonshotai--Kimi-K2-Instruct").without_weights().files()
        found, _ = said(drafter, files, names=(name, target), rule="DFL801")
        assert [item.confidence for item in found] == expected, target


def test_a_drafter_for_scout_is_named_beside_maverick() -> None:
    """They share hidden size, layers and vocabulary; a published command pairs them."""
    name = "lmsys/SGLang-EAGLE3-Llama-4-Scout-17B-16E-Instruct-SpecForge"
    drafter = dict(published.drafter("nvidia--Llama-4-Maverick-17B-128E-Eagle3").files())
    del drafter["README.md"]
    for target, expected in {
        "meta-llama/Llama-4-Maverick-17B-128E-Instruct": [Confidence.LIKELY],
        "nvidia/Llama-4-Maverick-17B-128E-Instruct-FP8": [Confidence.LIKELY],
        "meta-llama/Llama-4-Scout-17B-16E-Instruct": [],
        "nvidia/Llama-4-Scout-17B-16E-Instruct-NVFP4": [],
        "RedHatAI/Llama-4-Scout-17B-16E-Instruct-quantized.w4a16": [],
        "unsloth/Llama-4-Scout-17B-16E-Instruct-unsloth-bnb-4bit": [],
    }.items():
        files = published.target("meta-llama--Llama-4-Maverick-17B-128E-Instruct").without_weights().files()
        found, _ = said(drafter, files, names=(name, target), rule="DFL801")
        assert [item.confidence for item in found] == expected, target


def test_recipes_are_read_as_they_are() -> None:
    """A recipe without values is a hole; nothing is made of it."""
    small = published.FIXTURES / "small"
    drafter = Recipe.parse((small / "eagle1.recipe.toml").read_text("utf-8")).files()
    target = Recipe.parse((small / "target-llama.recipe.toml").read_text("utf-8")).files()
    ((), (skip,)) = said(drafter, target)
    assert (
        skip.reason
        == "embed_tokens.weight[128:136] of the drafter holds nothing but zeros: there is no data to compare"
    )
    assert not skip.needed


def test_a_verifier_that_is_no_id_is_not_opened() -> None:
    """What is stated is opened where nobody names a target; a bare name may be anything."""
    bare = opened(with_claims(card="- **Verifier:** Qwen3-32B\n"), "drafter", "lab/out")
    assert not recognise(bare).drafter.claims
    with_owner = opened(with_claims(card="- **Verifier:** Qwen/Qwen3-32B\n"), "drafter", "lab/out")
    assert [claim.strength for claim in recognise(with_owner).drafter.claims] == ["stated"]


def test_a_card_of_strangers_takes_no_time() -> None:
    """The text is bounded, the patterns are linear, and so is what is compared."""
    card = "inference of Kimi-K2.5, " * 8000 + "--model " + "." * 50_000 + "`" * 50_000
    started = time.monotonic()
    (claim,) = recognise(opened(with_claims(card=card), "drafter", "lab/out")).drafter.claims
    assert claim.target.value == "Kimi-K2.5"
    assert time.monotonic() - started < 20
