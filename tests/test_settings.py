"""Settings: where they are found, what they may say, what wins, and what they suppress."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from command_line import COMMAND, DRAFTER, MISTAKEN, TARGET, call, enter
from drafter_lint.errors import UsageError
from drafter_lint.findings import Location
from drafter_lint.settings import Settings, schema, understood
from drafter_lint.settings_file import SettingsFile, find, read
from drafter_lint.suppressions import EngineRange, inline
from mutations import BOUNDED, mutated
from test_json import validated

ROOT = Path(__file__).parents[1]
PAIR = f'[[pair]]\ndrafter = "{DRAFTER}"\ntarget = "{TARGET}"\nengines = ["sglang==0.5.23"]\n'
WRONG = PAIR + 'flags = ["--speculative-algorithm", "EAGLE"]\n'
SUPPRESS = '[[suppress]]\ncode = "DFL401"\nreason = "known"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with the small pair."""
    enter(tmp_path, monkeypatch)
    return tmp_path


def settings(text: str, name: str = "drafter-lint.toml") -> None:
    Path(name).write_text(text, "utf-8")


def understand(text: str) -> Settings:
    path = Path("drafter-lint.toml")
    return understood(SettingsFile(path=path, text=text, table=tomllib.loads(text)))


def checks(*words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = validated(call("check", *words, "--format", "json").out)["checks"]
    return found


def codes(check: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in check["findings"]]


def test_the_nearest_file_up_to_the_root_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings("timeout = 1.0\n")
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    settings("[project]\nname = 'x'\n[tool.other]\ndrafter-lint = 1\n", "a/pyproject.toml")
    monkeypatch.chdir(inner)
    found = find(Path.cwd())
    assert found
    assert (found.path.as_posix(), found.table) == ("../../drafter-lint.toml", {"timeout": 1.0})
    (folder / "a" / "pyproject.toml").write_text("[tool.drafter-lint]\ntimeout = 2.0\n")
    found = find(Path.cwd())
    assert found
    assert (found.path.as_posix(), found.table) == ("../pyproject.toml", {"timeout": 2.0})
    (folder / "a" / ".git").mkdir()
    (folder / "a" / "pyproject.toml").unlink()
    assert find(Path.cwd()) is None


def test_outside_a_repository_only_the_folder_itself(folder: Path) -> None:
    (folder / ".git").rmdir()
    settings("offline = true\n")
    (folder / "inner").mkdir()
    assert find(folder / "inner") is None
    assert find(folder)


def test_our_own_file_wins_over_pyproject_beside_it(folder: Path) -> None:
    settings("timeout = 1.0\n")
    settings("[tool.drafter-lint]\ntimeout = 2.0\n", "pyproject.toml")
    found = find(folder)
    assert found
    assert found.path == Path("drafter-lint.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("engine = ['sglang']\n", "drafter-lint.toml:1: unknown key 'engine'; nearest: engines"),
        ("\n\nxyzzy = 1\n", "drafter-lint.toml:3: unknown key 'xyzzy'; there are engines, fail-on, "),
        ("fail_on = 'slow'\n", "drafter-lint.toml:1: unknown key 'fail_on'; nearest: fail-on"),
        ("fail-on = 'worst'\n", "drafter-lint.toml:1: fail-on: should be 'refuses', 'silent', "),
        ("timeout = 0\n", "drafter-lint.toml:1: timeout: should be greater than or equal to 0.1"),
        ("offline = 'yes'\n", "drafter-lint.toml:1: offline: should be a valid boolean"),
        (PAIR + "\n[[pair]]\ndrafer = 'x'\n", "drafter-lint.toml:7: unknown key 'pair.drafer'; nearest: drafter"),
        ("[[pair]]\ntarget = 'x'\n", "drafter-lint.toml:1: a pair names a drafter, or a launch command"),
        ("[[pair]]\nlaunch = 'x'\nflags = ['--tp']\n", "drafter-lint.toml:3: flags and launch both say"),
        ("[[suppress]]\ncode = 'DFL401'\n", "drafter-lint.toml:1: 'suppress.reason' is missing"),
        (
            "[[suppress]]\ncode = 'DFL401'\nreason = '  '\n",
            "drafter-lint.toml:3: suppress.reason: string should have at",
        ),
        (
            "[[suppress]]\ncode = 'DFL499x'\nreason = 'y'\n",
            "drafter-lint.toml:2: no rule called 'DFL499x'; nearest: DFL",
        ),
        (SUPPRESS + "engine = 'sglang~1'\n", "drafter-lint.toml:4: 'sglang~1' is no range of versions"),
        (SUPPRESS + "until = 'soon'\n", "drafter-lint.toml:4: suppress.until: "),
        ("[aliases]\nk = 1\n", "drafter-lint.toml:2: aliases.k: "),
        ("a = [\n", "drafter-lint.toml:"),
        ("ignore = ['DFL9999']\n" + PAIR, "no rule called 'DFL9999'"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_line(text: str, expected: str) -> None:
    settings(text)
    code, out, err = call("check")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {expected}"), err
    assert err.count("\n") == 1


def test_a_mistake_in_pyproject_has_its_line() -> None:
    settings("[project]\nengine = 1\n[tool.drafter-lint]\noffline = false\nengine = 1\n", "pyproject.toml")
    assert call("check").err == "error: pyproject.toml:5: unknown key 'engine'; nearest: engines\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--config", "pyproject.toml"), "pyproject.toml: has no [tool.drafter-lint]"),
        (("--config", "nowhere.toml"), "File 'nowhere.toml' does not exist"),
        (("--config", "pyproject.toml", "--no-config"), "--config and --no-config exclude each other"),
        (("--no-config",), "name a drafter, a launch command, or in drafter-lint.toml the pairs to check"),
        ((DRAFTER, "--alone", "--engine", "sglang"), "--alone looks at the drafter's own files; --engine has no part"),
        (("--alone",), "--alone: name a drafter"),
        ((DRAFTER, "--var", "X"), "--var 'X': expected NAME=VALUE"),
        ((DRAFTER, "--report", "txt=x"), "--report 'txt=x': no format called 'txt'"),
    ],
)
def test_what_is_typed_wrongly(words: tuple[str, ...], expected: str) -> None:
    settings("[tool.x]\n# drafter-lint\n", "pyproject.toml")
    code, out, err = call("check", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert expected in err


def test_check_without_arguments_checks_every_pair() -> None:
    settings(WRONG + "\n" + PAIR.replace("sglang==0.5.23", "vllm==0.33.0"))
    first, second = checks()
    assert (codes(first), first["engine"]["name"]) == (["DFL401"], "sglang")
    assert (codes(second), second["engine"]["version"], second["launch"]["assumed"]) == ([], "0.33.0", True)
    assert call("check").code == 1
    assert call("check", "--fail-on", "never").code == 0


def test_a_pair_may_be_a_launch_command_or_a_file_of_them(folder: Path) -> None:
    settings(f"[[pair]]\nlaunch = '{MISTAKEN}'\n[[pair]]\nlaunch = 'serve.sh'\n")
    (folder / "serve.sh").write_text(f"{COMMAND}\n{MISTAKEN}\n")
    typed, right, wrong = checks()
    assert (codes(typed), typed["source"]) == (["DFL401"], None)
    assert (codes(right), right["source"]["line"]) == ([], 1)
    assert (codes(wrong), wrong["source"]) == (["DFL401"], {"file": "serve.sh", "line": 2, "column": 1})


def test_paths_start_at_the_folder_of_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(WRONG)
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    (check,) = checks()
    assert codes(check) == ["DFL401"]
    assert check["drafter"]["spelling"] == f"../{DRAFTER}"


def test_what_is_typed_wins() -> None:
    settings("fail-on = 'never'\nengines = ['vllm']\nmin-confidence = 'certain'\n" + WRONG)
    assert call("check").code == 0
    assert call("check", "--fail-on", "silent").code == 1
    (typed,) = checks(DRAFTER, "--target", TARGET, "--engine", "sglang==0.5.9")
    assert typed["engine"]["version"] == "0.5.9"
    (from_settings,) = checks(DRAFTER, "--target", TARGET)
    assert from_settings["engine"]["name"] == "vllm"
    assert codes(checks("--ignore", "DFL401")[0]) == []


def test_aliases_of_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    settings("offline = true\n[aliases]\nour-pet = 'acme/pet'\ntwo = ['acme/a', 'acme/b']\n")
    code, out, _ = call("inspect", "Our_Pet")
    assert code == 3
    assert out.startswith(" Our_Pet -> acme/pet\n")
    assert call("inspect", "two").err == "error: 'two' is ambiguous; name one of\n  acme/a\n  acme/b\n"


def test_offline_says_what_was_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    settings("offline = true\n")
    Path("serve.sh").write_text(MISTAKEN.replace(DRAFTER, "acme/d").replace(TARGET, "acme/t"))
    code, out, err = call("scan", "serve.sh")
    assert (code, err) == (3, "")
    assert "command  serve.sh:1:1" in out
    assert "offline" in out


def test_alone_looks_at_the_drafters_own_files() -> None:
    code, out, _ = call("check", DRAFTER, "--alone")
    assert code == 0
    assert "alone    the drafter's own files; no target, no engine" in out
    assert "target " not in out
    text = Path(DRAFTER).read_text()
    Path(DRAFTER).write_text(text.replace('"model_type": ', '"model_type" '))
    code, out, _ = call("check", DRAFTER, "--alone", "--format", "json")
    (check,) = validated(out)["checks"]
    assert code == 1
    assert (check["engine"], check["target"], check["plan"], check["launch"]) == (None, None, None, None)
    assert "DFL103" in codes(check)


def test_report_files_beside_what_is_printed(folder: Path) -> None:
    settings(WRONG)
    plain = call("check")
    both = call("check", "--report", "json=a.json", "--report", "sarif=b.sarif")
    assert both == plain
    assert validated((folder / "a.json").read_text())["checks"][0]["verdict"] == "silent"
    assert json.loads((folder / "b.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "DFL401"
    assert call("check", "--report", f"json={folder}/no/a.json").code == 2


def test_a_suppression_takes_a_finding_out_and_is_listed() -> None:
    settings(WRONG + SUPPRESS + "drafter = 'example/*'\nengine = 'sglang>=0.5.9,<0.6'\n")
    code, out, _ = call("check")
    assert code == 0
    assert " 1 suppressed: DFL401 (known)\n" in out
    assert "drafts   yes" in out
    (check,) = checks()
    assert (codes(check), check["verdict"]) == ([], "ok")
    (taken,) = check["suppressed"]
    assert (taken["reason"], taken["finding"]["code"]) == ("known", "DFL401")
    assert (taken["at"]["file"], taken["at"]["line"]) == ("drafter-lint.toml", 7)


@pytest.mark.parametrize(
    "line", ["drafter = 'other/*'", "target = 'other/*'", "engine = 'vllm'", "engine = 'sglang<0.5.23'"]
)
def test_a_suppression_of_something_else_is_unused_only_if_all_pairs_are_checked(line: str) -> None:
    settings(WRONG + SUPPRESS + line + "\n")
    (check,) = checks()
    assert codes(check) == ["DFL401", "DFL901"]
    words = (DRAFTER, "--target", TARGET, "--engine", "sglang==0.5.23", "--format", "json")
    code, out, _ = call("check", *words, "--", "--speculative-algorithm", "EAGLE")
    assert code == 1
    assert codes(validated(out)["checks"][0]) == ["DFL401"]


def test_an_unused_suppression_is_told_where_its_rule_could_judge() -> None:
    settings(PAIR + SUPPRESS)
    (check,) = checks()
    assert codes(check) == ["DFL901"]
    assert check["findings"][0]["locations"][0]["line"] == 6
    assert codes(checks("--ignore", "DFL4")[0]) == []
    assert codes(checks("--ignore", "DFL901")[0]) == []
    settings(PAIR.replace(TARGET, "./nowhere") + SUPPRESS)
    assert codes(checks()[0]) == []


def test_an_expired_suppression_suppresses_nothing() -> None:
    settings(WRONG + SUPPRESS + "until = 2020-02-29\n")
    (check,) = checks()
    assert codes(check) == ["DFL401", "DFL902"]
    assert call("check").code == 1
    settings(WRONG + SUPPRESS + "until = 9999-12-31\n")
    assert codes(checks()[0]) == []


def test_an_engine_range_compares_versions_as_numbers() -> None:
    wanted = EngineRange.parse("sglang>0.5.10,<=0.5.12")
    assert wanted.holds("sglang", "0.5.10.post1")
    assert not wanted.holds("sglang", "0.5.10")
    assert not wanted.holds("sglang", "0.5.12.post1")
    assert not wanted.holds("vllm", "0.5.11")
    assert EngineRange.parse("vllm").holds("vllm", "0.9.2")
    assert EngineRange.parse("vllm == 0.9.2, != 0.9.3").holds("vllm", "0.9.2")
    for text in ("", "sglang>=", "sglang>=x", ">=1", "sglang>=1,", "sglang 1", "sglang>=1 <2"):
        with pytest.raises(UsageError, match="is no range of versions"):
            EngineRange.parse(text)


def test_a_location_of_a_suppression_is_its_own_line() -> None:
    found = understand("\n" + SUPPRESS + SUPPRESS.replace("401", "402") + "until = '2027-01-02'\n")
    assert [(item.code, item.at.line) for item in found.suppressions] == [("DFL401", 3), ("DFL402", 6)]
    assert found.suppressions[1].until == date(2027, 1, 2)


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# drafter-lint: ignore[DFL706] why", [("DFL706", "why", "")]),
        (
            "# drafter-lint:ignore[window-short, DFL401]: why not",
            [("DFL706", "why not", ""), ("DFL401", "why not", "")],
        ),
        ("<!-- drafter-lint: ignore[DFL706] why -->", [("DFL706", "why", "")]),
        ("# drafter-lint: ignore[DFL706]", [("DFL706", "", "no reason is given")]),
        ("# drafter-lint: ignore why", [("", "why", "no rule is named")]),
        ("# drafter-lint: ignore[DFL1] why", [("", "why", "there is no rule 'DFL1'")]),
        ("# drafter-lint ignores this", []),
    ],
)
def test_comments(comment: str, expected: list[tuple[str, str, str]]) -> None:
    at = Location(role="launch", subject="x", file="x", line=2)
    found = inline(f"{comment}\nvllm serve x\n", file="x", lines=[2], command=at)
    assert [(item.code, item.reason, item.problem) for item in found] == expected
    assert all(item.at.line == 1 and item.at.text == comment for item in found)


def test_the_schema_file_is_the_models_schema_and_agrees_with_the_reader() -> None:
    shipped = json.loads((ROOT / "schemas" / "settings.schema.json").read_text("utf-8"))
    assert shipped == schema(), "run scripts/generate.py"
    jsonschema.Draft7Validator.check_schema(shipped)
    validator = jsonschema.Draft7Validator(shipped)
    right = tomllib.loads(WRONG + SUPPRESS + "until = 2027-01-01\n[aliases]\na = ['b/c']\n")
    assert not list(validator.iter_errors(right))
    mistakes: list[dict[str, object]] = [
        {"engine": []},
        {"suppress": [{"code": "DFL401"}]},
        {"pair": [{"drafer": "x"}]},
        {"timeout": 0},
    ]
    for wrong in mistakes:
        assert list(validator.iter_errors(wrong))
    with pytest.raises(KeyError):
        schema("other")


def test_validate_pyproject_finds_the_schema() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["validate_pyproject.tool_schema"] == {"drafter-lint": "drafter_lint.settings:schema"}
    assert str(schema()["$schema"]).startswith("http://json-schema.org/draft-07")


def test_the_documented_example_is_understood() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8").split("```toml\n")[1].split("```")[0]
    found = understand(text)
    assert len(found.table.pair) == 2
    assert [item.code for item in found.suppressions] == ["DFL706"]


def test_a_settings_file_is_read_only_where_there_is_one() -> None:
    listing = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    program = listing + "from drafter_lint.cli import main; main()"
    words = [sys.executable, "-c", program, "check", DRAFTER, "--alone"]
    env = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=env)
    assert done.returncode == 0
    assert "drafter_lint.settings" not in done.stderr.split()
    settings("timeout = 5\n")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=env)
    assert (done.returncode, "drafter_lint.settings" in done.stderr.split()) == (0, True)


