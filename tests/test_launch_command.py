"""``drafter-lint launch`` as it is typed: what it prints in each format, what it exits with, and what it reads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import drafter_lint
import published
from command_line import DRAFTER, SMALL, TARGET, Answer, call, enter
from drafter_lint.launch import parse_command, split_command, split_commands
from hub_pairs import run, small_pair
from loopback_hub import LoopbackHub, Repo

ROOT = published.FIXTURES.parent
SCHEMA = json.loads((ROOT / "schemas" / "launch.schema.json").read_text("utf-8"))
NAMES = ("example/drafter", "example/target")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")


def launch(*words: str) -> Answer:
    return call("launch", DRAFTER, "--target", TARGET, *words)


def document(*words: str) -> Any:
    """The JSON document, which follows its schema."""
    made = json.loads(launch(*words, "--format", "json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    return made


def test_the_screen_holds_the_command_its_reasons_and_what_is_left_out() -> None:
    code, out, err = launch(
        "--engine", "sglang==0.5.23", "--tensor-parallel", "2", "--", "--speculative-algorithm", "EAGLE"
    )
    assert (code, err) == (0, "")
    for part in (
        "python3 -m sglang.launch_server \\\n    --model-path example/target \\\n",
        "    --speculative-algorithm EAGLE3 \\\n",
        "    --tp-size 2\n",
        " why\n",
        " left out\n   --speculative-algorithm EAGLE  EAGLE-3 drafter started with method EAGLE",
        " often given, not here\n   --speculative-token-map FILE",
        " left to the engine\n   --speculative-num-draft-tokens ",
        " drafts   yes      states captured at boundaries",
    ):
        assert part in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_every_engine_is_asked_where_none_is_named() -> None:
    code, out, err = launch("--format", "shell")
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if line.startswith("#")] == ["# sglang 0.5.23", "# vllm 0.33.0"]
    assert len(split_commands(out)) == 2


def test_shell_prints_the_command_alone_and_it_checks_clean() -> None:
    code, out, err = launch("--engine", "vllm", "--format", "shell")
    assert (code, err) == (0, "")
    assert parse_command(split_command(out)).engine == "vllm"
    checked = call("check", DRAFTER, "--target", TARGET, "--engine", "vllm", "--launch", out)
    assert (checked.code, checked.err) == (0, "")
    Path("serve.sh").write_text(out, "utf-8")
    assert call("scan", "serve.sh").code == 3  # example/… is on no Hub, but the command is found


def test_quiet_is_the_command_on_the_screen() -> None:
    assert launch("--engine", "vllm", "-q").out == launch("--engine", "vllm", "--format", "shell").out


def test_no_command_is_said_plainly_with_where_there_is_one() -> None:
    speculators = SMALL / "eagle3-speculators.recipe.toml"
    code, out, err = call("launch", str(speculators), "--target", TARGET, "--engine", "sglang")
    assert (code, err) == (1, "")
    assert "sglang 0.5.23: no command makes this pair work\n" in out
    assert "error[DFL414]" in out
    assert "works in vllm " in " ".join(out.split())
    assert "\npython3" not in out
    shell = call("launch", str(speculators), "--target", TARGET, "--engine", "sglang", "--format", "shell")
    assert shell == Answer(1, "", "sglang 0.5.23: no command makes this pair work: DFL414 config-refused\n")
    (one,) = json.loads(call("launch", str(speculators), "--target", TARGET, "-e", "sglang", "--format", "json").out)[
        "launches"
    ]
    assert one["status"] == "refused"
    assert {run["engine"] for run in one["works_in"]} == {"vllm"}


def test_engines_nobody_asked_for_do_not_fail_alone() -> None:
    code, out, _ = call("launch", str(SMALL / "eagle3-speculators.recipe.toml"), "--target", TARGET)
    assert code == 0
    assert "no command makes this pair work" in out
    assert "vllm serve" in out


def test_what_is_needed_and_not_known_is_3() -> None:
    code, out, _ = call("launch", DRAFTER, "--engine", "sglang")
    assert code == 3
    assert "no command can be put together: no target is known; name one with --target" in out
    assert call("launch", DRAFTER, "--engine", "sglang", "--allow-unknown").code == 0
    shell = call("launch", DRAFTER, "--engine", "sglang", "--format", "shell")
    assert (shell.code, shell.out) == (3, "")
    assert shell.err.startswith("sglang 0.5.23: no command can be put together")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--format", "config"), "--format config writes one engine's file; name it with --engine"),
        (("--engine", "sglang==0.5.2", "--format", "config"), "sglang 0.5.2 reads no file of flags"),
        (("--engine", "vllm", "--", "word"), "flags are expected after --, not 'word'"),
        (("--engine", "vllm", "--engine", "sglang", "--", "--tp", "2"), "flags after -- belong to one engine"),
        (("--tensor-parallel", "0"), "0 is not in the range x>=1"),
        (("--engine", "sglang==0.1"), "is older than everything read"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], expected: str) -> None:
    code, out, err = launch(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert expected in err
    assert err.count("\n") == 1


def test_config_is_the_file_of_flags() -> None:
    code, out, err = launch("--engine", "vllm", "--tensor-parallel", "2", "--format", "config")
    assert (code, err) == (0, "")
    assert out == (
        "# vllm serve example/target --config FILE.yaml\n"
        """speculative-config: '{"method": "eagle3", "model": "example/drafter", "num_speculative_tokens": 3}'\n"""
        "tensor-parallel-size: 2\n"
    )
    Path("vllm.yaml").write_text(out, "utf-8")
    assert "--speculative-config" in call("launch", DRAFTER, "-t", TARGET, "-e", "vllm", "-q").out


def test_the_document_follows_its_schema_and_says_what_the_screen_says() -> None:
    made = document("--engine", "sglang", "--engine", "vllm")
    assert [one["status"] for one in made["launches"]] == ["ready", "ready"]
    for one in made["launches"]:
        command = one["command"]
        assert split_command(command["text"]) == tuple(command["argv"])
        assert all(part["why"] for part in command["parts"])
        assert one["works_in"] is None
    sglang, _ = made["launches"]
    assert {left["code"] for left in sglang["omitted"]} == {"DFL401", "DFL407"}
    assert [left["flag"] for left in sglang["left_to_the_engine"]] == ["--speculative-num-draft-tokens"]


def test_a_document_without_a_command() -> None:
    made = json.loads(call("launch", DRAFTER, "--format", "json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    assert [(one["status"], one["command"]) for one in made["launches"]] == [("unknown", None)] * 2


def test_settings_say_what_is_failed_on_and_what_is_suppressed() -> None:
    wrong = 'engines = ["sglang"]\n[[suppress]]\ncode = "DFL414"\nreason = "a patched build reads it"\n'
    Path("drafter-lint.toml").write_text(wrong, "utf-8")
    speculators = str(SMALL / "eagle3-speculators.recipe.toml")
    shown = call("launch", speculators, "--target", TARGET)
    assert shown.code != 1
    assert "python3 -m sglang.launch_server" in shown.out


def test_what_the_drafter_was_trained_on_can_be_said() -> None:
    answer = launch("--engine", "sglang", "--trained-on", "1,4,6", "-q")
    assert answer.code == 0
    (line,) = [line for line in answer.out.splitlines() if "--json-model-override-args" in line]
    (value,) = split_command(line)[1:]
    assert json.loads(value)["eagle_config"]["eagle_aux_hidden_state_layer_ids"] == [0, 3, 5]


def test_as_a_library_call() -> None:
    found = drafter_lint.launch_command(SMALL / "eagle3-llama.recipe.toml", TARGET, engine="vllm", tensor_parallel=2)
    assert isinstance(found, drafter_lint.Composed)
    assert found.status == "ready"
    assert found.command is not None
    assert found.command.argv[:3] == ("vllm", "serve", "example/target")


def hub_repos() -> dict[str, Repo]:
    """The small pair with a tag each, and the drafter again in a folder of another repository."""
    repos = small_pair()
    for name in NAMES:
        repos[name]["revisions"] = {"v1": {**repos[name]}}
    inside = {f"sub/{path}": content for path, content in repos[NAMES[0]]["files"].items()}
    return {**repos, "example/several": {"commit": "5" * 40, "files": inside}}


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("sglang==0.5.23", "--revision v1 --speculative-draft-model-revision v1"),
        ("vllm==0.33.0", """"num_speculative_tokens": 3, "revision": "v1"}' --revision v1"""),
    ],
)
def test_revisions_are_asked_of_the_engine_too(engine: str, words: str) -> None:
    with LoopbackHub(hub_repos()):
        answer = run("launch", f"{NAMES[0]}@v1", "--target", f"{NAMES[1]}@v1", "--engine", engine)
    assert answer.code == 0
    assert words in " ".join(answer.out.replace("\\\n", "").split())


