"""Scanning documents: what is looked at, what becomes a check, and what is said of the rest."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import COMMAND, DRAFTER, MISTAKEN, TARGET, call, enter
from drafter_lint import api, opening
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.findings import Role
from drafter_lint.launch.files.documents import is_document
from drafter_lint.sources import LocalSource, Tally
from test_json import validated

COMPOSE = f"""services:
  pet:
    image: lmsysorg/sglang:v0.5.9-cu126
    command: >
      {MISTAKEN}
"""
VLLM = (
    f"vllm serve {TARGET} --speculative-config "
    f"""'{{"method": "eagle3", "model": "{DRAFTER}", "num_speculative_tokens": 3}}'"""
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with the small pair."""
    enter(tmp_path, monkeypatch)
    return tmp_path


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def scan(*words: str) -> tuple[int, list[dict[str, Any]]]:
    code, out, err = call("scan", *words, "--format", "json")
    assert err == ""
    return code, validated(out)["checks"]


def codes(check: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in check["findings"]]


def reasons(check: dict[str, Any]) -> list[str]:
    return [skip["reason"] for skip in check["not_checked"] if skip["code"] == "DFL012"]


def test_every_command_of_every_document_with_its_place() -> None:
    write("deploy/compose.yaml", COMPOSE)
    write("serve.sh", f"set -e\n{COMMAND}\n{VLLM}\n")
    code, checks = scan(".")
    assert code == 1
    assert [(check["source"]["file"], check["source"]["line"]) for check in checks] == [
        ("serve.sh", 2),
        ("serve.sh", 3),
        ("deploy/compose.yaml", 5),
    ]
    assert [codes(check) for check in checks] == [[], [], ["DFL401"]]
    assert checks[2]["engine"]["version"] == "0.5.9"
    assert checks[2]["findings"][0]["locations"][0]["file"] == "deploy/compose.yaml"
    assert checks[1]["launch"]["method"] == {"value": "eagle3", "line": 3}


def test_the_place_is_shown_to_people() -> None:
    write("serve.sh", MISTAKEN)
    code, out, _ = call("scan", "serve.sh")
    assert code == 1
    assert "  --> serve.sh:1:" in out
    assert "\n command  serve.sh:1:1\n" in out
    out = call("scan", "serve.sh", "--format", "concise").out
    assert "serve.sh:1:1: silent: " in out


def test_an_engine_restricts_and_a_version_overrides() -> None:
    write("compose.yaml", COMPOSE)
    write("serve.sh", VLLM)
    assert [check["engine"]["version"] for check in scan(".", "--engine", "sglang")[1]] == ["0.5.9"]
    two = scan(".", "--engine", "sglang==0.5.23", "--engine", "sglang==0.5.12")[1]
    assert [check["engine"]["version"] for check in two] == ["0.5.23", "0.5.12"]
    assert [check["engine"]["name"] for check in scan(".", "-e", "vllm")[1]] == ["vllm"]
    write("drafter-lint.toml", "engines = ['sglang==0.5.12', 'vllm==0.9.2']")
    assert [check["engine"]["version"] for check in scan(".")[1]] == ["0.5.9", "0.9.2"]


def test_only_what_speculates_is_checked() -> None:
    write("serve.sh", f"vllm serve {TARGET}\npython -m sglang.launch_server --model-path {TARGET}\n")
    assert scan(".") == (0, [])
    code, out, _ = call("scan", ".")
    assert (code, out) == (0, "nothing to check: no launch command with speculative decoding\n")


def test_what_is_looked_at_in_a_folder() -> None:
    for name in ("a.sh", "B.YAML", "Dockerfile.gpu", "c.md", "sub/d.py", "e.service"):
        assert is_document(name.rpartition("/")[2])
    for name in ("a.rs", "model.safetensors", "README", "x.toml"):
        assert not is_document(name)
    write("a.sh", COMMAND)
    for hidden in (".git/a.sh", "node_modules/a.sh", ".venv/a.sh", "x.rs"):
        write(hidden, MISTAKEN)
    write("big.sh", f"{MISTAKEN}\n" + "#" * 1_000_000)
    write("data.sh", f"{MISTAKEN}\n\0")
    Path("gone.sh").symlink_to("a.sh")
    os.mkfifo("pipe.sh")
    assert [check["source"]["file"] for check in scan(".")[1]] == ["a.sh", "gone.sh"]
    assert [check["source"]["file"] for check in scan("a.sh", "a.sh", ".", "x.rs")[1]] == ["a.sh", "gone.sh", "x.rs"]


def test_a_report_of_ours_is_no_document() -> None:
    write("a.sh", MISTAKEN)
    call("scan", "a.sh", "--report", "json=report.json")
    assert len(scan(".")[1]) == 1


