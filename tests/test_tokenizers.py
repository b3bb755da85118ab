"""What tokenizer files say, kind by kind, and how two of them compare; the files are made here."""

from __future__ import annotations

import contextlib
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafter_lint.checkpoint import Checkpoint, Tokenizer
from drafter_lint.checkpoint.tokenizer import Kind, Relation, Vocabulary, compare, compare_vocabularies, shown_token
from drafter_lint.checkpoint.tokenizer.vocabulary import from_alphabet, from_piece
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.reference import Reference
from drafter_lint.sources.base import FileEntry, Identity
from hub_pairs import DRAFTER, TARGET, run, small_pair
from loopback_hub import LoopbackHub, Repo
from made_tokenizers import (
    BYTE,
    BYTES,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    added_token,
    alphabet,
    byte_level,
    pieces,
    ranks,
    tekken,
    tokenizer,
)

PIECES = [
    ("<unk>", UNKNOWN),
    ("<s>", CONTROL),
    ("</s>", CONTROL),
    *((f"<0x{byte:02X}>", BYTE) for byte in range(256)),
    ("\u2581the", NORMAL),
    ("ла", NORMAL),
    ("[INST]", USER_DEFINED),
    ("x" * 200, NORMAL),
]


def words(*tokens: str | None, added: tuple[int, ...] = (), complete: bool = True) -> Vocabulary:
    """A vocabulary of plain words."""
    made = tuple(None if token is None else token.encode() for token in tokens)
    return Vocabulary(file="x", kind=Kind.BYTE_LEVEL, tokens=made, added=frozenset(added), complete=complete)


# Every kind, read.


def test_the_alphabet_stands_for_every_byte_once() -> None:
    assert {from_alphabet(alphabet(bytes((byte,)))) for byte in range(256)} == {bytes((byte,)) for byte in range(256)}
    assert from_alphabet("\u0120foo\u010a") == b" foo\n"
    assert from_alphabet("\u2581foo") == "\u2581foo".encode()
    assert (from_piece("\u2581foo"), from_piece("<0x0A>"), from_piece("<0x0a>")) == (b" foo", b"\n", b"<0x0a>")


def test_a_tokenizer_json_of_byte_level_bpe() -> None:
    read = tokenizer({"tokenizer.json": byte_level(BYTES, "<|end|>", "<|pad|>")}).vocabulary
    assert read.kind is Kind.BYTE_LEVEL
    assert read.tokens == (*BYTES, b"<|end|>", b"<|pad|>")
    assert read.added == {len(BYTES), len(BYTES) + 1}
    assert (read.file, read.complete, read.count) == ("tokenizer.json", True, len(BYTES) + 2)


def test_an_added_token_takes_the_place_of_the_trained_one_and_may_leave_a_hole() -> None:
    read = tokenizer({"tokenizer.json": byte_level(BYTES, "\u2581\u2581", first=len(BYTES) + 3)}).vocabulary
    assert read.tokens[-4:] == (None, None, None, "\u2581\u2581".encode())
    assert read.count == len(BYTES) + 1
    over = tokenizer({"tokenizer.json": byte_level(BYTES, "<s>", first=0)}).vocabulary
    assert over.tokens[0] == b"<s>"
    assert over.added == {0}


def test_a_tokenizer_json_of_sentencepiece_bpe_equals_its_model() -> None:
    vocab = {text: place for place, (text, _) in enumerate(PIECES)}
    document = {
        "added_tokens": [added_token(place, text) for place, (text, kind) in enumerate(PIECES) if kind in (2, 3, 4)],
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}}]},
        "model": {"type": "BPE", "byte_fallback": True, "vocab": vocab, "merges": []},
    }
    ours = tokenizer({"tokenizer.json": json.dumps(document)})
    theirs = tokenizer({"tokenizer.model": pieces(PIECES)})
    assert ours.vocabulary.kind is theirs.vocabulary.kind is Kind.SENTENCEPIECE
    assert ours.vocabulary.tokens[259:262] == (b" the", "ла".encode(), b"[INST]")
    assert ours.vocabulary.added == theirs.vocabulary.added == {0, 1, 2, 261}
    assert theirs.vocabulary.tokens[-1] == b"x" * 200
    assert compare(ours, theirs).relation is Relation.EQUAL


