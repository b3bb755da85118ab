"""Fixes carried out: after each of them the finding is gone, nothing new is there, and nothing else was touched."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import test_cases as cases
from drafter_lint import fixes, linter
from drafter_lint.api import Job, run
from drafter_lint.checkpoint import Checkpoint
from drafter_lint.findings import AddArguments, Confidence, Finding, Located, ReplaceArgument, SetConfig
from drafter_lint.fixes import Fixes, FixFailed, TensorChange, TextChange, plan_fixes
from drafter_lint.launch import LaunchRequest
from drafter_lint.launch.files import find_commands
from drafter_lint.linter import EngineChoice, Selection, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.report import Check, Cost, Report
from drafter_lint.sources.local import LocalSource
from test_cases import Case

FIXABLE = [path for path in cases.CASES if cases.read(path).fixable]
LAUNCH = (ReplaceArgument, AddArguments)
PROGRAMS = {"sglang": ("python", "-m", "sglang.launch_server"), "vllm": ("vllm", "serve")}


def named(path: Path) -> str:
    """A case as pytest shows it."""
    return f"{path.parent.name}/{path.stem}"


def script(words: list[str]) -> str:
    """A shell script with one flag a line."""
    lines = [shlex.join(words[:3])]
    for word in words[3:]:
        if word.startswith("--"):
            lines.append(f"  {shlex.quote(word)}")
        else:
            lines[-1] += f" {shlex.quote(word)}"
    return "#!/bin/sh\nset -e\n" + " \\\n".join(lines) + " \\\n  2>&1 | tee server.log\n"


def one_line(words: list[str]) -> str:
    """The same on one line, with something behind it."""
    return f"{shlex.join(words)}  # the server\n"


def manifest(words: list[str]) -> str:
    """The same as a compose file, one word a line."""
    items = "".join(f"      - {json.dumps(word)}\n" for word in words)
    return f"services:\n  server:\n    command:\n{items}    ports: []\n"


def dockerfile(words: list[str]) -> str:
    """The same as an exec form."""
    return f"FROM python:3.12\nCMD {json.dumps(words)}\n"


def program(words: list[str]) -> str:
    """The same as a Python program."""
    return f"import subprocess\n\nsubprocess.run(\n    {json.dumps(words)},\n    check=True,\n)\n"


DOCUMENTS: dict[str, Callable[[list[str]], str]] = {
    "serve.sh": script,
    "line.sh": one_line,
    "compose.yaml": manifest,
    "Dockerfile": dockerfile,
    "serve.py": program,
}


def check(case: Case, files: Checkpoint | None, request: LaunchRequest | None, *, only: str = "") -> Check:
    """A case checked with its drafter in a folder, or its command in a file."""
    opened = cases.opened(case)
    if files is not None:
        target = cases.checkpoint(case.target, "target") if case.target else None
        opened = understand(files, target, trained_on=case.trained_on)
    name, _, version = case.engine.partition("==")
    selection = Selection(select=(only,) if only else ())
    choice = EngineChoice(name=name or "sglang", version=version or None, request=request)
    found = linter.check_pair(opened, choice, selection=selection)
    if case.engine:
        return found
    alone = linter._files(opened, selection)
    return replace(found, findings=tuple(item for item in alone.results if isinstance(item, Finding)))


def report(*checks: Check) -> Report:
    """Checks as a report."""
    return Report(checks=checks, cost=Cost(requests=0, bytes=0, seconds=0))


def in_folder(case: Case, folder: Path) -> Checkpoint:
    """The drafter of a case on disk, under the name it has in the case."""
    case.drafter.write(folder)
    reference = Reference(spelling=str(folder), kind="local", name=case.drafter.name)
    return Checkpoint(reference, LocalSource(str(folder)), role="drafter")


def in_file(case: Case, path: Path) -> LaunchRequest:
    """The command of a document, with the names the linter was given."""
    (command,) = find_commands(path.read_bytes().decode(), file=path.name).commands
    request = command.request
    if request.drafter is None and case.names:
        request = replace(request, drafter=Located(case.drafter.name, request.at("as checked")))
    if request.target is None and case.target:
        request = replace(request, target=Located(case.target.name, request.at("as checked")))
    return request


def only(found: Check, code: str) -> Check:
    """A check with the findings of one rule."""
    return replace(found, findings=tuple(item for item in found.findings if item.code == code))


def holds(before: Check, after: Check, code: str) -> None:
    """The fixed findings are gone, and none as bad came in their place."""
    mended = {item.message for item in before.findings if item.code == code and item.fix and item.fix.edits}
    assert mended
    assert not mended & {item.message for item in after.findings if item.code == code}
    worst = max(item.outcome.rank for item in before.findings if item.code == code)
    known = {item.code for item in before.findings}
    assert not [item for item in after.findings if item.code not in known and item.outcome.rank >= worst]


def edits_launch(found: Check, code: str) -> bool:
    """True if a rule's fix is one of the command."""
    return any(isinstance(edit, LAUNCH) for item in only(found, code).findings if item.fix for edit in item.fix.edits)


