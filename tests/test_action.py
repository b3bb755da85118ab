"""The Action: the steps of action.yml, run in a shell with the files GitHub's runner gives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import launch_repository as repository

ROOT = repository.ROOT
ACTION: dict[str, Any] = YAML(typ="safe").load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
PAIR = {"drafter": "models/drafter.recipe.toml", "target": "models/target.recipe.toml"}
_EXPRESSION = re.compile(r"\$\{\{ *(\w+)\.([\w-]+)(?:\.outputs\.([\w-]+))? *\}\}")
_COMMAND = re.compile(r"\s*::([\w-]+)(?: ([^:]*))?::(.*)")

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="bash is WSL's or Git's here, and only the runner knows which; the workflow runs the Action"
)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a step left behind.

    Attributes:
        code: its exit code.
        log: all it printed.
        outputs: by name.
        summary: the step summary.
    """

    code: int
    log: str
    outputs: Mapping[str, str]
    summary: str

    @property
    def commands(self) -> list[tuple[str, dict[str, str], str]]:
        """The workflow commands that the runner would obey: name, properties, text."""
        return list(_obeyed(self.log))


def _obeyed(log: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """As the runner reads a log: leading blanks do not matter, and nothing counts until a stop is lifted."""
    stopped = ""
    for line in log.splitlines():
        match = _COMMAND.match(line)
        if not match:
            continue
        name, properties, text = match[1], match[2] or "", match[3]
        if stopped:
            stopped = "" if name == stopped else stopped
        elif name == "stop-commands":
            stopped = text
        else:
            yield name, dict(item.split("=", 1) for item in properties.split(",") if item), text
    assert not stopped


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The checkout of somebody who uses the Action."""
    folder = tmp_path / "work space"
    folder.mkdir()
    repository.models(folder)
    return folder


def step(name: str) -> dict[str, Any]:
    (found,) = [item for item in STEPS if item.get("id") == name]
    return found


def run(
    name: str,
    workspace: Path,
    inputs: Mapping[str, str] | None = None,
    *,
    outputs: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a step as the runner does.

    Args:
        name: the step's id.
        workspace: where the checkout is.
        inputs: those that are not left at their defaults.
        outputs: of the steps before it, by step and name, "install.python".
        environment: further variables of the job.
    """
    given = {key: value.get("default", "") for key, value in ACTION["inputs"].items()} | dict(inputs or {})
    assert given.keys() == ACTION["inputs"].keys()
    before = {"install.python": sys.executable, "python.python-path": sys.executable} | dict(outputs or {})

    def value(match: re.Match[str]) -> str:
        context, key, output = match.groups()
        return given[key] if context == "inputs" else before[f"{key}.{output}"]

    temporary = workspace.parent / "runner temp"
    temporary.mkdir(exist_ok=True)
    files = {"GITHUB_OUTPUT": temporary / "output", "GITHUB_STEP_SUMMARY": temporary / "summary"}
    for file in files.values():
        file.write_text("", "utf-8")
    wanted = step(name)
    assert wanted["shell"] == "bash"
    (temporary / "step.sh").write_text(wanted["run"], "utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(temporary / "step.sh")],
        cwd=workspace,
        env={key: item for key, item in os.environ.items() if key not in {"HF_TOKEN", "FORCE_COLOR", "NO_COLOR"}}
        | {"PYTHONPATH": os.pathsep.join(sys.path), "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(temporary)}
        | {"HF_ENDPOINT": repository.NO_HUB, "HF_HOME": str(temporary / "hf")}
        | {key: str(file) for key, file in files.items()}
        | {key: _EXPRESSION.sub(value, text) for key, text in wanted["env"].items()}
        | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stdout, done.stdout
    said = _outputs(files["GITHUB_OUTPUT"].read_text("utf-8"))
    return Ran(done.returncode, done.stdout, said, files["GITHUB_STEP_SUMMARY"].read_text("utf-8"))


def _outputs(text: str) -> dict[str, str]:
    """The file of outputs, in both of its spellings."""
    found = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, mark, value = line.partition("<<") if "<<" in line else line.partition("=")
        if mark == "<<":
            value = "\n".join(iter(lambda: next(lines), value))
        found[name] = value
    return found


def test_every_input_reaches_a_step_and_no_script() -> None:
    handed = {
        match[2] for item in STEPS for text in item.get("env", {}).values() for match in _EXPRESSION.finditer(text)
    }
    assert ACTION["inputs"].keys() <= handed
    assert not [item for item in STEPS if "${{" in item.get("run", "")]
    for item in STEPS:
        for name, text in item.get("env", {}).items():
            match = _EXPRESSION.fullmatch(text)
            assert match
            if match[1] == "inputs":
                assert name == "INPUT_" + match[2].upper().replace("-", "_")


def test_what_it_uses_is_pinned() -> None:
    used = [item["uses"] for item in STEPS if "uses" in item]
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name) for name in used)


def test_a_clean_launch_file(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE3")
    ran = run("lint", workspace)
    assert ran.code == 0
    assert ran.outputs == {"exit-code": "0", "verdict": "ok", "findings": "0", "sarif": ""}
    assert ran.outputs.keys() == ACTION["outputs"].keys()
    assert "### drafter-lint: 1 ok" in ran.summary
    assert ran.commands == []
    assert "states captured" in ran.log


def test_a_launch_file_with_the_founding_mistake(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE")
    ran = run("lint", workspace, {"paths": "models\nserve.sh\n", "sarif": "made/drafter-lint.sarif"})
    assert ran.code == 1
    assert ran.outputs == {
        "exit-code": "1", "verdict": "silent", "findings": "1", "sarif": "made/drafter-lint.sarif",
    }  # fmt: skip
    ((name, properties, text),) = ran.commands
    assert name == "error"
    assert (properties["file"], properties["line"], properties["col"]) == ("serve.sh", *map(str, repository.MISTAKE))
    assert "DFL401" in properties["title"]
    assert "EAGLE3" in text
    assert "DFL401 eagle3-run-as-eagle" in ran.summary
    log = json.loads((workspace / "made" / "drafter-lint.sarif").read_text("utf-8"))
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["DFL401"]


def test_a_pair_and_its_flags(workspace: Path) -> None:
    flags = {
        "engine": "sglang==0.5.22\nsglang==0.5.23",
        "flags": "--speculative-algorithm\nEAGLE --tp 1",
        "args": "--allow-unknown",
    }
    ran = run("lint", workspace, {**PAIR, **flags})
    assert (ran.code, ran.outputs["verdict"], ran.outputs["findings"]) == (1, "silent", "2")
    assert run("lint", workspace, {**PAIR, **flags, "fail-on": "refuses"}).code == 0


def test_the_pairs_of_the_settings(workspace: Path) -> None:
    repository.settings(workspace, "EAGLE")
    assert run("lint", workspace, {"pairs": "true"}).outputs["verdict"] == "silent"
    repository.settings(workspace, "EAGLE3")
    assert run("lint", workspace, {"pairs": "true"}).outputs["verdict"] == "ok"


def test_what_cannot_be_read_fails_unless_allowed(workspace: Path) -> None:
    repository.launch_from_hub(workspace)
    ran = run("lint", workspace, {"args": "--offline"})
    assert (ran.code, ran.outputs["exit-code"], ran.outputs["verdict"]) == (3, "3", "unknown")
    assert "--allow-unknown" in ran.commands[0][2]
    ran = run("lint", workspace, {"args": "--offline --allow-unknown"})
    assert (ran.code, ran.outputs["verdict"]) == (0, "unknown")


def test_nothing_to_check_is_not_called_ok(workspace: Path) -> None:
    ran = run("lint", workspace)
    assert (ran.code, ran.outputs["verdict"]) == (0, "")


def test_a_summary_and_an_upload_are_asked_for(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE")
    ran = run("lint", workspace, {"summary": "false", "upload-sarif": "true"})
    assert ran.summary == ""
    assert json.loads(Path(ran.outputs["sarif"]).read_text("utf-8"))["version"] == "2.1.0"
    (upload,) = [item for item in STEPS if item.get("with", {}).get("sarif_file")]
    assert upload["with"]["sarif_file"] == "${{ steps.lint.outputs.sarif }}"
    # Findings fail the step before the upload.
    assert "!cancelled()" in upload["if"]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"paths": ".", **PAIR}, "give one of them"),
        ({"target": "models/target.recipe.toml"}, "target is about a drafter"),
        ({"flags": "--tp 8"}, "flags is about a drafter"),
        ({"args": "--select 'DFL4"}, "args: No closing quotation"),
        ({"summary": "yes"}, "summary: expected"),
        ({"paths": "nowhere"}, "are not understood"),
        ({"args": "--no-such-option"}, "are not understood"),
    ],
)
def test_an_input_that_cannot_be(workspace: Path, inputs: dict[str, str], said: str) -> None:
    ran = run("lint", workspace, inputs)
    assert (ran.code, dict(ran.outputs)) == (2, {"exit-code": "2"})
    ((name, _, text),) = ran.commands
    assert name == "error"
    assert said in text