def test_a_tokenizer_json_of_unigram_lists_pieces_with_scores() -> None:
    model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["\u2581a", -1.5], ["<0x41>", -2]]}
    read = tokenizer({"tokenizer.json": json.dumps({"model": model})}).vocabulary
    assert (read.kind, read.tokens) == (Kind.SENTENCEPIECE, (b"<unk>", b" a", b"A"))


def test_word_pieces_and_words_are_read_as_text() -> None:
    model = {"type": "WordPiece", "vocab": {"[UNK]": 0, "##ing": 1}}
    assert tokenizer({"tokenizer.json": json.dumps({"model": model})}).vocabulary.kind is Kind.WORDPIECE
    read = tokenizer({"tokenizer.json": json.dumps({"model": {"type": "WordLevel", "vocab": {"t0": 0, "t1": 1}}})})
    assert (read.vocabulary.kind, read.vocabulary.tokens) == (Kind.PLAIN, (b"t0", b"t1"))


def test_vocab_json_with_tokens_named_beside_it() -> None:
    files = {
        "vocab.json": json.dumps({alphabet(token): place for place, token in enumerate(BYTES)}),
        "merges.txt": "#version: 0.2\na b\n",
        "added_tokens.json": json.dumps({"<|end|>": len(BYTES), "wrong": "text", "far": 10**9}),
        "tokenizer_config.json": json.dumps(
            {"added_tokens_decoder": {str(len(BYTES) + 1): {"content": "<tool>", "special": False}, "x": {}, "7": 7}}
        ),
    }
    made = tokenizer(files)
    assert made.sources == ("vocab.json", "tokenizer_config.json", "added_tokens.json")
    assert made.vocabulary.tokens == (*BYTES, b"<|end|>", b"<tool>")
    assert made.vocabulary.added == {len(BYTES), len(BYTES) + 1}
    assert (
        compare(made, tokenizer({"tokenizer.json": byte_level(BYTES, "<|end|>", "<tool>")})).relation is Relation.EQUAL
    )


@pytest.mark.parametrize("name", ["qwen.tiktoken", "tiktoken.model", "tokenizer.model"])
def test_a_tiktoken_file_equals_the_tokenizer_json_of_the_same_model(name: str) -> None:
    ours = tokenizer({name: ranks(BYTES)})
    assert (ours.file, ours.vocabulary.kind, ours.vocabulary.complete) == (name, Kind.BYTE_LEVEL, False)
    assert ours.vocabulary.tokens == BYTES
    # Ranks hold no special tokens, so those of the other side are neither a difference nor more.
    theirs = tokenizer({"tokenizer.json": byte_level(BYTES, "<|end|>")})
    assert compare(ours, theirs).relation is compare(theirs, ours).relation is Relation.PADDED
    assert compare(ours, theirs).common == len(BYTES)


def test_tokens_named_in_tokenizer_config_complete_a_tiktoken_file() -> None:
    config = {"added_tokens_decoder": {str(len(BYTES) + 2): {"content": "<|im_end|>", "special": True}}}
    made = tokenizer({"tiktoken.model": ranks(BYTES), "tokenizer_config.json": json.dumps(config)})
    assert made.vocabulary.complete
    assert made.vocabulary.tokens[-3:] == (None, None, b"<|im_end|>")
    beside = tokenizer({"tokenizer.json": byte_level(BYTES, "<|im_end|>", first=len(BYTES) + 2)})
    assert compare(made, beside).relation is Relation.EQUAL


def test_tekken_counts_special_tokens_first_and_leaves_out_what_has_no_room() -> None:
    read = tokenizer({"tekken.json": tekken(BYTES, "<unk>", "<s>", size=len(BYTES))}).vocabulary
    assert read.tokens == (b"<unk>", b"<s>", *BYTES[:-2])
    assert read.complete
    assert read.added == {0, 1}
    older = tokenizer({"tekken.json": tekken(BYTES, "<unk>", "<s>", size=len(BYTES), listed=False)}).vocabulary
    assert older.tokens == (None, None, *BYTES[:-2])
    assert compare_vocabularies(read, older).relation is Relation.PADDED