@pytest.mark.parametrize(
    ("text", "reason"), [("x\0", "is no text"), ("#" * 3_000_000 + "vllm", "more than a million bytes")]
)
def test_a_named_file_that_cannot_be_read_is_not_checked(text: str, reason: str) -> None:
    write("a.sh", text)
    code, (check,) = scan("a.sh")
    assert (code, check["verdict"], reasons(check)) == (3, "unknown", [f"a.sh: {reason}"])


@pytest.mark.parametrize("kilobytes", [1_000, 1_024, 3_000])
def test_a_large_file_is_passed_over_if_it_speaks_of_no_engine(kilobytes: int) -> None:
    write("log.txt", "." * (kilobytes * 1_024))
    assert scan("log.txt") == (0, [])
    for split in range(5):  # the word may lie across two pieces
        write("log.txt", "." * (1_000_001 - split) + "sglang" + "." * 1_024)
        assert reasons(scan("log.txt")[1][0]) == ["log.txt: more than a million bytes"]


def test_a_path_that_does_not_exist() -> None:
    assert call("scan", "nowhere") == (2, "", "error: no such file or folder: nowhere\n")
    assert call("scan", ".", "--engine", "sglang==0.1").code == 2
    assert call("scan").code == 2


def test_a_variable_is_given_or_named_as_unknown() -> None:
    write("serve.sh", COMMAND.replace(DRAFTER, "$DRAFT") + " --tp $TP\n")
    code, (check,) = scan(".")
    assert (code, check["verdict"], check["engine"]) == (3, "unknown", None)
    assert reasons(check) == ["serve.sh:1: $DRAFT is unknown; pass --var DRAFT=…"]
    assert check["launch"]["unresolved"] == ["$DRAFT", "$TP"]
    code, (check,) = scan(".", "--var", f"DRAFT={DRAFTER}")
    assert (code, check["verdict"]) == (0, "ok")
    assert reasons(check) == ["serve.sh:1: $TP is unknown; pass --var TP=…"]
    code, (check,) = scan(".", "--var", f"DRAFT={DRAFTER}", "--var", "TP=1")
    assert (code, check["verdict"], reasons(check)) == (0, "ok", [])


def test_a_command_that_names_no_model() -> None:
    config = "--speculative-algorithm NGRAM --speculative-num-draft-tokens 4"
    write("a.sh", f"python -m sglang.launch_server --model-path $MODEL {config}\n")
    write("b.sh", f"python -m sglang.launch_server {config}\n")
    code, (variable, nothing) = scan(".")
    assert code == 3
    assert reasons(variable) == ["a.sh:1: $MODEL is unknown; pass --var MODEL=…"]
    assert reasons(nothing) == ["b.sh:1: neither a drafter nor a target is named here"]


def test_a_variable_that_nothing_fills_in() -> None:
    write("serve.sh", VLLM.replace(DRAFTER, "$DRAFT"))
    _, (check,) = scan(".", "--var", f"DRAFT={DRAFTER}")
    named = "'$DRAFT' is neither a local path, nor owner/name, nor a known alias"
    assert (reasons(check), check["launch"]["unresolved"]) == ([f"serve.sh:1: {named}"], [])


@pytest.mark.parametrize("old", ["EAGLE3", DRAFTER])
def test_an_open_method_or_drafter_is_not_judged(old: str) -> None:
    write("serve.sh", COMMAND.replace(old, "$X"))
    code, (check,) = scan(".")
    assert (code, codes(check), check["verdict"]) == (3, [], "unknown")


def test_what_cannot_be_read_as_a_command_is_told() -> None:
    write("serve.sh", f'vllm serve {TARGET} --speculative-config \'{{"method": "mtp"\n')
    code, (check,) = scan(".")
    assert code == 3
    assert reasons(check) == ["serve.sh:1: a single quote is not closed"]
    for format_ in ("text", "concise", "sarif", "github", "gitlab", "junit", "markdown", "html"):
        code, out, err = call("scan", ".", "--format", format_)
        assert (code, err) == (3, "")
        assert "serve.sh:1: a single quote is not closed" in out or format_ == "gitlab"


def test_a_document_may_say_what_we_cannot_take() -> None:
    write("old.yaml", COMPOSE.replace("v0.5.9-cu126", "v0.3.0"))
    write("word.sh", COMMAND.replace(DRAFTER, "some-drafter"))
    write("many.sh", COMMAND.replace(TARGET, "kimi-k2"))
    code, checks = scan("old.yaml", "word.sh", "many.sh")
    assert code == 3
    old, word, many = (reasons(check)[0] for check in checks)
    assert old.startswith("old.yaml:5: sglang 0.3.0 is older than everything read")
    assert word == "word.sh:1: 'some-drafter' is neither a local path, nor owner/name, nor a known alias"
    assert many.startswith("many.sh:1: 'kimi-k2' could mean any of: ")