def test_the_token_reaches_the_hub_and_not_the_log(workspace: Path) -> None:
    repository.launch_from_hub(workspace)
    (workspace / "sitecustomize.py").write_text("import os; print('HF_TOKEN' in os.environ)\n", "utf-8")
    asked = {"PYTHONPATH": os.pathsep.join([str(workspace), *sys.path])}
    ran = run("lint", workspace, {"token": "hf_secret", "args": "--offline"}, environment=asked)
    assert "True" in ran.log.splitlines()
    assert "hf_secret" not in ran.log + ran.summary
    # An empty input leaves the job's own token alone.
    ran = run("lint", workspace, {"args": "--offline"}, environment={**asked, "HF_TOKEN": "hf_secret"})
    assert "False" not in ran.log.splitlines()


@pytest.mark.parametrize("text", ["$(touch made)", "`touch made`", '"; touch made; "'])
def test_inputs_are_never_run(workspace: Path, text: str) -> None:
    assert run("lint", workspace, {"paths": text, "fail-on": text}).code == 2
    assert run("lint", workspace, {"drafter": f"./{text}", "target": text, "engine": text}).code == 2
    assert not (workspace / "made").exists()


def test_nothing_it_prints_is_a_workflow_command(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE")
    line = "::error title=hostile::text of a file"
    shown = f"import sys; 'drafter_lint' in sys.orig_argv and print('{line}')\n"
    (workspace / "sitecustomize.py").write_text(shown, "utf-8")
    ran = run("lint", workspace, environment={"PYTHONPATH": os.pathsep.join([str(workspace), *sys.path])})
    assert line in ran.log.splitlines()
    assert [properties["title"] for _, properties, _ in ran.commands] == ["DFL401 eagle3-run-as-eagle"]


def test_the_problem_matcher_reads_every_line_of_the_concise_format(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE")
    command = [sys.executable, "-P", "-m", "drafter_lint"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def said(*words: str) -> str:
        return subprocess.run(
            [*command, *words], cwd=workspace, env=environment, capture_output=True, text=True, check=False
        ).stdout

    pair = ("check", PAIR["drafter"], "-t", PAIR["target"], "-e", "sglang", "--", "--speculative-algorithm", "EAGLE")
    (matched,) = _matched(said("scan", "serve.sh", "--format", "concise", "--report", "json=report.json"))
    in_file = json.loads((workspace / "report.json").read_text("utf-8"))["checks"][0]["findings"][0]
    where = in_file["locations"][0]
    assert matched["severity"] == "error"
    assert (matched["file"], matched["line"], matched["column"]) == ("serve.sh", *map(str, repository.MISTAKE))
    assert (where["file"], where["line"], where["column"]) == ("serve.sh", *repository.MISTAKE)
    assert matched["code"] == in_file["code"]
    assert matched["message"].startswith(f"{in_file['name']}: {in_file['message']}")
    # A finding without a line is an annotation without a file.
    (matched,) = _matched(said(*pair[:2], "--format", "concise", *pair[2:]))
    assert (matched["file"], matched["code"]) == (None, "DFL401")


@pytest.mark.parametrize(
    ("outcome", "severity"),
    [("refuses", "error"), ("silent", "error"), ("slow", "warning"), ("hygiene", "notice")],
)
def test_the_problem_matcher_knows_every_outcome(outcome: str, severity: str) -> None:
    (matched,) = _matched(
        f"a b/c.yaml:7:9: {outcome}[DFL706] window-short: 2048: shorter (sglang 0.5.23)\n{outcome}: a"
    )
    assert (matched["severity"], matched["file"], matched["line"]) == (severity, "a b/c.yaml", "7")


def _matched(text: str) -> list[dict[str, Any]]:
    """What the runner makes of some lines."""
    matchers = json.loads((ROOT / "scripts" / "action" / "problem-matcher.json").read_text("utf-8"))["problemMatcher"]
    found = []
    for line in text.splitlines():
        for matcher in matchers:
            (pattern,) = matcher["pattern"]
            if match := re.search(pattern["regexp"], line):
                groups = {key: match[group] for key, group in pattern.items() if key != "regexp"}
                found.append({"severity": matcher["severity"], **groups})
    return found


def test_the_workflow_in_the_documentation_gives_inputs_there_are() -> None:
    workflow = YAML(typ="safe").load((ROOT / "docs" / "ci" / "github.yml").read_text("utf-8"))
    (use,) = [item for item in workflow["jobs"]["drafter-lint"]["steps"] if "/drafter-lint@" in item["uses"]]
    assert use["with"].keys() <= ACTION["inputs"].keys()


def test_the_job_for_gitlab(workspace: Path) -> None:
    repository.launch(workspace, "EAGLE")
    job = YAML(typ="safe").load((ROOT / "docs" / "ci" / "gitlab.yml").read_text("utf-8"))["drafter-lint"]
    programs = workspace.parent / "bin"
    programs.mkdir()
    for name, text in {"pip": 'echo "$@" > pip.txt', "drafter-lint": '"$PYTHON" -P -m drafter_lint "$@"'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (programs / name).chmod(0o755)
    own = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    script = "\n".join(job["script"])
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=workspace, env={**os.environ, **job["variables"], **own}, check=False
    )
    assert done.returncode == 1
    assert (workspace / "pip.txt").read_text("utf-8").split() == ["install", "--quiet", "drafter-lint"]
    reports = job["artifacts"]["reports"]
    ((finding),) = json.loads((workspace / reports["codequality"]).read_text("utf-8"))
    assert finding["location"] == {"path": "serve.sh", "lines": {"begin": repository.MISTAKE[0]}}
    assert "DFL401" in (workspace / reports["junit"]).read_text("utf-8")


@pytest.mark.slow
def test_it_installs_its_own_commit_and_runs_it(workspace: Path) -> None:
    repository.need_package_index()
    installed = run("install", workspace)
    assert installed.code == 0, installed.log
    repository.launch(workspace, "EAGLE")
    outputs = {"install.python": installed.outputs["python"]}
    ran = run("lint", workspace, outputs=outputs, environment={"PYTHONPATH": ""})
    assert ran.outputs["verdict"] == "silent", ran.log
    # Used twice in a job, it uses the same environment; a version the index does not have is said to be so.
    again = run("install", workspace, {"version": "0.0.0.dev0"})
    assert again.code != 0
    assert "drafter-lint==0.0.0.dev0 could not be installed" in again.commands[-1][2]