def test_the_first_file_in_the_engines_order_speaks() -> None:
    made = tokenizer({"a.tiktoken": ranks(BYTES), "tokenizer.model.v3": pieces(PIECES), "tokenizer.json": "{}"})
    assert made.file == "tokenizer.json"
    assert tokenizer({"a.tiktoken": ranks(BYTES), "tokenizer.model.v3": pieces(PIECES)}).file == "tokenizer.model.v3"
    assert tokenizer({"original/tokenizer.model": pieces(PIECES), "config.json": "{}"}).file is None


# Broken and hostile files.

SMALL_TEKKEN = '{"config": {"default_vocab_size": 3, "default_num_special_tokens": 1}'
BROKEN: dict[str, tuple[str, str | bytes]] = {
    "no object": ("tokenizer.json", "[]"),
    "empty": ("tokenizer.json", ""),
    "no model": ("tokenizer.json", '{"added_tokens": []}'),
    "an id that is text": ("tokenizer.json", '{"model": {"vocab": {"a": "0"}}}'),
    "an id below zero": ("tokenizer.json", '{"model": {"vocab": {"a": -1}}}'),
    "an id that is true": ("tokenizer.json", '{"model": {"vocab": {"a": true}}}'),
    "a token twice": ("tokenizer.json", '{"model": {"vocab": {"a": 0, "a": 1}}}'),
    "a vocabulary that is a number": ("tokenizer.json", '{"model": {"vocab": 3}}'),
    "a piece without a score": ("tokenizer.json", '{"model": {"vocab": ["a"]}}'),
    "an added token without text": ("tokenizer.json", '{"added_tokens": [{"id": 0}], "model": {"vocab": {}}}'),
    "cut off": ("tokenizer.json", '{"model": {"vocab": {"a": 0'),
    "deep": ("tokenizer.json", '{"x": ' + "[" * 5000 + "]" * 5000 + ', "model": {"vocab": {}}}'),
    "not UTF-8": ("tokenizer.json", b'{"model": {"vocab": {"\xff": 0}}}'),
    "a list for vocab.json": ("vocab.json", "[1]"),
    "a rank that is text": ("qwen.tiktoken", "YQ== x\n"),
    "a rank with a sign": ("qwen.tiktoken", "YQ== +1\n"),
    "a token without a rank": ("qwen.tiktoken", "YQ== 0\nYg==\n"),
    "no base64": ("qwen.tiktoken", "Y!== 0\n"),
    "no message": ("tokenizer.model", b"\xff\xff\xff\xff"),
    "a message without pieces": ("tokenizer.model", b"\x12\x03\x18\xac\x02"),
    "a piece past the end": ("tokenizer.model", b"\x0a\x7f\x0a\x01a"),
    "a number without an end": ("tokenizer.model", b"\x08" + b"\xff" * 40),
    "a group": ("tokenizer.model", b"\x0b\x0a\x01a\x0c"),
    "tekken without a config": ("tekken.json", '{"vocab": []}'),
    "tekken with other bytes": (
        "tekken.json",
        SMALL_TEKKEN + ', "vocab": [{"rank": 0, "token_bytes": "?"}]}',
    ),
    "tekken with numbers": (
        "tekken.json",
        SMALL_TEKKEN + ', "vocab": [3]}',
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_unavailable_and_says_which(case: str) -> None:
    name, content = BROKEN[case]
    with pytest.raises(Unavailable) as caught:
        _ = tokenizer({name: content}).vocabulary
    assert caught.value.trouble is Trouble.MALFORMED
    assert name in str(caught.value)


WHOLE: dict[str, bytes] = {
    "tokenizer.json": byte_level(BYTES[:20], "<|end|>").encode(),
    "tekken.json": tekken(BYTES[:20], "<unk>").encode(),
    "vocab.json": json.dumps({alphabet(token): place for place, token in enumerate(BYTES[:20])}).encode(),
    "tokenizer.model": pieces(PIECES[:20]),
    "a.tiktoken": ranks(BYTES[:20]),
}


@given(name=st.sampled_from(sorted(WHOLE)), data=st.data())
def test_a_damaged_file_is_read_or_unavailable_and_nothing_else(name: str, data: st.DataObject) -> None:
    whole = WHOLE[name]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 8)))
    damaged = whole[:start] + data.draw(st.binary(max_size=6)) + whole[end:]
    with contextlib.suppress(Unavailable):
        read = tokenizer({name: damaged}).vocabulary
        assert read.count <= len(read.tokens) <= 2_000_001
        assert compare_vocabularies(read, read).relation is Relation.EQUAL


