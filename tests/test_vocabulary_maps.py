"""Vocabulary maps: one finding for each way they break, on a published pair and on random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import published
from drafter_lint import linter
from drafter_lint.checkpoint import Checkpoint, VocabMap
from drafter_lint.checkpoint.head_rows import read_equal_rows
from drafter_lint.findings import Finding, Outcome, Role
from drafter_lint.launch import parse_command
from drafter_lint.linter import EngineChoice, Opened, Selection, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.recipe.values import written
from drafter_lint.reference import Reference
from drafter_lint.rules.vocabulary.drafted import Fault, judged
from drafter_lint.sources.memory import MemorySource, VirtualFile

SMALL = Recipe.parse((published.FIXTURES / "small" / "eagle3-llama.recipe.toml").read_text(encoding="utf-8"))
TARGET = Recipe.parse((published.FIXTURES / "small" / "target-llama.recipe.toml").read_text(encoding="utf-8"))
SGLANG = (
    "--model-path", "TARGET", "--speculative-draft-model-path", "DRAFTER", "--speculative-algorithm", "EAGLE3",
    "--speculative-num-steps", "3", "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4",
)  # fmt: skip
VLLM = (
    "--model", "TARGET", "--speculative-config",
    '{"method": "eagle3", "model": "DRAFTER", "num_speculative_tokens": 3}',
)  # fmt: skip


def checkpoint(source: MemorySource, role: Role) -> Checkpoint:
    """A checkpoint in memory under its own name."""
    name = source.identity.name
    return Checkpoint(Reference(spelling=name, kind="hub", name=name), source, role=role)


def opened(drafter: Recipe | MemorySource, target: Recipe) -> Opened:
    """A pair, read; of the target only its config."""
    source = drafter if isinstance(drafter, MemorySource) else drafter.source()
    return understand(checkpoint(source, "drafter"), checkpoint(target.without_weights().source(), "target"))


def vocabulary(pair: Opened, engine: str = "") -> list[Finding]:
    """What is said of a pair's vocabulary, and of anything else that is graver than hygiene."""
    found: Sequence[object]
    if engine:
        words = SGLANG if engine == "sglang" else VLLM
        assert pair.target
        request = parse_command(
            [word.replace("DRAFTER", pair.drafter.name).replace("TARGET", pair.target.name) for word in words],
            engine=engine,
        )
        version = "0.5.23" if engine == "sglang" else "0.33.0"
        choice = EngineChoice(name=engine, version=version, request=request)
        found = check_pair(pair, choice, selection=Selection()).findings
    else:
        found = linter._files(pair, Selection()).results
    return [
        item
        for item in found
        if isinstance(item, Finding) and (item.code.startswith("DFL3") or item.outcome is not Outcome.HYGIENE)
    ]


# --- Llama-3.1-8B: 32000 of 128256 ids are drafted ------------------------------------------------------------------

LLAMA = published.target("meta-llama--Llama-3.1-8B-Instruct")
#: Ids as a map made from text has them: neighbours mostly, the lowest first; and the last id there is.
IDS = (*range(16000), *range(40000, 55998), 128009, 128255)
#: The published drafter under the name both engines know, its window as wide as the target's.
DRAFTER = published.drafter("yuhuili--EAGLE3-LLaMA3.1-Instruct-8B").patched(
    {"set": {"/architectures": ["LlamaForCausalLMEagle3"], "/max_position_embeddings": 131072}}
)


def numbers(values: Sequence[int]) -> str:
    """Values as a recipe writes them."""
    return written(values)


def offsets(ids: Sequence[int]) -> list[int]:
    """The map to some ids."""
    return [target - i for i, target in enumerate(ids)]


def table(ids: Sequence[int], marked: Sequence[int] | None = None, vocabulary_size: int = 128256) -> dict[str, str]:
    """The lines of a map to some ids, and of the mask over some others or the same."""
    return lines(offsets(ids), ids if marked is None else marked, vocabulary_size)


def lines(d2t: Sequence[int], marked: Sequence[int], vocabulary_size: int = 128256) -> dict[str, str]:
    """The lines of a map and of a mask."""
    mask = bytearray(vocabulary_size)
    for token in marked:
        mask[token] = 1
    return {"d2t": f"I64 {len(d2t)} = {numbers(d2t)}", "t2d": f"BOOL {vocabulary_size} = {numbers(mask)}"}


