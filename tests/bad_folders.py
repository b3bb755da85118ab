"""Broken checkpoints: each kind breaks a sound drafter, or a sound target, in one way."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hub_pairs import small

Break = Callable[[Path], object]
CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
ESC, BIDI, CSI = "\x1b[31m", "\u202e", "\u009b31m"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 6356526552\n"
STOPS, PASSES = frozenset({1, 3}), frozenset({0, 1})


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to be broken.

    Attributes:
        name: for the test's id.
        broken: breaks the folder it is given.
        says: what a line of the report must match.
        codes: the exit codes that are right.
        side: whose folder it breaks.
    """

    name: str
    broken: Break
    says: str
    codes: frozenset[int] = STOPS
    side: str = "drafter"


def text(content: bytes | str, file: str = CONFIG) -> Break:
    """A file with other content."""
    return lambda folder: _write(folder / file, content)


def field(name: str, value: object) -> Break:
    """A field of config.json with another value."""

    def broken(folder: Path) -> None:
        settings = json.loads((folder / CONFIG).read_bytes())
        _write(folder / CONFIG, json.dumps({**settings, name: value}))

    return broken


def line(content: str) -> Break:
    """One more line in config.json, as written."""

    def broken(folder: Path) -> None:
        whole = (folder / CONFIG).read_text(encoding="utf-8").rstrip().removesuffix("}").rstrip()
        _write(folder / CONFIG, f"{whole},\n {content}\n}}")

    return broken


def gone(*files: str) -> Break:
    """Files left out."""

    def broken(folder: Path) -> None:
        for file in files:
            (folder / file).unlink()

    return broken


def renamed(file: str, new: str) -> Break:
    """A file under another name, in a folder that is made if need be."""

    def broken(folder: Path) -> None:
        (folder / new).parent.mkdir(exist_ok=True)
        (folder / file).rename(folder / new)

    return broken


def head(change: Callable[[dict[str, Any]], object]) -> Break:
    """A header changed as an object; the data stay as they are."""

    def broken(folder: Path) -> None:
        raw = (folder / WEIGHTS).read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        fields = json.loads(raw[8:end])
        change(fields)
        _write(folder / WEIGHTS, _framed(json.dumps(fields).encode()) + raw[end:])

    return broken


def head_text(change: Callable[[bytes], bytes]) -> Break:
    """A header changed as text; its length stays true."""

    def broken(folder: Path) -> None:
        raw = (folder / WEIGHTS).read_bytes()
        end = 8 + int.from_bytes(raw[:8], "little")
        _write(folder / WEIGHTS, _framed(change(raw[8:end])) + raw[end:])

    return broken


def tensor(name: str, **changes: object) -> Break:
    """Fields of one tensor's entry changed."""
    return head(lambda fields: fields[name].update(changes))


def bytes_of(change: Callable[[bytes], bytes]) -> Break:
    """The weights' file changed as a whole."""
    return lambda folder: _write(folder / WEIGHTS, change((folder / WEIGHTS).read_bytes()))


def values(name: str, code: str, items: tuple[float, ...], dtype: str = "") -> Break:
    """The values of one tensor overwritten, and its dtype if given."""

    def broken(folder: Path) -> None:
        raw = bytearray((folder / WEIGHTS).read_bytes())
        end = 8 + int.from_bytes(raw[:8], "little")
        start, stop = json.loads(raw[8:end])[name]["data_offsets"]
        data = struct.pack(f"<{len(items)}{code}", *items)
        raw[end + start : end + stop] = data + bytes(stop - start - len(data))
        _write(folder / WEIGHTS, bytes(raw))
        if dtype:
            tensor(name, dtype=dtype)(folder)

    return broken


def recipe(patch: Mapping[str, object]) -> Break:
    """The drafter a patched recipe makes."""
    return lambda folder: small("eagle3-llama").patched(patch).write(folder)


def index(weight_map: object) -> Break:
    """An index beside the weights."""
    return text(json.dumps({"weight_map": weight_map}), INDEX)