@given(st.lists(st.one_of(st.none(), st.binary(min_size=1, max_size=3)), max_size=40))
def test_a_vocabulary_equals_itself_and_differs_both_ways_alike(tokens: list[bytes | None]) -> None:
    made = Vocabulary(file="x", kind=Kind.BYTE_LEVEL, tokens=tuple(tokens))
    assert compare_vocabularies(made, made).relation is Relation.EQUAL
    turned = Vocabulary(file="y", kind=Kind.BYTE_LEVEL, tokens=tuple(reversed(tokens)))
    one, other = compare_vocabularies(made, turned), compare_vocabularies(turned, made)
    assert (one.differing, one.left_only, one.right_only) == (other.differing, other.right_only, other.left_only)
    assert one.common == other.common


def test_a_huge_id_is_refused_before_a_table_is_made() -> None:
    for text in ('{"model": {"vocab": {"a": 0, "b": 9999999999}}}', '{"model": {"vocab": {"a": %s}}}' % ("9" * 600)):
        with pytest.raises(Unavailable) as caught:
            _ = tokenizer({"tokenizer.json": text}).vocabulary
        assert caught.value.trouble is Trouble.TOO_LARGE
    config = '{"config": {"default_vocab_size": 99999999999, "default_num_special_tokens": 1}, "vocab": []}'
    with pytest.raises(Unavailable, match="over the bound"):
        _ = tokenizer({"tekken.json": config}).vocabulary


def test_a_pointer_in_place_of_the_file_is_told_as_such() -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 11422654\n"
    with pytest.raises(Unavailable) as caught:
        _ = tokenizer({"tokenizer.json": pointer}).vocabulary
    assert caught.value.trouble is Trouble.LFS_POINTER


def test_without_a_file_there_is_no_vocabulary() -> None:
    made = tokenizer({"config.json": "{}"})
    assert (made.file, made.sources, made.added, made.chat_templates) == (None, (), {}, ())
    with pytest.raises(Unavailable) as caught:
        _ = made.vocabulary
    assert caught.value.trouble is Trouble.MISSING


# Special tokens and chat templates.


def test_ids_of_special_tokens_from_every_place() -> None:
    made = tokenizer(
        {
            "config.json": '{"eos_token_id": null, "text_config": {"eos_token_id": [7, 9]}, "pad_token_id": 3}',
            "generation_config.json": '{"eos_token_id": [9, 11], "bos_token_id": 1}',
            "tokenizer_config.json": json.dumps(
                {
                    "eos_token": {"content": "<|end|>"},
                    "added_tokens_decoder": {"13": {"content": "<|end|>"}},
                }
            ),
            "special_tokens_map.json": '{"bos_token": "<s>"}',
        }
    )
    eos = made.special("eos")
    assert [item.value for item in eos.generation] == [9, 11]
    assert [(item.value, item.at.pointer) for item in eos.config] == [
        (7, "/text_config/eos_token_id/0"),
        (9, "/text_config/eos_token_id/1"),
    ]
    assert eos.name is not None
    assert (eos.name.value, eos.named) == ("<|end|>", 13)
    assert [item.value for item in eos.everywhere] == [9, 11, 7, 13]
    assert eos.everywhere[0].at.file == "generation_config.json"
    bos, pad = made.special("bos"), made.special("pad")
    assert bos.name is not None
    assert (bos.name.value, bos.named, [item.value for item in bos.everywhere]) == ("<s>", None, [1])
    assert ([item.value for item in pad.everywhere], pad.name) == ([3], None)


