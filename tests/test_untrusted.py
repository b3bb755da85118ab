"""What a checkpoint brings along is shown and never obeyed, run or unpickled; what a user keeps secret is not shown."""

from __future__ import annotations

import json
import os
import pickle
import re
import unicodedata
import zipfile
from pathlib import Path

import pytest

from bad_folders import BIDI, CSI, ESC, WEIGHTS, field, named_tensor
from hub_pairs import DRAFTER, TARGET, run, small, small_pair, spawn
from loopback_hub import Kind, LoopbackHub

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown", "html")
PAIR = ("check", DRAFTER, "--target", TARGET, "--engine", "sglang")

# Secrets.


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> LoopbackHub:
    monkeypatch.setattr("drafter_lint.sources.wire.PAUSES", (0.01, 0.02))
    return LoopbackHub(small_pair(), private=frozenset({DRAFTER}))


@pytest.mark.parametrize("kind", ["none", "bad-token", "403", "gated", "503", "redirect-loop", "no-tls", "bad-json"])
def test_the_token_is_in_no_output_and_no_file(hub: LoopbackHub, kind: Kind, tmp_path: Path) -> None:
    with hub:
        if kind != "none":  # type: ignore[comparison-overlap]
            hub.fault(DRAFTER, "header", kind)
        reports = [word for name in FORMATS for word in ("--report", f"{name}={tmp_path / name}")]
        said = [run(*PAIR, "-v", *reports), run("inspect", DRAFTER), run("record", DRAFTER), run("plan", *PAIR[1:])]
        texts = [part for answer in said for part in (answer.out, answer.err)]
        files = [path for place in (tmp_path, Path(hub.kept)) for path in place.rglob("*") if path.is_file()]
        assert len(files) > len(FORMATS)
        for shown in (*texts, *(path.read_bytes().decode(errors="replace") for path in files), *map(str, files)):
            assert hub.token not in shown
            assert "Signature=" not in shown
        assert any(request.headers.get("authorization", "").endswith(hub.token) for request in hub.requests)


@pytest.mark.parametrize("name", FORMATS)
def test_secrets_of_a_launch_file_are_in_no_report(tmp_path: Path, name: str) -> None:
    secrets = ("hf_aTokenThatIsSecret", "sk-aKeyThatIsSecret", "aPasswordOfSomebody")
    script = tmp_path / "serve.sh"
    small("eagle3-llama").write(tmp_path / "drafter-eagle3")
    small("target-llama").without_weights().write(tmp_path / "target")
    script.write_text(
        f"export HF_TOKEN={secrets[0]} DB_PASSWORD={secrets[2]}\n"
        f"HF_TOKEN={secrets[0]} python -m sglang.launch_server --model-path {tmp_path}/target --api-key {secrets[1]} "
        f"--speculative-draft-model-path {tmp_path}/drafter-eagle3 --speculative-algorithm EAGLE --unknown-flag 1\n"
    )
    answer = run("check", "--launch", str(script), "--format", name)
    assert answer.code == 1
    for secret in secrets:
        assert secret not in answer.out + answer.err


# Names.

HOSTILE = f"{ESC}{BIDI}{CSI}\r\n::error::x<script>alert(1)</script>|`*_[x](javascript:y)@all&quot;"


@pytest.mark.parametrize("name", FORMATS)
def test_a_hostile_name_is_text_in_every_report(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "drafter-eagle3"
    small("eagle3-llama").write(folder)
    small("target-llama").without_weights().write(tmp_path / "target")
    named_tensor(HOSTILE)(folder)
    field("architectures", [f"LlamaForCausalLMEagle3{HOSTILE}"])(folder)
    field("model_type", HOSTILE)(folder)
    words = ("check", str(folder), "--target", str(tmp_path / "target"), "--engine", "sglang", "--engine", "vllm")
    answer = run(*words, "--format", name)
    assert answer.code in {1, 3}
    assert "alert(1)" in answer.out  # it is shown: the report speaks of it
    obeyed = {char for char in answer.out if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}}
    assert obeyed <= {"\t"}
    assert not re.search(r"^::error::x", answer.out, re.MULTILINE)
    # In Markdown what stands between fences or ticks is nothing but text.
    prose = re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$|(`+)(?!`).*?(?<!`)\2(?!`)", "", answer.out)
    if name in {"html", "markdown", "junit"}:
        assert "<script>alert" not in (prose if name == "markdown" else answer.out)
    if name == "markdown":
        assert not re.search(r"(?<!\\)\]\(javascript:", prose)


# Code.

_WATCHED = """
import os, sys
touched = []
def heard(event, args):
    if event in {"pickle.find_class", "os.system", "os.posix_spawn", "os.fork", "subprocess.Popen"}:
        touched.append((event, str(args)[:200]))
    elif event == "open" and str(args[0]).endswith((".bin", ".pt", ".pth", ".pkl", ".zip", ".py")):
        if os.path.abspath(str(args[0])).startswith(os.getcwd()):
            touched.append((event, args[0]))
    elif event in {"compile", "exec"} and os.getcwd() in str(args):
        touched.append((event, str(args)[:200]))
sys.addaudithook(heard)
from drafter_lint.cli import main
try:
    main(sys.argv[1:])
finally:
    print(touched, file=sys.stderr)
"""


class Bomb:
    """What unpickles into a file that must not be there."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize("words", [("check",), ("plan",), ("inspect",), ("record",), ("compare",)])
def test_no_code_of_a_checkpoint_is_run_and_no_pickle_or_archive_opened(tmp_path: Path, words: tuple[str, ...]) -> None:
    folder, target = tmp_path / "drafter-eagle3", tmp_path / "target"
    small("eagle3-llama").write(folder)
    small("target-llama").without_weights().write(target)
    for place in (folder, target):
        for name in ("pytorch_model.bin", "optimizer.pt", "eagle_meta.pt", "training_args.bin"):
            (place / name).write_bytes(pickle.dumps(Bomb()))
        with zipfile.ZipFile(place / "archive.pt", "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps(Bomb()))
        for name in ("configuration_x", "modeling_x", "tokenization_x", "conftest", "sitecustomize"):
            (place / f"{name}.py").write_text("import os; os.mkdir('imported')\n")
        field("auto_map", {"AutoConfig": "configuration_x.C", "AutoModel": "modeling_x.M"})(place)
    if words == ("compare",):
        (folder / WEIGHTS).unlink()  # the pickle is all there is
    both = (folder.name, *(() if words[0] in {"inspect", "record"} else (target.name,) if words[0] == "compare" else
            ("--target", target.name, "--engine", "sglang", "--engine", "vllm")))  # fmt: skip
    answer = spawn(tmp_path, (*words, *both), program=_WATCHED)
    assert answer.code in {0, 1, 3}
    assert json.loads(answer.err.replace("'", '"').replace("(", "[").replace(")", "]")) == []
    assert [path.name for path in tmp_path.rglob("*") if path.name in {"unpickled", "imported"}] == []