def link(file: str, to: str) -> Break:
    """A file replaced by a link."""

    def broken(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(to)

    return broken


def pipe(file: str) -> Break:
    """A file replaced by a pipe nobody writes to."""

    def broken(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        os.mkfifo(folder / file)

    return broken


def locked(file: str) -> Break:
    """A file nobody may read."""
    return lambda folder: (folder / file).chmod(0)


def named_tensor(name: str) -> Break:
    """One more tensor, of no elements, under a name."""
    return head(lambda fields: fields.update({name: {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}))


def all_of(*breaks: Break) -> Break:
    """Several breaks, one after another."""
    return lambda folder: [one(folder) for one in breaks]


def empty(folder: Path) -> None:
    """Nothing left."""
    for path in folder.iterdir():
        path.unlink()


def folder_instead_of(file: str) -> Break:
    """A folder under a file's name."""

    def broken(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        (folder / file).mkdir()

    return broken


def _write(path: Path, content: bytes | str) -> None:
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)


def _framed(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


FOLDERS = [
    Kind("empty-folder", empty, r"DFL005 .*no config\.json"),
    Kind("no-config", gone(CONFIG), r"DFL005 .*no config\.json"),
    Kind("config-is-a-folder", folder_instead_of(CONFIG), r"DFL005 .*no config\.json"),
    Kind("config-further-down", renamed(CONFIG, "checkpoint-500/config.json"), r"DFL005 .*checkpoint-500"),
    Kind("config-is-a-pipe", pipe(CONFIG), r"DFL005 .*no config\.json"),
    Kind("config-is-a-link-out", link(CONFIG, "/etc/hostname"), r"config\.json: is a link that leads out"),
    Kind("config-is-a-link-to-itself", link(CONFIG, CONFIG), r"config\.json"),
    Kind("config-is-a-link-to-nothing", link(CONFIG, "absent"), r"DFL005 .*no config\.json"),
    Kind("config-is-a-pointer", text(POINTER), r"DFL007 .*config\.json: a Git LFS pointer"),
    Kind("no-weights", gone(WEIGHTS), r"DFL010 .*no weight file"),
    Kind("weights-further-down", renamed(WEIGHTS, "model/model.safetensors"), r"DFL010 .*no weight file"),
    Kind("weights-are-a-pipe", pipe(WEIGHTS), r"DFL010 .*no weight file"),
    Kind("weights-are-a-link-out", link(WEIGHTS, "/etc/hostname"), r"model\.safetensors: is a link that leads out"),
    Kind("weights-are-a-pointer", text(POINTER, WEIGHTS), r"DFL007 .*model\.safetensors: a Git LFS pointer"),
    Kind("only-a-pickle", renamed(WEIGHTS, "pytorch_model.bin"), r"DFL006 .*pytorch_model\.bin"),
    Kind("only-gguf", renamed(WEIGHTS, "model.gguf"), r"DFL006 .*model\.gguf"),
    Kind("gguf-and-no-config", all_of(renamed(WEIGHTS, "model.gguf"), gone(CONFIG)), r"model\.gguf"),
    Kind(
        "an-adapter",
        all_of(
            recipe({"config": '{"peft_type": "LORA"}', "drop": ["*"], "tensors": {"q_proj.lora_A.weight": "F32 4x4"}}),
            renamed(WEIGHTS, "adapter_model.safetensors"),
        ),
        r"DFL008 .*LoRA adapter",
    ),
]

DEEP = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
CONFIGS = [
    Kind("config-empty", text(""), r"DFL103 .*expected a value, found the end"),
    Kind("config-of-spaces", text(" \n\t "), r"DFL103 .*found the end"),
    Kind("config-of-zeros", text(bytes(4096)), r"DFL103 .*expected a value"),
    Kind("config-of-noise", text(bytes(range(256)) * 8), r"DFL103 .*not UTF-8"),
    Kind("config-is-html", text("<html>log in</html>"), r"DFL103 .*expected a value, found '<'"),
    Kind("config-cut-short", text('{"architectures": ["LlamaForCausalLMEagle3"], "hidden'), r"DFL103 .*not closed"),
    Kind("config-is-a-list", text("[1, 2]"), r"DFL103 .*a list, not an object"),
    Kind("config-is-a-string", text('"config"'), r"DFL103 .*a string, not an object"),
    Kind("config-is-null", text("null"), r"DFL103 .*null, not an object"),
    Kind("config-is-a-number", text("7168"), r"DFL103 .*a number, not an object"),
    Kind("config-of-python", text("{'hidden_size': 64}"), r"DFL103 .*double quotes"),
    Kind("config-with-a-comment", text("{// none\n}"), r"DFL103 .*double quotes"),
    Kind("config-with-a-last-comma", line('"x": 1,'), r"DFL103 .*comma before the end"),
    Kind("config-twice", lambda it: _write(it / CONFIG, (it / CONFIG).read_bytes() * 2), r"DFL103 .*after the end"),
    Kind("config-with-a-key-twice", line('"hidden_size": 64'), r"DFL103 .*'hidden_size' appears again", PASSES),
    Kind("config-with-nan", line('"x": NaN'), r"DFL103 .*NaN is no JSON value", PASSES),
    Kind("config-with-infinity", line('"rope_theta2": -Infinity'), r"DFL103 .*Infinity is no JSON", PASSES),
    Kind("config-with-1e999", line('"x": 1e999'), r"DFL103 .*more than a double", PASSES),
    Kind("config-with-5000-digits", line(f'"x": {"9" * 5000}'), r"DFL103 .*integer of 5000 digits", PASSES),
    Kind("config-with-a-mark", lambda it: _write(it / CONFIG, b"\xef\xbb\xbf" + (it / CONFIG).read_bytes()), r"DFL103"),
    Kind("config-in-utf-16", lambda it: _write(it / CONFIG, (it / CONFIG).read_text().encode("utf-16")), r"DFL103"),
    Kind("config-in-latin-1", text(b'{"name": "\xe9\xe8"}'), r"DFL103 .*not UTF-8"),
    Kind("config-nested-deep", text(DEEP), r"DFL011 .*nested more than"),
    Kind("config-of-10-mb", text(b'{"a": "' + b"x" * 10_000_000 + b'"}'), r"DFL011 .*over the bound"),
    Kind("config-of-many-values", text(json.dumps({"a": [0] * 300_000})), r"DFL011 .*values"),
    Kind("config-without-fields", text("{}"), r"hidden_size"),
    Kind("config-with-escapes", line(f'"{ESC}": NaN'.replace("\x1b", "\\u001b")), r"DFL103", PASSES),
    Kind("config-with-raw-escapes", line(f'"{ESC}": 1'), r"DFL103 .*must be escaped"),
    Kind("config-with-lone-surrogates", line('"\\ud800": NaN, "model_type2": "\\udfff"'), r"DFL103", PASSES),
]

IDS = "eagle_aux_hidden_state_layer_ids"
SIZES: Mapping[str, object] = {
    "a-string": "64",
    "a-word": "sixty-four",
    "digits": "9" * 5000,
    "negative": -64,
    "zero": 0,
    "a-float": 64.5,
    "a-bool": True,
    "a-list": [64],
    "an-object": {"value": 64},
}
FIELDS = [
    *(
        Kind(f"hidden-size-{name}", field("hidden_size", value), r"DFL104 hidden_size is")
        for name, value in SIZES.items()
    ),
    Kind("hidden-size-null", field("hidden_size", None), r"hidden_size"),
    Kind("hidden-size-huge", field("hidden_size", 2**70), r"DFL201 .*1180591620717411303424"),
    Kind("layers-negative", field("num_hidden_layers", -1), r"DFL104 num_hidden_layers is -1"),
    Kind("layers-huge", field("num_hidden_layers", 10**12), r"1000000000000"),
    Kind("vocabulary-zero", field("vocab_size", 0), r"DFL104 vocab_size is 0"),
    Kind("vocabulary-huge", field("vocab_size", 2**62), r"4611686018427387904", PASSES),
    Kind("draft-vocabulary-above", field("draft_vocab_size", 1024), r"1024"),
    Kind("architectures-a-string", field("architectures", "LlamaForCausalLMEagle3"), r"DFL104 architectures is"),
    Kind("architectures-numbers", field("architectures", [1, None]), r"DFL104 architectures is"),
    Kind("architectures-null", field("architectures", None), r"architectures|no architecture"),
    Kind("architectures-none", field("architectures", []), r"architectures|no architecture"),
    Kind("architectures-escapes", field("architectures", [f"{ESC}{BIDI}Eagle3\n"]), r"Eagle3"),
    Kind("epsilon-a-word", field("rms_norm_eps", "small"), r"DFL104 rms_norm_eps is"),
    Kind("ids-floats", field(IDS, [2.0, 4.0, 5.0]), rf"DFL104 {IDS} is"),
    Kind("ids-words", field(IDS, ["2", "4", "5"]), rf"DFL104 {IDS} is"),
    Kind("ids-a-string", field(IDS, "2,4,5"), rf"DFL104 {IDS} is"),
    Kind("ids-null-inside", field(IDS, [None, 4, 5]), rf"DFL104 {IDS} is"),
    Kind("ids-huge", field(IDS, [2, 4, 10**30]), r"1000000000000000000000000000000"),
    Kind("ids-negative", field(IDS, [-3, 4, 5]), r"-3"),
    Kind("ids-many", field(IDS, list(range(50_000))), r"100000|out of range|names layers"),
    Kind("ids-inside-words", field("eagle_config", {IDS: ["2", "4", "5"]}), r"DFL104 eagle_config\.eagle_aux"),
    Kind("eagle-config-a-list", field("eagle_config", [1]), r"DFL104 eagle_config is"),
    Kind("eagle-config-a-string", field("eagle_config", "on"), r"DFL104 eagle_config is"),
]

SHORT = "norm.weight"
WEIGHT_FILES = [
    Kind("weights-empty", text("", WEIGHTS), r"DFL101 .*too short"),
    Kind("weights-of-7-bytes", text(bytes(7), WEIGHTS), r"DFL101 .*7 bytes is too short"),
    Kind("header-of-no-bytes", text(bytes(8), WEIGHTS), r"DFL101 .*not JSON"),
    Kind("header-of-2^63", bytes_of(lambda raw: (2**63).to_bytes(8, "little") + raw[8:]), r"DFL101 .*922337203685477"),
    Kind("header-of-2^64-1", bytes_of(lambda raw: b"\xff" * 8 + raw[8:]), r"DFL101 .*18446744073709551615"),
    Kind(
        "header-past-the-end", bytes_of(lambda raw: (10**6).to_bytes(8, "little") + raw[8:]), r"DFL101 .*past the end"
    ),
    Kind("header-cut", bytes_of(lambda raw: raw[:500]), r"DFL101 .*past the end of a file of 500"),
    Kind("data-cut", bytes_of(lambda raw: raw[:9000]), r"DFL101 .*incomplete"),
    Kind("data-too-long", bytes_of(lambda raw: raw + b"more"), r"DFL101 .*accounts for"),
    Kind("header-of-noise", head_text(lambda _: b"\xff\xfe" * 40), r"DFL101 .*not UTF-8"),
    Kind("header-of-words", head_text(lambda _: b"no header at all"), r"DFL101 .*not JSON"),
    Kind("header-a-list", head_text(lambda _: b"[]"), r"DFL101 .*no JSON object"),
    Kind("header-with-nan", head_text(lambda raw: raw.rstrip()[:-1] + b', "x": NaN}'), r"DFL101 .*NaN"),
    Kind(
        "header-nested-deep", head_text(lambda _: b'{"a":' * 50_000 + b"1" + b"}" * 50_000), r"DFL101 .*nested|DFL011"
    ),
    Kind("header-of-many", head_text(lambda _: b"[" + b"1," * 5_000_000 + b"1]"), r"DFL011 .*values"),
    Kind(
        "a-name-twice", head_text(lambda raw: raw.rstrip()[:-1] + b', "d2t": {}}'), r"DFL101 .*'d2t' is declared more"
    ),
    Kind("an-entry-null", head(lambda fields: fields.update({SHORT: None})), r"DFL101 .*'norm\.weight' is no object"),
    Kind("no-dtype", head(lambda fields: fields[SHORT].pop("dtype")), r"DFL101 .*'norm\.weight' has no dtype"),
    Kind("no-shape", head(lambda fields: fields[SHORT].pop("shape")), r"DFL101 .*shape of 'norm\.weight' is no list"),
    Kind("no-offsets", head(lambda fields: fields[SHORT].pop("data_offsets")), r"DFL101 .*data_offsets of"),
    Kind("metadata-a-list", head(lambda fields: fields.update({"__metadata__": [1]})), r"DFL101 .*__metadata__"),
    Kind("dtype-a-number", tensor(SHORT, dtype=16), r"DFL101 .*has no dtype"),
    Kind("shape-negative", tensor(SHORT, shape=[-64]), r"DFL101 .*negative number -64"),
    Kind("shape-a-float", tensor(SHORT, shape=[64.0]), r"DFL101 .*no integer"),
    Kind("shape-of-100-bits", tensor(SHORT, shape=[2**100]), r"DFL101 .*101 bits"),
    Kind("shape-that-overflows", tensor(SHORT, shape=[2**40, 2**40]), r"DFL101 .*63 bits can count"),
    Kind("shape-of-10000-dimensions", tensor(SHORT, shape=[1] * 10_000), r"10000 dimensions"),
    Kind("shape-of-another-size", tensor(SHORT, shape=[65]), r"DFL101 .*takes 130 bytes"),
    Kind("offsets-overlap", tensor(SHORT, data_offsets=[0, 128]), r"DFL101 .*(overlap|hole) in the data"),
    Kind("offsets-past-the-end", tensor(SHORT, data_offsets=[10**9, 10**9 + 128]), r"DFL101 .*hole in the data"),
    Kind("offsets-reversed", tensor(SHORT, data_offsets=[128, 0]), r"DFL101 .*reversed"),
    Kind("offsets-of-three", tensor(SHORT, data_offsets=[0, 1, 2]), r"DFL101 .*3 numbers, not 2"),
    Kind("a-hole", head(lambda fields: fields.pop(SHORT)), r"DFL101 .*(hole|accounts for)"),
    Kind("a-name-with-escapes", named_tensor(f"{ESC}{BIDI}{CSI}\r\nfc"), r"fc"),
    Kind("a-name-of-1-mb", named_tensor("x" * 1_000_000), r"xxxx"),
    Kind("no-tensors", text(_framed(b"{}"), WEIGHTS), r"DFL\d{3} .*(tensor|parameter|weight)"),
    Kind(
        "two-files-of-one-drafter",
        lambda it: _write(it / "z.safetensors", (it / WEIGHTS).read_bytes()),
        r"DFL102",
        PASSES,
    ),
]

INDEXES = [
    Kind("index-empty", text("", INDEX), r"DFL101 .*index\.json: not JSON"),
    Kind("index-not-json", text("weights", INDEX), r"DFL101 .*index\.json: not JSON"),
    Kind("index-a-list", text("[]", INDEX), r"DFL101 .*no weight_map"),
    Kind("index-a-pointer", text(POINTER, INDEX), r"DFL007 .*index\.json: a Git LFS pointer"),
    Kind("index-names-nothing", index({}), r"DFL101 .*weight_map is empty"),
    Kind("index-of-numbers", index({"fc.weight": 1}), r"DFL101 .*no file name"),
    Kind("index-leaves", index({"fc.weight": "../../etc/passwd"}), r"DFL101 .*leaves the folder"),
    Kind("index-absolute", index({"fc.weight": "/etc/passwd"}), r"DFL101 .*leaves the folder"),
    Kind("index-of-a-pickle", index({"fc.weight": "pytorch_model.bin"}), r"DFL101 .*no safetensors file"),
    Kind("index-with-escapes", index({"fc.weight": f"{ESC}.safetensors"}), r"DFL101 .*x1b"),
    Kind("index-of-an-absent-shard", index({"fc.weight": "model-00001-of-00002.safetensors"}), r"DFL513 .*not there"),
    Kind("index-disagrees", index({"other.weight": WEIGHTS}), r"DFL102 .*disagree", PASSES),
]

MAPS = [
    Kind("d2t-of-fractions", values("d2t", "d", (0.5, 1.5), "F64"), r"DFL101 .*d2t: \[0\] = 0\.5 is no integer"),
    Kind("d2t-of-nan", values("d2t", "d", (float("nan"),), "F64"), r"DFL101 .*no integer"),
    Kind("d2t-huge", values("d2t", "q", (2**63 - 1,) * 256), r"DFL305|DFL302|DFL310"),
    Kind("d2t-negative", values("d2t", "q", (-(2**63),) * 256), r"DFL305|DFL310"),
    Kind("d2t-of-complex", tensor("d2t", dtype="C64"), r"DFL101 .*C64 cannot be read"),
    Kind("d2t-3-d", tensor("d2t", shape=[4, 8, 8]), r"d2t"),
    Kind("d2t-scalar", recipe({"tensors": {"d2t": "I64 1 = 0*1"}}), r"DFL304 .*d2t"),
    Kind("d2t-of-5-mb", recipe({"tensors": {"d2t": "I64 700000"}}), r"DFL011 .*d2t: 5600000 bytes|DFL304"),
    Kind("d2t-short", recipe({"tensors": {"d2t": "I64 200 = 0*200"}}), r"DFL304 .*d2t"),
    Kind("t2d-short", recipe({"tensors": {"t2d": "BOOL 500 = zeros"}}), r"DFL316 .*t2d", PASSES),
    Kind("t2d-none", recipe({"tensors": {"t2d": "BOOL 512 = zeros"}}), r"DFL307 .*t2d", PASSES),
]

TARGETS = [
    Kind("target-empty", empty, r"DFL005 .*target.*no config\.json", STOPS, "target"),
    Kind("target-config-empty", text(""), r"DFL208", STOPS, "target"),
    Kind("target-config-a-list", text("[]"), r"DFL208", STOPS, "target"),
    Kind("target-config-without-fields", text("{}"), r"hidden_size", STOPS, "target"),
    Kind("target-config-a-pointer", text(POINTER), r"DFL007 .*target", STOPS, "target"),
    Kind("target-config-nested-deep", text(DEEP), r"DFL011 .*target", STOPS, "target"),
    Kind("target-config-a-link-out", link(CONFIG, "/etc/hostname"), r"DFL002 .*target.*leads out", STOPS, "target"),
    Kind("target-config-key-twice", line('"hidden_size": 64'), r"DFL208 .*appears again", PASSES, "target"),
    Kind(
        "target-hidden-size-a-string", field("hidden_size", "64"), r"DFL209 hidden_size of the target", STOPS, "target"
    ),
    Kind(
        "target-layers-negative",
        field("num_hidden_layers", -8),
        r"DFL209 num_hidden_layers of the target is -8",
        STOPS,
        "target",
    ),
    Kind(
        "target-layers-a-word",
        field("num_hidden_layers", "eight"),
        r"DFL209 num_hidden_layers of the target",
        STOPS,
        "target",
    ),
    Kind("target-vocabulary-a-word", field("vocab_size", "many"), r"DFL209 vocab_size of the target", STOPS, "target"),
    Kind(
        "target-architectures-null",
        field("architectures", None),
        r"DFL209 architectures of the target",
        STOPS,
        "target",
    ),
]

#: What looks strange and means nothing: engines read these as if they were not there.
HARMLESS: tuple[Kind, ...] = (
    Kind("eagle-config-null", field("eagle_config", None), ""),
    Kind("layer-ids-null", field(IDS, None), ""),
    Kind("an-empty-tensor-of-no-name", named_tensor("rotary_emb.inv_freq"), ""),
    Kind("another-file", text("x" * 100_000, "notes.txt"), ""),
    Kind("a-pipe-beside", lambda folder: os.mkfifo(folder / "pipe"), ""),
    Kind("target-text-config-null", field("text_config", None), "", PASSES, "target"),
)

KINDS: tuple[Kind, ...] = (*FOLDERS, *CONFIGS, *FIELDS, *WEIGHT_FILES, *INDEXES, *MAPS, *TARGETS)