def test_chat_templates_from_every_place_the_jinja_file_first() -> None:
    written = [{"name": "default", "template": "old"}, {"name": "rag", "template": "R"}, {"name": 3}]
    made = tokenizer(
        {
            "chat_template.jinja": "new",
            "additional_chat_templates/tool_use.jinja": "T",
            "tokenizer_config.json": json.dumps({"chat_template": written}),
            "chat_template.json": '{"chat_template": "processor"}',
        }
    )
    assert [(item.name, item.text.value, item.text.at.file) for item in made.chat_templates] == [
        ("default", "new", "chat_template.jinja"),
        ("tool_use", "T", "additional_chat_templates/tool_use.jinja"),
        ("rag", "R", "tokenizer_config.json"),
    ]
    (only,) = tokenizer({"tokenizer_config.json": '{"chat_template": "one"}'}).chat_templates
    assert (only.name, only.text.value, only.text.at.pointer) == ("default", "one", "/chat_template")
    assert tokenizer({"chat_template.json": '{"chat_template": "p"}'}).chat_templates[0].text.value == "p"


# Comparing.


def test_the_same_tokens_are_equal_whatever_holes_follow() -> None:
    parity = compare_vocabularies(words("a", None, "b"), words("a", None, "b", None, None))
    assert (parity.relation, parity.common, parity.left_only, parity.right_only) == (Relation.EQUAL, 2, 0, 0)


def test_reserved_names_are_padding() -> None:
    left = words("a", "b", "<|reserved_special_token_5|>", "[PAD151936]", "<unused12>")
    parity = compare_vocabularies(left, words("a", "b", "<extra_id_0>"))
    assert (parity.relation, parity.differing, parity.left_only) == (Relation.PADDED, 0, 0)


@pytest.mark.parametrize("name", ["<pad>", "<|im_end|>", "[PAD]", "<think>", "reserved 5", "<|python_tag|>"])
def test_a_token_with_a_meaning_is_not_padding(name: str) -> None:
    parity = compare_vocabularies(words("a", name), words("a"))
    assert (parity.relation, parity.left_only, parity.right_only) == (Relation.SUPERSET, 1, 0)
    assert parity.first_only[0].left == name.encode()


def test_a_reserved_id_that_got_a_meaning_is_more_and_not_different() -> None:
    parity = compare_vocabularies(words("a", "<|reserved_special_token_2|>"), words("a", "<|python_tag|>"))
    assert (parity.relation, parity.left_only, parity.right_only) == (Relation.SUPERSET, 0, 1)


def test_tokens_that_moved_by_one_distance_are_shifted() -> None:
    base = [f"t{place}" for place in range(40)]
    parity = compare_vocabularies(words(*base), words("<s>", "</s>", *base, added=(0, 1)))
    assert (parity.relation, parity.shift, parity.differing, parity.trained) == (Relation.SHIFTED, 2, 40, 38)
    assert (parity.first[0].id, parity.first[0].left, parity.first[0].right) == (2, b"t2", b"t0")
    back = compare_vocabularies(words("<s>", "</s>", *base), words(*base))
    assert (back.relation, back.shift) == (Relation.SHIFTED, -2)
    inserted = compare_vocabularies(words(*base), words(*base[:20], "new", *base[20:]))
    assert (inserted.relation, inserted.shift, inserted.first[0].id) == (Relation.SHIFTED, 1, 20)


def test_tokens_in_another_order_are_different() -> None:
    base = [f"t{place}" for place in range(40)]
    parity = compare_vocabularies(words(*base), words(*reversed(base)))
    assert (parity.relation, parity.differing, parity.common, parity.shift) == (Relation.DIFFERENT, 40, 40, 0)
    assert [item.id for item in parity.first] == [0, 1, 2, 3, 4]
    swapped = compare_vocabularies(words("a", "b", "c"), words("b", "a", "c"))
    assert (swapped.relation, swapped.differing) == (Relation.DIFFERENT, 2)


def test_added_tokens_that_differ_are_counted_apart() -> None:
    parity = compare_vocabularies(words("a", "<|eot|>", added=(1,)), words("a", "<|end|>", added=(1,)))
    assert (parity.relation, parity.differing, parity.trained) == (Relation.DIFFERENT, 1, 0)
    assert parity.first[0].left == b"<|eot|>"