def test_flags_cut_off_from_their_command() -> None:
    cut = COMMAND.replace(" --speculative-alg", " \\\n# a comment\n  --speculative-alg")
    write("serve.sh", cut)
    code, (check,) = scan(".")
    assert code == 1
    assert codes(check) == ["DFL423"]
    assert check["findings"][0]["locations"][0]["line"] == 3


def test_comments_suppress_beside_the_command() -> None:
    write("serve.sh", f"{MISTAKEN}  # drafter-lint: ignore[DFL401] a demonstration\n{MISTAKEN}\n")
    code, (first, second) = scan(".")
    assert code == 1
    assert [item["reason"] for item in first["suppressed"]] == ["a demonstration"]
    assert (codes(first), codes(second), second["suppressed"]) == ([], ["DFL401"], [])
    write("serve.sh", f"# drafter-lint: ignore[DFL401]\n{MISTAKEN}\n")
    _, (check,) = scan(".")
    assert codes(check) == ["DFL401", "DFL903"]
    write("serve.sh", f"# drafter-lint: ignore[DFL401] mended\n{COMMAND}\n")
    _, (check,) = scan(".")
    assert codes(check) == ["DFL901"]


def test_a_comment_above_the_block_that_holds_the_command() -> None:
    key = "    command: >\n"
    write("compose.yaml", COMPOSE.replace(key, f"    # drafter-lint: ignore[DFL401] on purpose\n{key}"))
    code, (check,) = scan(".")
    assert (code, codes(check), len(check["suppressed"])) == (0, [], 1)


def test_a_comment_on_a_flag_held_in_an_array() -> None:
    flags = COMMAND.partition(f"{TARGET} ")[2].replace("EAGLE3", "EAGLE  # drafter-lint: ignore[DFL401] so\n")
    write("serve.sh", f"ARGS=(\n{flags}\n)\npython3 -m sglang.launch_server --model-path {TARGET} ${{ARGS[@]}}\n")
    code, (check,) = scan(".")
    assert (code, len(check["suppressed"])) == (0, 1)


def test_every_checkpoint_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = LocalSource.__init__

    def counted(self: LocalSource, path: str, tally: Tally | None = None) -> None:
        opened.append(path)
        real(self, path, tally)

    monkeypatch.setattr(LocalSource, "__init__", counted)
    local = COMMAND.replace(DRAFTER, "./d").replace(TARGET, "./t")
    write("serve.sh", f"{local}\n{local} --tp 2\n{local.replace('EAGLE3', 'EAGLE')}\n")
    assert len(scan(".")[1]) == 3
    assert sorted(opened) == ["./d", "./t"]


def test_launch_takes_a_file_standard_input_or_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    write("serve.sh", f"#!/bin/sh\n{MISTAKEN}\n")
    by_file = call("check", "--launch", "serve.sh", "--format", "json")
    scanned = call("scan", "serve.sh", "--format", "json")
    assert validated(by_file.out)["checks"] == validated(scanned.out)["checks"]
    assert by_file.code == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO(COMPOSE))
    (piped,) = validated(call("check", "--launch", "-", "--format", "json").out)["checks"]
    assert (piped["source"], codes(piped)) == ({"file": "-", "line": 5, "column": 7}, ["DFL401"])
    (typed,) = validated(call("check", "--launch", MISTAKEN, "--format", "json").out)["checks"]
    assert (typed["source"], codes(typed)) == (None, ["DFL401"])
    write("empty.sh", "echo\n")
    assert call("check", "--launch", "empty.sh") == (2, "", "error: empty.sh: no launch command there\n")


def test_launch_with_a_drafter_named_beside_it() -> None:
    write("serve.sh", COMMAND.replace(DRAFTER, "$DRAFT"))
    (check,) = validated(call("check", DRAFTER, "--launch", "serve.sh", "--format", "json").out)["checks"]
    assert (check["verdict"], check["drafter"]["spelling"]) == ("ok", DRAFTER)


def test_plans_of_a_document() -> None:
    write("serve.sh", COMMAND)
    code, out, _ = call("plan", "--launch", "serve.sh")
    assert code == 0
    assert "EAGLE3" in out


def test_a_revision_in_the_command_belongs_to_what_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    real = opening.Checkpoints.open

    def noted(self: opening.Checkpoints, name: str, *, role: Role, revision: str | None = None) -> Checkpoint:
        asked.append((name, revision))
        return real(self, name, role=role)

    monkeypatch.setattr(opening.Checkpoints, "open", noted)
    launch = f"{COMMAND} --revision main --speculative-draft-model-revision v2"
    api.run(api.Job(launch=launch))
    api.run(api.Job(launch=launch, drafter=DRAFTER, target=TARGET))
    assert asked == [(DRAFTER, "v2"), (TARGET, "main"), (DRAFTER, None), (TARGET, None)]