@pytest.mark.parametrize("path", FIXABLE, ids=named)
def test_a_fix_takes_its_finding_away(path: Path, tmp_path: Path) -> None:
    case = cases.read(path)
    found = check(case, None, cases.request(case))
    if edits_launch(found, case.code):
        for name, document in DOCUMENTS.items():
            _mend_command(case, tmp_path / name, document)
    else:
        _mend_folder(case, tmp_path / "drafter")


def _mend_command(case: Case, path: Path, document: Callable[[list[str]], str]) -> None:
    text = document([*PROGRAMS[case.engine.partition("==")[0]], *(case.flags or ())])
    path.write_text(text, "utf-8")
    before = check(case, None, in_file(case, path))
    made = plan_fixes(report(only(before, case.code)), unsafe=False, root=path.parent)
    assert not made.left, made.left
    fixes.apply(made.changes)
    holds(before, check(case, None, in_file(case, path)), case.code)
    lines = path.read_text("utf-8").splitlines()
    assert len([line for line in text.splitlines() if line not in lines]) <= 1


def _mend_folder(case: Case, folder: Path) -> None:
    request = cases.request(case)
    before = check(case, in_folder(case, folder), request)
    kept = {path.name: path.stat().st_ino for path in folder.iterdir()}
    made = plan_fixes(report(only(before, case.code)), unsafe=True, root=Path.cwd())
    assert not made.left, made.left
    assert made.changes
    fixes.apply(made.changes)
    reference = Reference(spelling=str(folder), kind="local", name=case.drafter.name)
    holds(before, check(case, Checkpoint(reference, LocalSource(str(folder)), role="drafter"), request), case.code)
    changed = {change.path.name for change in made.changes}
    now = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert now.keys() == kept.keys()
    assert {name for name in now if now[name] != kept[name]} == changed


def test_every_rule_with_edits_is_carried_out_above() -> None:
    codes = {path.parent.name for path in FIXABLE}
    with_edits: set[str] = set()
    for path in cases.CASES:
        case = cases.read(path)
        if case.bad and not case.trouble:
            with_edits |= {item.code for item in cases.run(case).findings if item.fix and item.fix.edits}
    assert with_edits == codes