def test_kinds_that_cannot_be_turned_into_each_other_are_not_compared() -> None:
    plain = Vocabulary(file="x", kind=Kind.PLAIN, tokens=(b"a",))
    assert compare_vocabularies(plain, words("a")).relation is Relation.INCOMPARABLE
    assert compare_vocabularies(plain, plain).relation is Relation.EQUAL


def test_files_of_one_content_are_not_parsed() -> None:
    broken = tokenizer({"tokenizer.json": "not a tokenizer"})
    assert compare(broken, tokenizer({"tokenizer.json": "not a tokenizer"})).relation is Relation.EQUAL
    with pytest.raises(Unavailable):
        compare(broken, tokenizer({"tokenizer.json": "neither is this"}))
    with pytest.raises(Unavailable):
        compare(tokenizer({}), tokenizer({}))


class Listed:
    """A source that knows the content id of its tokenizer.json and lets nothing be read."""

    def __init__(self, size: int, ident: str) -> None:
        self.files = {"tokenizer.json": FileEntry(size, ident)}
        self.identity = Identity(name="example/model")

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Fails."""
        raise Unavailable(Trouble.UNREACHABLE, path, f"{start}, {length}")


def listed(size: int, ident: str) -> Tokenizer:
    """The tokenizer of such a source."""
    return Checkpoint(Reference(spelling="a/b", kind="hub", name="a/b"), Listed(size, ident), role="target").tokenizer


def test_content_ids_settle_it_without_reading() -> None:
    assert compare(listed(11_422_654, "aeb1"), listed(11_422_654, "aeb1")).relation is Relation.EQUAL
    for other in (listed(11_422_654, "c0de"), listed(11_422_655, "aeb1")):
        with pytest.raises(Unavailable) as caught:
            compare(listed(11_422_654, "aeb1"), other)
        assert caught.value.trouble is Trouble.UNREACHABLE


def test_a_local_copy_is_hashed_to_spare_fetching_the_other() -> None:
    text = b"not a tokenizer"
    local = tokenizer({"tokenizer.json": text})
    git = hashlib.sha1(b"blob 15\0" + text).hexdigest()
    for ident in (hashlib.sha256(text).hexdigest(), git):
        assert compare(local, listed(15, ident)).relation is Relation.EQUAL
        assert compare(listed(15, ident), local).relation is Relation.EQUAL
    with pytest.raises(Unavailable):
        compare(local, listed(15, "0" * 40))


def hub_pair(drafter: bytes, target: bytes) -> dict[str, Repo]:
    """The small pair, each with a tokenizer.json."""
    repos = small_pair()
    for name, content in ((DRAFTER, drafter), (TARGET, target)):
        repos[name]["files"] = {**repos[name]["files"], "tokenizer.json": content}
    return repos


@pytest.mark.parametrize(("drafter", "asked"), [(BYTES, 0), (BYTES[::-1], 2)])
def test_over_the_hub_a_copy_costs_no_request(drafter: tuple[bytes, ...], asked: int) -> None:
    with LoopbackHub(hub_pair(byte_level(drafter).encode(), byte_level(BYTES).encode())) as hub:
        answer = run("check", DRAFTER, "--target", TARGET, "--engine", "sglang", "--format", "json")
        assert len([request for request in hub.requests if request.path.endswith("tokenizer.json")]) == asked
    assert ("DFL320" in answer.codes) == bool(asked)


def test_tokens_beside_the_file_count_as_part_of_it() -> None:
    table: dict[str, bytes | str] = {"qwen.tiktoken": ranks(BYTES)}
    beside: dict[str, bytes | str] = {"added_tokens.json": json.dumps({"<|im_end|>": len(BYTES)})}
    assert compare(tokenizer(table | beside), tokenizer(table | beside)).relation is Relation.EQUAL
    assert compare(tokenizer(table | beside), tokenizer(table)).relation is Relation.PADDED


@pytest.mark.parametrize(
    ("token", "shown"),
    [(b" foo", "' foo'"), (b"\xff\n", r"'\\xff\n'"), (None, "nothing"), (b"x" * 50, "'" + "x" * 37 + "...'")],
)
def test_a_token_is_shown_on_one_line(token: bytes | None, shown: str) -> None:
    assert shown_token(token) == shown
