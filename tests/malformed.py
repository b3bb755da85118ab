"""Malformed files, each made from a sound one in one way: which reader meets it, and the one thing that is to be said.

``tests/test_malformed.py`` runs the command line on each in a process whose memory is measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bad_folders import (
    CONFIG,
    INDEX,
    POINTER,
    WEIGHTS,
    all_of,
    bytes_of,
    gone,
    head,
    head_text,
    index,
    link,
    tensor,
    text,
)
from made_tokenizers import BYTES, byte_level, pieces, ranks, tekken, varint

Words = tuple[str, ...]
Make = Callable[[Path], object]
DRAFTER, TARGET = "drafter-eagle3", "target"
CHECK: Words = ("check", DRAFTER, "--target", TARGET, "--engine", "sglang", "--format", "json")
#: What no reader may read as a whole: ten gigabytes, of which none is on the disk.
HUGE = 10_000_000_000


@dataclass(frozen=True, slots=True)
class Malformed:
    """A malformed file.

    Attributes:
        name: which reader meets it, and how it is broken.
        make: makes it in a folder that holds a sound pair.
        code: the rule that tells it; "" for an error of the command.
        says: what the message must match; it names the file.
        exit_code: of the command.
        words: the command.
    """

    name: str
    make: Make
    code: str
    says: str
    exit_code: int = 1
    words: Words = CHECK

    @property
    def large(self) -> bool:
        """True if reading it takes a second or more, all of it within bounds."""
        return "-mb" in self.name or "000-" in self.name or "999-" in self.name

    @property
    def reader(self) -> str:
        """Which reader meets it."""
        return self.name.partition("/")[0]


def inside(folder: str, make: Make) -> Make:
    """The same in a folder of the pair."""
    return lambda place: make(place / folder)


def file(name: str, content: bytes | str) -> Make:
    """A file beside the pair."""
    return text(content, name)


def sparse(name: str, start: bytes = b"") -> Make:
    """A file of ten gigabytes."""

    def made(folder: Path) -> None:
        with (folder / name).open("wb") as opened:
            opened.write(start)
            opened.truncate(HUGE)

    return made


def late(name: str, content: Callable[[], bytes]) -> Make:
    """A file beside the pair, its content made when it is wanted: it is a large one."""
    return lambda folder: (folder / name).write_bytes(content())


def spoiled(sound: str) -> Mapping[str, tuple[bytes, str]]:
    """A JSON text spoiled in every way, and what is said of each."""
    raw = sound.encode()
    return {
        "empty": (b"", "not JSON"),
        "cut-short": (raw[: len(raw) // 2], "not JSON"),
        "cut-by-one": (raw[:-1], "not JSON"),
        "html": (b"<!DOCTYPE html><p>log in</p>", "not JSON"),
        "twice": (raw * 2, "not JSON"),
        "last-comma": (raw[:-1] + b",}", "not JSON"),
        "single-quotes": (raw.replace(b'"', b"'"), "not JSON"),
        "not-utf-8": (raw[:-1] + b', "x": "\xe9"}', "not UTF-8"),
        "utf-16": (sound.encode("utf-16"), "not UTF-8"),
        "byte-order-mark": (b"\xef\xbb\xbf" + raw, "byte-order mark"),
        "a-list": (b"[" + raw + b"]", "object"),
        "null": (b"null", "object"),
        "pointer": (POINTER, "Git LFS pointer"),
    }


DATA = 8_400_000
HEADERS: tuple[Malformed, ...] = (
    *(
        Malformed(f"header/cut-at-{size}", inside(DRAFTER, bytes_of(lambda raw, size=size: raw[:size])), "DFL101", said)  # type: ignore[misc]
        for size, said in {
            1: "1 bytes is too short",
            4: "too short",
            8: "past the end",
            9: "past the end",
            64: "past the end",
            1000: "past the end",
            1_600: "past the end|incomplete",
            5_000: "incomplete",
            50_000: "incomplete",
            150_000: "incomplete",
        }.items()
    ),
    *(
        Malformed(f"header/{name}", inside(DRAFTER, made), "DFL101", says)
        for name, made, says in (
            ("length-big-endian", bytes_of(lambda raw: raw[:8][::-1] + raw[8:]), "past the end|bytes"),
            ("length-less-one", bytes_of(lambda raw: _length(raw, -1)), "not JSON|accounts for"),
            ("length-more-one", bytes_of(lambda raw: _length(raw, 1)), "not JSON|accounts for|incomplete"),
            ("length-of-4-gb", bytes_of(lambda raw: (2**32).to_bytes(8, "little") + raw[8:]), "4294967296"),
            ("text", text("weights\n" * 100, WEIGHTS), "past the end|bytes"),
            ("zip", text(b"PK\x03\x04" + bytes(2000), WEIGHTS), "safetensors|bytes|JSON"),
            ("pickle", text(b"\x80\x02}q\x00." + bytes(2000), WEIGHTS), "bytes|JSON"),
            ("byte-order-mark", head_text(lambda raw: b"\xef\xbb\xbf" + raw), "not JSON|UTF-8|mark|begin"),
            ("utf-16", head_text(lambda raw: raw.decode().encode("utf-16")), "not UTF-8"),
            ("comment", head_text(lambda raw: b"//x\n" + raw), "not JSON|begin"),
            ("single-quotes", head_text(lambda raw: raw.replace(b'"', b"'")), "not JSON"),
            ("trailing", head_text(lambda raw: raw.rstrip() + b"{}"), "not JSON"),
            ("null", head_text(lambda _: b"null"), "no JSON object"),
            ("a-string", head_text(lambda _: b'"x"'), "no JSON object"),
            ("digits", head_text(lambda raw: raw.rstrip()[:-1] + b', "x": ' + b"9" * 5000 + b"}"), "digits"),
            ("infinity", head_text(lambda raw: raw.rstrip()[:-1] + b', "x": Infinity}'), "Infinity"),
            ("deep-list", head_text(lambda _: b"[" * 200_000 + b"]" * 200_000), "nested"),
            ("a-name-thrice", head_text(lambda raw: raw.rstrip()[:-1] + b', "t2d": 1, "t2d": 2}'), "more than once"),
            ("metadata-of-numbers", head(lambda fields: fields.update({"__metadata__": {"a": 1}})), "__metadata__"),
            ("offsets-negative", tensor("norm.weight", data_offsets=[-128, 0]), "negative"),
            ("offsets-of-words", tensor("norm.weight", data_offsets=["0", "128"]), "no integer"),
            ("offsets-of-floats", tensor("norm.weight", data_offsets=[0.0, 128.0]), "no integer"),
            ("offsets-of-bools", tensor("norm.weight", data_offsets=[False, True]), "no integer|takes"),
            ("offsets-null", tensor("norm.weight", data_offsets=None), "data_offsets of 'norm.weight' is no list"),
            ("offsets-an-object", tensor("norm.weight", data_offsets={}), "data_offsets of 'norm.weight' is no list"),
            ("offsets-2^63", tensor("norm.weight", data_offsets=[2**63, 2**63 + 128]), "9223372036854775808|64 bits"),
            ("offsets-2^64", tensor("norm.weight", data_offsets=[0, 2**64]), "65 bits|18446744073709551616"),
            (
                "offsets-the-same",
                head(
                    lambda fields: fields["norm.weight"].update(
                        data_offsets=fields["midlayer.hidden_norm.weight"]["data_offsets"]
                    )
                ),
                "overlap|hole",
            ),
            ("shape-null", tensor("norm.weight", shape=None), "shape of 'norm.weight' is no list"),
            ("shape-a-number", tensor("norm.weight", shape=64), "shape of 'norm.weight' is no list"),
            ("shape-of-lists", tensor("norm.weight", shape=[[64]]), "no integer"),
            ("shape-of-words", tensor("norm.weight", shape=["64"]), "no integer"),
            ("shape-2^63", tensor("norm.weight", shape=[2**63]), "9223372036854775808|64 bits|63 bits"),
            ("dtype-null", tensor("norm.weight", dtype=None), "has no dtype"),
            ("dtype-a-list", tensor("norm.weight", dtype=["BF16"]), "has no dtype"),
            ("an-entry-of-words", head(lambda fields: fields.update({"x": "y"})), "'x' is no object"),
            ("an-entry-a-list", head(lambda fields: fields.update({"x": [1]})), "'x' is no object"),
        )
    ),
    Malformed(
        "header/of-60-mb",
        inside(DRAFTER, lambda it: _header(it, b'{"__metadata__": {"a": "' + b"x" * 60_000_000 + b'"}}')),
        "DFL011",
        "bound",
        3,
    ),
    Malformed(
        "header/of-15-mb-of-lists",
        inside(DRAFTER, lambda it: _header(it, b"[" + b"[]," * 5_000_000 + b"1]")),
        "DFL011",
        "values",
        3,
    ),
    Malformed(
        "header/of-15-mb-of-one-word",
        inside(DRAFTER, lambda it: _header(it, b'{"__metadata__": {"a": "' + b"x" * 15_000_000 + b'"}, "x": 1}')),
        "DFL101",
        "'x' is no object",
    ),
    Malformed(
        "header/of-300000-tensors", inside(DRAFTER, lambda it: _header(it, _many(300_000))), "DFL011", "bound", 3
    ),
    Malformed(
        "header/of-99999-tensors-and-a-word",
        inside(DRAFTER, lambda it: _header(it, _many(99_999)[:-1] + b',"x":"y"}')),
        "DFL101",
        "'x' is no object",
    ),
    Malformed("header/of-10-gb", inside(DRAFTER, sparse(WEIGHTS, (HUGE - 8).to_bytes(8, "little"))), "DFL101", "bytes"),
)


def _length(raw: bytes, more: int) -> bytes:
    return (int.from_bytes(raw[:8], "little") + more).to_bytes(8, "little") + raw[8:]


def _header(folder: Path, head: bytes) -> None:
    (folder / WEIGHTS).write_bytes(len(head).to_bytes(8, "little") + head)


def _many(count: int) -> bytes:
    entry = b'{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
    return b"{" + b",".join(b'"t%d":%s' % (number, entry) for number in range(count)) + b"}"


MAP = '{"metadata": {}, "weight_map": {"fc.weight": "model.safetensors"}}'
INDEXES: tuple[Malformed, ...] = (
    *(
        Malformed(
            f"index/{name}", inside(DRAFTER, text(content, INDEX)), "DFL007" if name == "pointer" else "DFL101", says
        )
        for name, (content, says) in spoiled(MAP).items()
        if name not in {"empty", "byte-order-mark", "a-list", "null", "pointer", "twice"}
    ),
    *(
        Malformed(f"index/{name}", inside(DRAFTER, made), "DFL101", says)
        for name, made, says in (
            ("byte-order-mark", text(b"\xef\xbb\xbf" + MAP.encode(), INDEX), "not JSON|mark|UTF-8"),
            ("null", text("null", INDEX), "no weight_map"),
            ("map-a-list", index([["fc.weight", WEIGHTS]]), "no weight_map"),
            ("map-null", index(None), "no weight_map"),
            ("map-of-lists", index({"fc.weight": [WEIGHTS]}), "no file name"),
            ("map-of-nulls", index({"fc.weight": None}), "no file name"),
            ("an-empty-name", index({"fc.weight": ""}), "file name|leaves|safetensors"),
            ("a-name-of-dots", index({"fc.weight": ".."}), "leaves the folder|safetensors"),
            ("a-way-around", index({"fc.weight": "a/../../x.safetensors"}), "leaves the folder"),
            ("a-backslash", index({"fc.weight": "..\\x.safetensors"}), "leaves the folder"),
            ("a-drive", index({"fc.weight": "C:\\x.safetensors"}), "leaves the folder"),
            ("a-null-byte", index({"fc.weight": "x\0.safetensors"}), "leaves the folder|x00"),
            ("an-address", index({"fc.weight": "https://example.com/x.safetensors"}), "leaves the folder|not there"),
            ("nested-deep", text('{"weight_map":' * 50_000, INDEX), "nested"),
            ("not-a-number", text('{"weight_map": NaN}', INDEX), "NaN"),
        )
    ),
    Malformed("index/of-10-gb", inside(DRAFTER, sparse(INDEX)), "DFL011", "over the bound", 3),
    Malformed(
        "index/of-290000-tensors-and-a-number",
        inside(
            DRAFTER,
            late(
                INDEX,
                lambda: (
                    b'{"weight_map": {'
                    + b"".join(
                        b'"layers.%d.weight": "model-%05d-of-00099.safetensors",' % (i, i) for i in range(290_000)
                    )
                    + b'"x": 1}}'
                ),
            ),
        ),
        "DFL101",
        "no file name",
    ),
    Malformed(
        "index/of-30-mb",
        inside(DRAFTER, late(INDEX, lambda: b'{"weight_map": [' + b"[]," * 10_000_000 + b"1]}")),
        "DFL011",
        "values",
        3,
    ),
    Malformed("index/a-link-out", inside(DRAFTER, link(INDEX, "/etc/hostname")), "DFL002", "leads out", 3),
)

#: A sound one of each, and the exit code where it is broken: engines pass over a generation_config.json.
DECLARING: Mapping[str, tuple[str, int]] = {
    "generation_config.json": ('{"eos_token_id": [2, 511]}', 0),
    "tokenizer_config.json": ('{"eos_token": "</s>", "chat_template": "x"}', 1),
    "special_tokens_map.json": ('{"eos_token": {"content": "</s>"}}', 1),
    "added_tokens.json": ('{"<s>": 0}', 1),
}


def _declaring() -> Iterator[Malformed]:
    for name, (sound, exit_code) in DECLARING.items():
        # The target's own tokenizer_config.json says what the other files would be asked for.
        before = () if name == "generation_config.json" else (inside(TARGET, gone("tokenizer_config.json")),)
        for how, (content, says) in spoiled(sound).items():
            make = all_of(*before, inside(TARGET, text(content, name)))
            yield Malformed(f"{name}/{how}", make, "DFL325", says, exit_code)


SMALL_JSON: tuple[Malformed, ...] = (
    *_declaring(),
    Malformed(
        "generation_config.json/of-10-gb",
        inside(TARGET, sparse("generation_config.json")),
        "DFL321|DFL322",
        "over the bound",
        0,
    ),
    Malformed("config.json/of-10-gb", inside(DRAFTER, sparse(CONFIG)), "DFL011", "over the bound", 3),
    Malformed("config.json/target-of-10-gb", inside(TARGET, sparse(CONFIG)), "DFL011", "over the bound", 3),
)

VOCABULARY = byte_level(BYTES, "<s>")
BIG = json.dumps({"model": {"type": "BPE", "vocab": {f"t{i}": i for i in range(50)}, "merges": []}})


def tokenizers(name: str, sound: bytes | str, broken: Make) -> Make:
    """A sound tokenizer on the drafter's side, and a broken one on the target's, which has no other."""
    return all_of(inside(DRAFTER, text(sound, name)), inside(TARGET, gone("tokenizer.json")), inside(TARGET, broken))


#: What makes engines stop; what else is wrong with a vocabulary only keeps it from being compared.
NONE = re.compile("not JSON|not UTF-8|pieces|add up|pointer|does not end")


def _tokenizer(name: str, sound: bytes | str, ways: Mapping[str, tuple[bytes | str, str]]) -> Iterator[Malformed]:
    for how, (content, says) in ways.items():
        make = tokenizers(name, sound, text(content, name))
        bounded = says in {"over the bound", "more than 200000 values"}
        exit_code = 1 if NONE.search(says) else 0
        yield Malformed(f"{name}/{how}", make, "DFL320" if bounded else "DFL325", says, exit_code)


def _spoiled(sound: str, *ways: str) -> Mapping[str, tuple[bytes | str, str]]:
    """Some of the ways to spoil a JSON text that is read by its members: all of them end in the same words."""
    known = spoiled(sound)
    return {how: (known[how][0], "Git LFS pointer" if how == "pointer" else "not JSON") for how in ways}


PIECES = pieces([("<unk>", 2), ("<s>", 3), ("a", 1)])
RANKS = ranks(BYTES)
TEKKEN = tekken(BYTES, "<s>")
TOKENIZERS: tuple[Malformed, ...] = (
    *_tokenizer(
        "tokenizer.json",
        VOCABULARY,
        {
            **_spoiled(
                VOCABULARY, "empty", "cut-short", "html", "single-quotes", "utf-16", "a-list", "null", "pointer"
            ),
            **_spoiled(VOCABULARY, "byte-order-mark"),
            "no-model": ('{"version": "1.0"}', "no model"),
            "vocabulary-a-string": ('{"model": {"type": "BPE", "vocab": "abc"}}', "vocabulary"),
            "ids-of-words": ('{"model": {"vocab": {"a": "zero"}}}', "id|integer"),
            "ids-negative": ('{"model": {"vocab": {"a": -1}}}', "-1|id"),
            "ids-huge": ('{"model": {"vocab": {"a": 99999999999999}}}', "over the bound"),
            "ids-floats": ('{"model": {"vocab": {"a": 0.5}}}', "id|integer"),
            "a-token-twice": ('{"model": {"vocab": {"a": 0, "a": 1}}}', "more than once|twice|'a'"),
            "pieces-of-numbers": ('{"model": {"vocab": [[1, 2]]}}', "no piece"),
            "added-without-content": ('{"added_tokens": [{"id": 1}], "model": {"vocab": {"a": 0}}}', "no content"),
            "nested-deep": ('{"x": ' + "[" * 100_000, "nested|does not end"),
            "many-brackets": ('{"x": [' + "[[1]]," * 300_000 + "1]}", "more than 200000 values"),
        },
    ),
    *_tokenizer(
        "tokenizer.model",
        PIECES,
        {
            "empty": (b"", "no pieces"),
            "cut-short": (PIECES[:-9], "do not add up"),
            "noise": (bytes(range(255, 0, -1)) * 10, "do not add up"),
            "text": ("tokenizer model", "do not add up|no pieces"),
            "length-past-the-end": (b"\x0a" + varint(2**40) + b"x", "do not add up"),
            "a-number-without-end": (b"\x08" + b"\xff" * 20, "do not add up"),
            "groups": (b"\x0b\x0c" * 10, "do not add up"),
            "a-piece-not-utf-8": (b"\x0a\x04\x0a\x02\xff\xfe", "do not add up"),
            "only-settings": (b"\x12\x03\x18\xac\x02", "no pieces"),
            "pointer": (POINTER, "Git LFS pointer"),
        },
    ),
    *_tokenizer(
        "qwen.tiktoken",
        RANKS,
        {
            "words": ("a b c d\n", "not a token"),
            "no-rank": ("YQ==\n", "not a token"),
            "rank-a-word": ("YQ== zero\n", "a token id belongs"),
            "rank-negative": ("YQ== -1\n", "not a token|a token id belongs"),
            "rank-huge": ("YQ== 99999999999999999999\n", "not a token|a token id belongs"),
            "rank-of-5000-digits": ("YQ== " + "9" * 5000 + "\n", "not a token|a token id belongs"),
            "not-base64": ("Y!== 0\n", "not a token"),
            "html": ("<html>log in</html>\n", "not a token"),
            "pointer": (POINTER, "Git LFS pointer"),
        },
    ),
    *_tokenizer(
        "tekken.json",
        TEKKEN,
        {
            **_spoiled(TEKKEN, "empty", "cut-short", "html", "utf-16", "a-list", "null", "pointer"),
            "no-vocabulary": ("{}", "vocab|config"),
            "entries-of-numbers": ('{"config": {}, "vocab": [1]}', "a token id belongs"),
            "bytes-not-base64": (TEKKEN.replace('"token_bytes": "', '"token_bytes": "!', 1), "base64"),
            "rank-a-word": (TEKKEN.replace('"rank": 3,', '"rank": "x",'), "rank|id|integer"),
        },
    ),
    *_tokenizer(
        "vocab.json",
        '{"a": 0}',
        {
            **{
                how: spoiled('{"a": 0}')[how] for how in ("empty", "cut-short", "html", "twice", "not-utf-8", "pointer")
            },
            "a-list": ("[]", "no object of tokens"),
            "null": ("null", "no object of tokens"),
            "ids-of-words": ('{"a": "b"}', "id|integer"),
            "ids-huge": ('{"a": 1e300}', "id|integer"),
            "a-token-twice": ('{"a": 0, "a": 1}', "more than once|twice|'a'"),
        },
    ),
    *(
        Malformed(f"{name}/of-10-gb", tokenizers(name, sound, sparse(name)), "DFL320", "over the bound", 0)
        for name, sound in (
            ("tokenizer.json", VOCABULARY),
            ("tokenizer.model", PIECES),
            ("qwen.tiktoken", RANKS),
            ("tekken.json", TEKKEN),
            ("vocab.json", '{"a": 0}'),
        )
    ),
    Malformed(
        "tokenizer.json/of-60-mb",
        tokenizers(
            "tokenizer.json",
            VOCABULARY,
            late("tokenizer.json", lambda: b'{"model": {"vocab": {' + b'"": 1,' * 8_000_000 + b"}}}"),
        ),
        "DFL320",
        "holds more than",
        0,
    ),
    Malformed(
        "tokenizer.json/of-270000-tokens-and-a-word",
        tokenizers(
            "tokenizer.json",
            VOCABULARY,
            late(
                "tokenizer.json",
                lambda: (
                    b'{"model": {"vocab": {'
                    + b",".join(b'"a long token of some text %d": %d' % (i, i) for i in range(270_000))
                    + b', "x": "y"}}}'
                ),
            ),
        ),
        "DFL325",
        "is no|x",
        0,
    ),
    Malformed(
        "tekken.json/of-270000-tokens-and-a-word",
        tokenizers(
            "tekken.json",
            TEKKEN,
            late(
                "tekken.json",
                lambda: (
                    b'{"config": {"default_vocab_size": 270000, "default_num_special_tokens": 0}, "vocab": ['
                    + b",".join(b'{"rank": %d, "token_bytes": "YWJjZGVmZ2g="}' % i for i in range(270_000))
                    + b', "x"]}'
                ),
            ),
        ),
        "DFL325",
        "no object",
        0,
    ),
    Malformed(
        "tokenizer.model/of-270000-pieces-and-noise",
        tokenizers(
            "tokenizer.model",
            PIECES,
            late(
                "tokenizer.model",
                lambda: b"".join(pieces([(f"piece {i}", 1)])[:-5] for i in range(270_000)) + b"\xff\xff",
            ),
        ),
        "DFL325",
        "do not add up",
        1,
    ),
    Malformed(
        "qwen.tiktoken/of-270000-tokens-and-a-word",
        tokenizers(
            "qwen.tiktoken", RANKS, late("qwen.tiktoken", lambda: ranks([b"%d" % i for i in range(270_000)]) + b"x y\n")
        ),
        "DFL325",
        "not a token",
        0,
    ),
    Malformed(
        "qwen.tiktoken/of-20-mb",
        tokenizers("qwen.tiktoken", RANKS, late("qwen.tiktoken", lambda: b"YQ== 1\n" * 3_000_000)),
        "DFL320",
        "over the bound",
        0,
    ),
    Malformed(
        "tokenizer.model/of-20-mb",
        tokenizers("tokenizer.model", PIECES, late("tokenizer.model", lambda: b"\x0a\x02\x0a\x00" * 5_000_000)),
        "DFL320",
        "over the bound",
        0,
    ),
)

CHECKPOINTS: tuple[Malformed, ...] = (*HEADERS, *INDEXES, *SMALL_JSON, *TOKENIZERS)