def test_a_named_file_is_read_whatever_it_is_called(folder: Path) -> None:
    (folder / "ci.toml").write_text("offline = true\n")
    assert read(Path("ci.toml")).table == {"offline": True}
    assert call("check", DRAFTER, "--alone", "--config", "ci.toml").code == 0


FULL = (
    'engines = ["sglang==0.5.23", "vllm"]\nselect = ["DFL4", "eagle3-run-as-eagle"]\nfail-on = "silent"\n'
    '[aliases]\nkimi = "acme/kimi"\nboth = ["acme/a", "acme/b"]\n'
    + WRONG
    + SUPPRESS
    + 'engine = "sglang>=0.5"\nexpires = 2027-01-31\ndrafter = "acme/*"\n'
)
PYPROJECT = "[project]\nname = 'x'\n" + FULL.replace("[[", "[[tool.drafter-lint.").replace(
    "[aliases]", "[tool.drafter-lint.aliases]"
).replace("engines =", "[tool.drafter-lint]\nengines =", 1)


@BOUNDED
@given(text=st.one_of(mutated(FULL), mutated(PAIR + SUPPRESS)))
def test_any_mutation_of_settings_is_understood_or_refused(text: str) -> None:
    settings(text)
    # Nothing else may be raised; what is refused is refused by the file's name.
    with contextlib.suppress(UsageError):
        assert understood(read(Path("drafter-lint.toml"))).file.path.name == "drafter-lint.toml"


@bounds(BOUNDED, max_examples=50)
@given(
    text=st.one_of(mutated(WRONG + SUPPRESS), mutated(PYPROJECT)), name=st.sampled_from(["drafter-lint", "pyproject"])
)
def test_fifty_mutations_of_settings_end_without_a_traceback(text: str, name: str) -> None:
    for path in Path().glob("*.toml"):
        if not path.name.endswith(".recipe.toml"):
            path.unlink()
    settings(text, f"{name}.toml")
    code, _, err = call("scan", ".", "--offline")
    assert code in {0, 1, 2, 3}, err
    assert code != 2 or err.startswith("error: ")