@dataclass(frozen=True, kw_only=True)
class Broken:
    """One way to break the map of the published drafter.

    Attributes:
        code: of the only rule that may speak.
        says: a part of its message, with the numbers.
        sglang: the outcome in SGLang 0.5.23, "" for nothing.
        vllm: the outcome in vLLM 0.33.0.
        drop: tensors left out.
        tensors: tensors put in their place.
        set: fields of the config.
        remove: fields left out.
        measured: some of the numbers.
    """

    code: str
    says: str
    sglang: str = "silent"
    vllm: str = "silent"
    drop: tuple[str, ...] = ()
    tensors: dict[str, str] = field(default_factory=dict)
    set: dict[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    measured: dict[str, int] = field(default_factory=dict)


WAYS = {
    "missing": Broken(
        code="DFL301",
        drop=("d2t", "t2d"),
        says="32000 of 128256 ids can be drafted, and there is no d2t to say which: draft token 31999 would mean "
        "target token 31999",
        measured={"drafted": 32000, "vocabulary": 128256},
    ),
    "absolute": Broken(
        code="DFL302",
        vllm="refuses",
        tensors=lines(IDS, IDS),
        says="draft token 31999 would mean target token 160254; the vocabulary ends at 128255",
        measured={"draft_id": 31999, "target_id": 160254, "vocabulary": 128256},
    ),
    "absolute, without a mask": Broken(
        code="DFL302",
        vllm="refuses",
        drop=("t2d",),
        tensors={"d2t": lines(IDS, IDS)["d2t"]},
        says="draft token 31999 would mean target token 160254; the vocabulary ends at 128255",
    ),
    "absolute, inside the vocabulary": Broken(
        code="DFL302",
        drop=("t2d",),
        tensors={"d2t": f"I64 32000 = {numbers([*range(40000, 70000), *range(72000, 74000)])}"},
        says="draft token 31999 would mean target token 105998 instead of 73999",
    ),
    "zeros": Broken(
        code="DFL303",
        drop=("t2d",),
        tensors={"d2t": "I64 32000 = zeros"},
        says="only target tokens 0 to 31999 of 128256 can be proposed",
    ),
    "zeros, and a mask as created": Broken(
        code="DFL303",
        tensors={"d2t": "I64 32000 = zeros", "t2d": "BOOL 128256 = 1*128256"},
        says="true for all 128256 ids",
    ),
    "short": Broken(
        code="DFL304",
        sglang="slow",
        vllm="refuses",
        tensors=table(IDS[:6054]),
        says="d2t has 6054 entries; the head drafts 32000 ids; draft ids 6054 to 31999 have no entry",
        measured={"entries": 6054, "rows": 32000},
    ),
    "past the end": Broken(
        code="DFL305",
        vllm="refuses",
        drop=("t2d",),
        tensors={"d2t": f"I64 32000 = {numbers(offsets([*IDS[:-2], 128256, 128300]))}"},
        says="2 draft tokens have no target token: draft token 31998 would mean target token 128256; the target's "
        "vocabulary ends at 128255",
        measured={"outside": 2, "draft_id": 31998, "target_id": 128256, "vocabulary": 128256},
    ),
    "before the start": Broken(
        code="DFL305",
        drop=("t2d",),
        tensors={"d2t": f"I64 32000 = {numbers(offsets([-5, *IDS[1:]]))}"},
        says="1 draft token has no target token: draft token 0 would mean target token -5; the target's vocabulary "
        "begins at 0",
    ),
    "twice": Broken(
        code="DFL306",
        sglang="slow",
        vllm="slow",
        tensors=table([*IDS[:20000], *IDS[19999:-1]], IDS),
        says="d2t leads 32000 draft tokens to 31999 target tokens",
    ),
    "another mask": Broken(
        code="DFL307",
        sglang="hygiene",
        vllm="hygiene",
        tensors=table(IDS, range(1746)),
        says="t2d marks 1746 ids and d2t leads to 32000; 1746 are the same",
    ),
    "more declared": Broken(
        code="DFL308",
        sglang="refuses",
        vllm="refuses",
        set={"/draft_vocab_size": 32064},
        says="lm_head.weight has 32000 rows; the config declares a draft vocabulary of 32064",
    ),
    "tied": Broken(
        code="DFL309",
        vllm="",
        set={"/tie_word_embeddings": True},
        says="drop the drafter's own head of 32000 rows",
    ),
    "rounded": Broken(
        code="DFL311",
        sglang="refuses",
        drop=("t2d",),
        tensors={"d2t": f"BF16 32000 = {numbers(offsets(IDS))}"},
        says="past 256 it rounds, and the largest offset reads 96256",
    ),
    "32-bit": Broken(
        code="DFL311",
        sglang="hygiene",
        vllm="hygiene",
        tensors={**table(IDS), "d2t": f"I32 32000 = {numbers(offsets(IDS))}"},
        says="d2t is I32; maps are I64",
    ),
    "a token map": Broken(
        code="DFL313",
        vllm="refuses",
        drop=("t2d",),
        tensors={"d2t": f"I64 32000 = {numbers([*IDS[500:], *IDS[:500]])}"},
        says="as token maps are: draft token 31498, written as id 128009, would mean target token 159507",
    ),
    "out of order": Broken(
        code="DFL314",
        sglang="hygiene",
        vllm="hygiene",
        tensors=table([*IDS[16000:], *IDS[:16000]], IDS),
        says="draft token 15999 means 128255 and draft token 16000 means 0",
    ),
    "undeclared": Broken(
        code="DFL315",
        sglang="refuses",
        vllm="refuses",
        remove=("/draft_vocab_size",),
        says="lm_head.weight has 32000 rows for 128256 ids, and the config says so nowhere",
    ),
    "a mask of draft ids": Broken(
        code="DFL316",
        sglang="hygiene",
        vllm="hygiene",
        tensors={"t2d": "BOOL 32000 = 1*1746 0*30254"},
        says="t2d has 32000 entries, one for each draft id; it must have one for each of the 128256 ids",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_one_finding_with_the_right_numbers(way: str) -> None:
    broken = WAYS[way]
    patch = {"drop": list(broken.drop), "tensors": broken.tensors, "set": broken.set, "remove": list(broken.remove)}
    pair = opened(DRAFTER.patched(patch), LLAMA)
    for engine, outcome in (("sglang", broken.sglang), ("vllm", broken.vllm)):
        found = vocabulary(pair, engine)
        assert [(item.code, str(item.outcome)) for item in found] == ([(broken.code, outcome)] if outcome else [])
        for item in found:
            assert broken.says in item.message
            assert broken.measured.items() <= item.measured.items()
    if way != "tied":  # what a tie costs is for the engine to say
        (alone,) = vocabulary(pair)
        assert alone.code == broken.code
        assert broken.says in alone.message


@pytest.mark.parametrize("engine", ["", "sglang", "vllm"])
def test_the_right_map_is_left_alone(engine: str) -> None:
    right = DRAFTER.patched({"tensors": table(IDS)})
    assert vocabulary(opened(right, LLAMA), engine) == []
    assert vocabulary(opened(right.patched({"drop": ["t2d"]}), LLAMA), engine) == []


def test_where_two_releases_part_the_word_on_the_files_stands() -> None:
    """SGLang 0.4.7 was not read: before it the missing map is refused, after it the drafter runs without."""
    pair = opened(SMALL.patched({"drop": ["d2t", "t2d"], "tensors": {"fc.bias": "BF16 64"}}), TARGET)
    request = parse_command(
        [word.replace("DRAFTER", SMALL.name).replace("TARGET", TARGET.name) for word in SGLANG], engine="sglang"
    )
    found = check_pair(pair, EngineChoice(name="sglang", version="0.4.7", request=request), selection=Selection())
    assert [(item.code, item.outcome) for item in found.findings] == [("DFL301", Outcome.SILENT)]
    assert "DFL301" in {skip.code for skip in found.not_checked if "was not read" in skip.reason}


# --- a head cut by offsets ------------------------------------------------------------------------------------------

ROW = 4096 * 2
#: Of the rows followed by their neighbour's, those at a sixth, a half and five sixths.
LOOKED_AT = (5332, 15998, 26664)


def with_rows(row: Callable[[int], bytes]) -> MemorySource:
    """The published drafter with a head that has values where they are looked at."""
    made = DRAFTER.patched({"tensors": table(IDS)})
    whole = made.files()["model.safetensors"]
    assert isinstance(whole, VirtualFile)
    start = checkpoint(made.source(), "drafter").tensors["lm_head.weight"].start
    parts = tuple((start + i * ROW, row(i)) for first in LOOKED_AT for i in (first, first + 1))
    files = {**made.files(), "model.safetensors": VirtualFile(whole.size, whole.parts + parts)}
    return MemorySource(made.name, files)


def test_rows_that_must_differ_and_do_not() -> None:
    source = with_rows(lambda _: b"\x12\x34" * 4096)
    (found,) = vocabulary(opened(source, LLAMA))
    assert (found.code, found.outcome) == ("DFL312", Outcome.SILENT)
    assert found.measured == {"rows": list(LOOKED_AT), "offset": 0}
    assert all(IDS[row] + 1 == IDS[row + 1] for row in LOOKED_AT)
    for engine in ("vllm", "sglang"):
        (found,) = vocabulary(opened(source, LLAMA), engine)
        assert (found.code, found.outcome) == ("DFL312", Outcome.SILENT)


def test_the_first_two_rows_that_differ_are_enough() -> None:
    """Six rows at the most, two if they are right, and no other byte of the head."""
    read: list[tuple[int, int]] = []

    class Watched(MemorySource):
        def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
            read.append((start, length or 0))
            return super().read(path, start, length)

    source = with_rows(lambda i: bytes((i % 251 + 1, 7)) * 4096)
    watched = Watched(source.identity.name, source._content)
    files = checkpoint(watched, "drafter")
    head = files.tensors["lm_head.weight"]
    assert files.equal_rows is None
    inside = [(start, length) for start, length in read if start >= head.start and start + length <= head.end]
    assert [length for _, length in inside] == [2 * ROW]
    assert (inside[0][0] - head.start) % ROW == 0
    assert files.equal_rows is None
    assert len([start for start, _ in read if head.start <= start < head.end]) == 1


def test_rows_of_zeros_and_heads_of_another_shape_tell_nothing() -> None:
    files = checkpoint(DRAFTER.patched({"tensors": table(IDS)}).source(), "drafter")
    assert files.equal_rows is None
    head = files.tensors["lm_head.weight"]
    odd = {"lm_head.weight": replace(head, shape=(32000,))}
    assert read_equal_rows(odd, files.vocab_map, files.source) is None
    fewer = replace(files.vocab_map, d2t=(0,) * 31999)
    assert read_equal_rows(files.tensors, fewer, files.source) is None
    apart = replace(files.vocab_map, d2t=tuple(range(32000)))
    assert read_equal_rows(files.tensors, apart, files.source) is None


# --- random maps ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A right map: ids, out of how many, and whether there is a mask."""

    ids: tuple[int, ...]
    size: int
    masked: bool
    where: int

    @property
    def count(self) -> int:
        """Vd."""
        return len(self.ids)


@st.composite
def maps(draw: st.DrawFn) -> Drawn:
    """Frequent tokens first: the lowest ids are neighbours, the rest lies anywhere; the last id there is is drafted."""
    dense = draw(st.integers(8, 40))
    size = draw(st.integers(3 * dense, 300))
    rest = draw(st.sets(st.integers(dense, size - 2), min_size=1, max_size=dense))
    ids = (*range(dense), *sorted(rest), size - 1)
    return Drawn(ids=ids, size=size, masked=draw(st.booleans()), where=draw(st.integers(1, dense - 2)))


def patched(drawn: Drawn, d2t: Sequence[int] | None, mask: Sequence[int] | None = None, **change: Any) -> Recipe:
    """The small drafter with a map."""
    head = {"lm_head.weight": f"BF16 {drawn.count}x64"}
    drafter = SMALL.patched(
        {"set": {"/vocab_size": drawn.size, "/draft_vocab_size": drawn.count}, "drop": ["d2t", "t2d"], "tensors": head}
    )
    marked = bytearray(drawn.size)
    for token in drawn.ids:
        marked[token] = 1
    shown = marked if mask is None else mask
    rows: dict[str, str] = {} if d2t is None else {"d2t": f"I64 {len(d2t)} = {numbers(d2t)}"}
    if drawn.masked or mask is not None:
        rows["t2d"] = f"BOOL {len(shown)} = {numbers(shown)}"
    return drafter.patched({"tensors": rows}).patched(change)


def codes(drawn: Drawn, drafter: Recipe) -> list[str]:
    """The codes of what is said of the vocabulary."""
    target = TARGET.patched({"set": {"/vocab_size": drawn.size}})
    return [item.code for item in vocabulary(opened(drafter, target))]


quick = settings(max_examples=15, deadline=None)


@quick
@given(maps())
def test_a_right_map_gives_no_finding(drawn: Drawn) -> None:
    assert codes(drawn, patched(drawn, offsets(drawn.ids))) == []


def mutations(drawn: Drawn) -> Iterator[tuple[str, Recipe]]:
    """Every way to break a map, and the code of the rule for it."""
    ids, size, at = drawn.ids, drawn.size, drawn.where
    right = offsets(ids)
    yield "DFL301", patched(drawn, None)
    yield "DFL302", patched(drawn, ids)
    yield "DFL303", patched(drawn, [0] * len(ids))
    yield "DFL304", patched(drawn, right[:-at])
    yield "DFL304", patched(drawn, right + right[-at:])
    yield "DFL305", patched(drawn, offsets([*ids[:-1], size + at - 1]))
    yield "DFL305", patched(drawn, offsets([-at, *ids[1:]]))
    yield "DFL306", patched(drawn, offsets([*ids[:at], ids[at - 1], *ids[at + 1 :]]))
    yield "DFL307", patched(drawn, right, [int(token in ids[:-1]) for token in range(size)])
    yield "DFL308", patched(drawn, right, set={"/draft_vocab_size": len(ids) + at})
    yield "DFL311", patched(drawn, right, tensors={"d2t": f"I32 {len(ids)} = {numbers(right)}"})
    yield "DFL313", patched(drawn, [*ids[at:], *ids[:at]])
    yield "DFL314", patched(drawn, offsets([*ids[at:], *ids[:at]]))
    yield "DFL315", patched(drawn, right, remove=["/draft_vocab_size"])
    yield "DFL316", patched(drawn, right, [1] * len(ids))


@quick
@given(maps())
def test_each_mutation_gives_exactly_its_rule(drawn: Drawn) -> None:
    for code, drafter in mutations(drawn):
        assert codes(drawn, drafter) == [code]


@settings(max_examples=5, deadline=None)
@given(maps(), st.integers(1, 9))
def test_padding_makes_no_difference(drawn: Drawn, padding: int) -> None:
    """The ids that count are the target's: a drafter that declares a few more or fewer is judged the same."""
    for size in (drawn.size + padding, drawn.size - padding):
        right = patched(drawn, offsets(drawn.ids), set={"/vocab_size": size})
        assert codes(drawn, right) == ["DFL310"]
        for code, drafter in mutations(drawn):
            assert code in codes(drawn, drafter.patched({"set": {"/vocab_size": size}}))


# --- the two readings of one table ----------------------------------------------------------------------------------


def fault(d2t: tuple[int, ...], drafted: tuple[int, ...] | None = None, vocabulary_size: int = 16) -> Fault | None:
    """What is wrong with a map of a reduced vocabulary."""
    length = None if drafted is None else vocabulary_size
    return judged(
        VocabMap(d2t=d2t, drafted=drafted, t2d_length=length), rows=len(d2t), vocabulary=vocabulary_size
    ).fault


def test_the_mask_decides_between_the_readings() -> None:
    assert fault((1, 2, 3), (1, 2, 3)) == "d2t-absolute"
    assert fault((1, 2, 3), (1, 3, 5)) is None
    assert fault((1, 2, 3), (1, 2, 4)) == "d2t-absolute"
    assert fault((1, 2, 3), (1, 3, 6)) == "t2d-disagrees"


def test_without_a_mask_the_end_of_the_vocabulary_decides() -> None:
    assert fault((0, 1, 2, 3)) is None
    assert fault((10, 12, 15)) == "d2t-absolute"
    assert fault((12, 10, 15)) == "d2t-token-map"


def test_equal_neighbours_are_offsets() -> None:
    assert fault((14, 14, 15)) == "d2t-out-of-range"


def test_a_mask_that_is_all_true_decides_nothing() -> None:
    assert fault((10, 12, 15), tuple(range(16))) == "d2t-absolute"
    assert fault((0, 0, 2, 3), tuple(range(16))) == "t2d-disagrees"


def test_an_even_spread_is_no_list_of_ids() -> None:
    """Nothing in it tells the readings apart, and it stays inside the vocabulary."""
    for step in (2, 4):
        assert fault(tuple(offsets(range(0, 2048, step))), vocabulary_size=2048) is None


def test_a_full_vocabulary_needs_no_map_and_may_have_a_broken_one() -> None:
    whole = VocabMap(d2t=(0, 0, 0, 0))
    assert judged(whole, rows=4, vocabulary=4).fault is None
    assert judged(whole, rows=4, vocabulary=5, own=4).fault is None
    assert judged(whole, rows=4, vocabulary=5).fault == "d2t-placeholder"
    assert judged(VocabMap(d2t=(0, 1, 2, 3)), rows=4, vocabulary=4).fault == "d2t-absolute"
    assert judged(VocabMap(d2t=(0, 0, 0, 1)), rows=4, vocabulary=4).fault == "d2t-out-of-range"