def test_a_release_without_the_flag_says_what_to_do() -> None:
    with LoopbackHub(hub_repos()):
        answer = run("launch", f"{NAMES[0]}@v1", "--target", NAMES[1], "--engine", "sglang==0.4.9.post6")
    assert "--speculative-draft-model-revision" not in answer.out
    assert "no flag of this release names the drafter's revision" in answer.out


def test_a_page_and_an_alias_are_given_by_their_ids() -> None:
    Path("drafter-lint.toml").write_text(f'[aliases]\nours = "{NAMES[1]}"\n', "utf-8")
    with LoopbackHub(hub_repos()) as hub:
        page = f"{hub.endpoint}/{NAMES[0]}"
        answer = run("launch", page, "--target", "ours", "--engine", "sglang", "-q")
    assert answer.code == 0
    assert answer.out.splitlines()[1:4:2] == [
        f"    --model-path {NAMES[1]} \\",
        f"    --speculative-draft-model-path {NAMES[0]}",
    ]


def test_a_folder_of_a_repository_is_to_be_fetched_first() -> None:
    with LoopbackHub(hub_repos()):
        answer = run("launch", "hf://example/several/sub", "--target", NAMES[1], "--engine", "vllm")
    said = " ".join(answer.out.split())
    assert '"model": "./several/sub"' in said
    assert "hf download example/several --include 'sub/*' --local-dir several" in said


def test_a_command_costs_the_requests_of_a_check() -> None:
    costs = []
    for word in ("check", "launch"):
        with LoopbackHub(hub_repos()) as hub:
            run(word, NAMES[0], "--target", NAMES[1], "--engine", "sglang", "--engine", "vllm")
            costs.append(len(hub.requests))
    assert costs[1] <= costs[0] + 1


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell is asked")
def test_a_shell_reads_the_words_that_were_meant() -> None:
    shell = shutil.which("sh")
    assert shell
    flags = ("--served-model-name", "it's a $HOME `of` \\ quotes\"", "--api-key", "$KEY")
    out = launch("--engine", "sglang", "--format", "shell", "--", *flags).out
    words = out.replace("python3 -m sglang.launch_server", "printf '%s\\n'", 1)
    env = {"HOME": "/home/x", "KEY": "k"}
    done = subprocess.run([shell, "-c", words], check=True, capture_output=True, text=True, env=env)
    said = done.stdout.splitlines()
    assert said[said.index("--served-model-name") + 1] == "it's a /home/x `of` \\ quotes\""
    assert said[said.index("--api-key") + 1] == "k"