FOUNDING = """#!/bin/bash
# Kimi-K2.5, tensor parallel over one node: EAGLE
export SGLANG_LOG=info
python -m sglang.launch_server \\
  --model-path moonshotai/Kimi-K2.5 \\
  --speculative-algorithm "EAGLE" \\
  --speculative-draft-model-path lightseekorg/kimi-k2.5-eagle3 \\
  --speculative-num-steps 3 --speculative-eagle-topk 1 \\
  --speculative-num-draft-tokens 4 --tp 8 --trust-remote-code
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_founding_script(tmp_path: Path, end: str) -> None:
    case = cases.read(cases.FIXTURES / "cases" / "DFL401" / "bad-sglang-kimi.toml")
    path = tmp_path / "serve.sh"
    path.write_bytes(FOUNDING.replace("\n", end).encode())
    path.chmod(0o750)
    before = check(case, None, in_file(case, path))
    assert [item.code for item in before.findings] == ["DFL401"]
    made = plan_fixes(report(before, before), unsafe=False, root=tmp_path)
    assert path.read_bytes() == FOUNDING.replace("\n", end).encode()
    changed = f'-  --speculative-algorithm "EAGLE" \\{end}+  --speculative-algorithm "EAGLE3" \\{end}'
    assert changed in fixes.diff(made.changes)
    (change,) = made.changes
    assert change.fixes == ("DFL401 eagle3-run-as-eagle: method EAGLE3: --speculative-algorithm EAGLE3",)
    fixes.apply(made.changes)
    assert path.read_bytes() == FOUNDING.replace('"EAGLE"', '"EAGLE3"').replace("\n", end).encode()
    assert path.stat().st_mode & 0o777 == 0o750
    after = check(case, None, in_file(case, path))
    assert after.verdict == "ok"
    assert plan_fixes(report(after), unsafe=True, root=tmp_path) == Fixes()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["serve.sh"]


def small(**patch: object) -> Recipe:
    """The small EAGLE-3 drafter."""
    return Recipe.parse((cases.FIXTURES / "small" / "eagle3-llama.recipe.toml").read_text("utf-8")).patched(patch)


ABSOLUTE = {"d2t": "I64 256 = absolute(512)", "t2d": "BOOL 512 = matches(d2t)"}


def absolute(folder: Path) -> Report:
    """The report on a drafter whose d2t holds ids; its other tensors hold bytes that are not zero."""
    small(tensors=ABSOLUTE).write(folder)
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    tensors = Checkpoint(
        Reference(spelling=str(folder), kind="local", name=str(folder)), LocalSource(str(folder)), role="drafter"
    ).tensors
    for name, tensor in tensors.items():
        if name not in ABSOLUTE:
            data[tensor.start : tensor.end] = bytes((tensor.start + i) % 251 for i in range(tensor.end - tensor.start))
    weights.write_bytes(data)
    return run(Job(drafter=str(folder), alone=True))


def test_ids_become_offsets_and_no_other_byte_changes(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    before = absolute(folder)
    weights = folder / "model.safetensors"
    weights.chmod(0o640)
    old = weights.read_bytes()
    assert [item.code for check_ in before.checks for item in check_.findings] == ["DFL302"]
    (left,) = plan_fixes(before, unsafe=False, root=tmp_path).left
    assert "--unsafe-fixes" in left.reason
    made = plan_fixes(before, unsafe=True, root=tmp_path)
    (change,) = made.changes
    assert isinstance(change, TensorChange)
    assert fixes.diff(made.changes) == (
        f"Tensor d2t of {folder}/model.safetensors, bytes {change.start} to {change.end - 1}: "
        "[0 2 4 6 ... 510] -> [0 1 2 3 ... 255]\n"
    )
    fixes.apply(made.changes)
    new = weights.read_bytes()
    assert len(new) == len(old)
    assert (new[: change.start], new[change.end :]) == (old[: change.start], old[change.end :])
    assert new[change.start : change.end] == b"".join(i.to_bytes(8, "little") for i in range(256))
    assert weights.stat().st_mode & 0o777 == 0o640
    assert not run(Job(drafter=str(folder), alone=True)).checks[0].findings
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]


def test_a_mask_of_other_ids_leaves_it_open_which_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    small(tensors={"d2t": "I64 256 = absolute(512)", "t2d": "BOOL 512 = 1*256 0*256"}).write(folder)
    found = run(Job(drafter=str(folder), alone=True))
    assert "DFL302" in {item.code for item in found.checks[0].findings}
    assert not plan_fixes(found, unsafe=True, root=tmp_path).changes


def test_a_tensor_is_not_rewritten_on_a_guess(tmp_path: Path) -> None:
    found = absolute(tmp_path / "drafter")
    (check_,) = found.checks
    likely = tuple(replace(item, confidence=Confidence.LIKELY) for item in check_.findings)
    made = plan_fixes(report(replace(check_, findings=likely)), unsafe=True, root=tmp_path)
    assert not made.changes
    assert [left.reason for left in made.left] == ["weights are rewritten only where the finding is certain"]


def untied(folder: Path) -> Report:
    """The report on a drafter whose config.json declares more rows than its head has."""
    case = cases.read(cases.FIXTURES / "cases" / "DFL308" / "bad-declared-more.toml")
    return report(only(check(case, in_folder(case, folder), None), "DFL308"))


def test_a_file_that_changed_since_is_left_alone_and_so_are_the_others(tmp_path: Path) -> None:
    made = plan_fixes(untied(tmp_path / "a"), unsafe=False, root=tmp_path)
    more = plan_fixes(untied(tmp_path / "b"), unsafe=False, root=tmp_path)
    config = tmp_path / "a" / "config.json"
    first, second = config.read_bytes(), (tmp_path / "b" / "config.json").read_bytes() + b"\n"
    (tmp_path / "b" / "config.json").write_bytes(second)
    with pytest.raises(FixFailed, match="has changed since it was read"):
        fixes.apply((*made.changes, *more.changes))
    assert (config.read_bytes(), (tmp_path / "b" / "config.json").read_bytes()) == (first, second)
    assert not [path for path in tmp_path.rglob("*") if "fixed" in path.name]


def test_weights_that_changed_since_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    made = plan_fixes(absolute(folder), unsafe=True, root=tmp_path)
    (change,) = made.changes
    assert isinstance(change, TensorChange)
    weights = folder / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[change.start] ^= 1
    weights.write_bytes(data)
    with pytest.raises(FixFailed, match="has changed since it was read"):
        fixes.apply(made.changes)
    assert weights.read_bytes() == bytes(data)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    case = cases.read(cases.FIXTURES / "cases" / "DFL308" / "bad-declared-more.toml")
    found = report(only(check(case, in_folder(case, folder), None), "DFL308"))
    made = plan_fixes(found, unsafe=False, root=tmp_path)
    outside = tmp_path / "elsewhere.json"
    (folder / "config.json").rename(outside)
    (folder / "config.json").symlink_to(outside)
    (left,) = plan_fixes(found, unsafe=False, root=tmp_path).left
    assert left.reason == "the file is a link that leads out of its folder"
    text = outside.read_bytes()
    with pytest.raises(FixFailed, match="a link"):
        fixes.apply(made.changes)
    assert outside.read_bytes() == text


def test_a_link_inside_the_folder_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    found = untied(folder)
    (folder / "config.json").rename(folder / "real.json")
    (folder / "config.json").symlink_to("real.json")
    fixes.apply(plan_fixes(found, unsafe=False, root=tmp_path).changes)
    assert (folder / "config.json").is_symlink()
    assert json.loads((folder / "real.json").read_text("utf-8"))["draft_vocab_size"] == 256


def test_a_leftover_of_an_earlier_run_is_not_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    made = plan_fixes(absolute(folder), unsafe=True, root=tmp_path)
    (folder / "model.fixed.safetensors").write_bytes(b"mine")
    with pytest.raises(FixFailed, match=r"model\.fixed\.safetensors is in the way"):
        fixes.apply(made.changes)
    assert (folder / "model.fixed.safetensors").read_bytes() == b"mine"


def with_edits(found: Check, *edits: SetConfig) -> Check:
    """A check with one finding for each edit."""
    base = found.findings[0]
    assert base.fix
    items = (replace(base, code=f"DFL90{n}", fix=replace(base.fix, edits=(edit,))) for n, edit in enumerate(edits))
    return replace(found, findings=tuple(items))


def test_of_two_fixes_of_one_value_the_first_wins(tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    (found,) = untied(folder).checks
    edits = (SetConfig("/a/b", 1), SetConfig("/a/c", 2), SetConfig("/a/b", 1), SetConfig("/a", 3), SetConfig("/a/b", 4))
    made = plan_fixes(report(with_edits(found, *edits)), unsafe=False, root=tmp_path)
    (change,) = made.changes
    assert isinstance(change, TextChange)
    assert json.loads(change.after) == {**json.loads(change.before), "a": {"b": 1, "c": 2}}
    assert [left.code for left in made.left] == ["DFL903", "DFL904"]
    assert {left.reason for left in made.left} == {"overlaps with another fix of the same value; run again after it"}
    assert len(change.fixes) == 3


def test_only_possible_findings_wait_to_be_asked_for(tmp_path: Path) -> None:
    (found,) = untied(tmp_path / "drafter").checks
    found = replace(found, findings=tuple(replace(item, confidence=Confidence.POSSIBLE) for item in found.findings))
    assert not plan_fixes(report(found), unsafe=False, root=tmp_path).changes
    assert plan_fixes(report(found), unsafe=True, root=tmp_path).changes


def test_a_repository_gets_a_proposal_that_its_commands_carry_out(tmp_path: Path) -> None:
    case = cases.read(cases.FIXTURES / "cases" / "DFL308" / "bad-declared-more.toml")
    made = plan_fixes(report(only(check(case, None, None), "DFL308")), unsafe=True, root=tmp_path)
    assert not made.changes
    (proposal,) = made.proposals
    name = case.drafter.name
    local = name.replace("/", "--")
    assert proposal.repository == name
    download, patch, upload = (shlex.split(command) for command in proposal.commands)
    assert download[:4] == ["hf", "download", name, "config.json"]
    assert upload[:6] == ["hf", "upload", name, f"{local}/config.json", "config.json", "--create-pr"]
    (tmp_path / local).mkdir()
    text = case.drafter.config
    assert text is not None
    (tmp_path / local / "config.json").write_text(text, "utf-8")
    (tmp_path / proposal.patch_file).write_text(proposal.diff, "utf-8")
    assert patch[0] == "patch"
    if shutil.which("patch"):
        subprocess.run(patch, cwd=tmp_path, check=True, capture_output=True)
        after = json.loads((tmp_path / local / "config.json").read_text("utf-8"))
        assert after == {**json.loads(text), "draft_vocab_size": 256}


def test_a_typed_command_and_a_recipe_are_left(tmp_path: Path) -> None:
    case = cases.read(cases.FIXTURES / "cases" / "DFL401" / "bad-sglang.toml")
    (left,) = plan_fixes(report(check(case, None, cases.request(case))), unsafe=True, root=tmp_path).left
    assert (left.reason, left.advice) == (
        "the command stands in no file",
        "method EAGLE3: --speculative-algorithm EAGLE3",
    )
    path = tmp_path / "drafter.recipe.toml"
    path.write_text(small(set={"/draft_vocab_size": 300}).toml(), "utf-8")
    found = run(Job(drafter=str(path), alone=True))
    made = plan_fixes(found, unsafe=True, root=tmp_path)
    assert not made.changes
    assert "recipe" in made.left[0].reason
