"""The command line as a contract: commands, exit codes, one-line mistakes, and what is never imported."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import drafter_lint
import made_reports as made
import published
from drafter_lint import api, cli
from drafter_lint.drafters import Trained
from drafter_lint.facts import profile
from drafter_lint.findings import Outcome, Skip
from drafter_lint.launch import LaunchRequest
from drafter_lint.renderers import RENDERERS, render, render_plans
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report
from test_json import validated

ROOT = Path(__file__).parent.parent
DRAFTER = ROOT / "fixtures" / "recipes" / "lightseekorg--kimi-k2.5-eagle3.recipe.toml"
TARGET = ROOT / "fixtures" / "targets" / "Qwen--Qwen3-4B.recipe.toml"
COMMANDS = (
    "check",
    "scan",
    "lock",
    "plan",
    "inspect",
    "launch",
    "compare",
    "record",
    "explain",
    "rules",
    "engines",
    "cache",
    "survey",
    "completion",
)
PROGRAM = "from drafter_lint.cli import main; main()"
UNREAD = Skip("DFL004", "hub-unreachable", "it stalled", needed=True)

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs the command line in this process: its exit code, standard output and standard error."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "DRAFTER_LINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            cli.main(list(words))
        said = capsys.readouterr()
        assert "Traceback" not in said.err or os.environ.get("DRAFTER_LINT_DEBUG")
        code = stop.value.code
        assert isinstance(code, int)
        return code, said.out, said.err

    return run


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[api.Job]:
    """Replaces the run by one that finds nothing, and keeps what was asked for."""
    asked: list[api.Job] = []

    def run(job: api.Job) -> Report:
        asked.append(job)
        return made.report(made.check(), fail_on=job.fail_on)

    monkeypatch.setattr(api, "run", run)
    return asked


def reports(monkeypatch: pytest.MonkeyPatch, report: Report) -> None:
    monkeypatch.setattr(api, "run", lambda _: report)


def process(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("format_", RENDERERS)
@pytest.mark.parametrize(
    ("report", "code"),
    [
        (made.report(made.check()), 0),
        (made.report(made.check(made.founding())), 1),
        (made.report(made.check(made.founding()), fail_on="refuses"), 0),
        (made.report(made.check(made.founding()), fail_on="never"), 0),
        (made.report(made.check(made.finding(outcome=Outcome.SLOW))), 0),
        (made.report(made.check(made.finding(outcome=Outcome.SLOW)), fail_on="slow"), 1),
        (made.report(made.check(skips=(UNREAD,))), 3),
        (made.report(made.check(made.founding(), skips=(UNREAD,))), 1),
    ],
)
def test_exit_codes_are_the_same_under_every_format(
    monkeypatch: pytest.MonkeyPatch, call: Call, report: Report, code: int, format_: str
) -> None:
    reports(monkeypatch, report)
    got, out, err = call("check", "a/b", "--format", format_)
    assert (got, err) == (code, "")
    if format_ == "json":
        validated(out)
    else:
        assert out.endswith("\n")


def test_plan_exits_with_3_where_no_plan_could_be_made(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    reports(monkeypatch, made.report(made.check(made.founding())))
    assert call("plan", "a/b")[0] == 0
    reports(monkeypatch, made.report(made.check(), made.check(plans=())))
    assert call("plan", "a/b")[0] == 3
    assert validated(call("plan", "a/b", "--format", "json")[1])["checks"][1]["plan"] is None


def test_everything_typed_reaches_the_job(jobs: list[api.Job], call: Call) -> None:
    words = (
        "check a/b -t c/d -e sglang==0.5.9 -e vllm --revision r1 --target-revision r2 --trained-on 2,30,58 --offline "
        "--timeout 7 --select DFL4 --ignore DFL401 --fail-on slow --min-confidence possible -- --tp 8 -- --help"
    )
    assert call(*words.split())[0] == 0
    (job,) = jobs
    assert (job.drafter, job.target, job.engines) == ("a/b", "c/d", ("sglang==0.5.9", "vllm"))
    assert (job.revision, job.target_revision, job.trained_on) == ("r1", "r2", Trained(boundaries=(2, 30, 58)))
    assert (job.offline, job.timeout, job.fail_on) == (True, 7.0, "slow")
    assert (job.selection.select, job.selection.ignore) == (("DFL4",), ("DFL401",))
    assert job.selection.min_confidence.value == "possible"
    assert job.flags == ("--tp", "8", "--", "--help")
    assert job.launch is None


def test_a_launch_command_is_given_or_piped(jobs: list[api.Job], call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call("check", "--launch", "vllm serve x")
    piped = "python -m sglang.launch_server \\\n --model-path y --speculative-algorithm NGRAM"
    monkeypatch.setattr(sys, "stdin", io.StringIO(piped))
    call("check", "--launch", "-")
    assert jobs[0].launch == "vllm serve x"
    assert isinstance(jobs[1].launch, LaunchRequest)
    assert jobs[1].launch.target
    assert (jobs[1].launch.target.value, jobs[1].launch.target.at.line) == ("y", 2)


def test_a_launch_that_is_no_text(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00"), encoding="utf-8"))
    assert call("check", "--launch", "-") == (2, "", "error: what is piped in is no text\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("chekc", "no command called 'chekc'; did you mean 'check'?"),
        ("xyzzy", "no command called 'xyzzy'; there are cache, check, compare, completion, engines, explain, inspect"),
        ("check a/b --enigne sglang", "no option called '--enigne'; nearest: --engine, --ignore"),
        ("check a/b --format txt", "'txt' is not one of 'text', 'concise', 'json'"),
        ("check a/b --fail-on worst", "'worst' is not one of 'refuses', 'silent', 'slow', 'hygiene', 'never'"),
        ("check a/b --timeout 0", "0.0 is not in the range x>=0.1"),
        ("check a/b --trained-on one", "--trained-on 'one': expected boundaries such as 2,30,58"),
        ("check a/b --select DFL9999", "no rule called 'DFL9999'; nearest: DFL"),
        ("check a/b --ignore eagle3-as-eagle", "no rule called 'eagle3-as-eagle'; nearest: eagle3-run-as-eagle"),
        ("check a/b --launch x -- --tp 8", "flags after -- and --launch both say what is started"),
        ("check a/b c/d", "unexpected extra argument"),
        ("check", "name a drafter"),
        ("check qwertyuiop", "'qwertyuiop' is neither a local path, nor owner/name, nor a known alias"),
        ("check a/b --engine sgland", "no engine called 'sgland'; known: "),
        ("check a/b --engine vlm", "no engine called 'vlm'; known: "),
        ("check ./nowhere --engine sglang==zero", "'zero' is no version"),
        ("check ./nowhere --engine sglang==0.1", "sglang 0.1 is older than everything read ("),
        ("inspect", "missing argument 'REFERENCE'"),
        ("explain eagle3-as-eagle", "no rule called 'eagle3-as-eagle'; nearest: eagle3-run-as-eagle"),
        ("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_correct_thing(call: Call, words: str, expected: str) -> None:
    code, out, err = call(*words.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert expected in err


def test_an_ambiguous_alias_lists_its_candidates(call: Call) -> None:
    code, out, err = call("check", "kimi-k2", "--offline")
    assert (code, out) == (2, "")
    head, *candidates = err.splitlines()
    assert head == "error: 'kimi-k2' is ambiguous; name one of"
    assert "  moonshotai/Kimi-K2-Instruct" in candidates
    assert "  moonshotai/Kimi-K2-Thinking" in candidates


def test_an_alias_shows_both_spellings(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    code, out, _ = call("inspect", "kimi-k2.5", "--offline")
    assert code == 3
    assert out.startswith(" kimi-k2.5 -> moonshotai/Kimi-K2.5\n")


def test_without_a_command_the_help_is_shown(call: Call) -> None:
    code, out, _ = call()
    assert code == 2
    assert out == call("--help")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_ends_with_an_example(call: Call, command: str) -> None:
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    *_, example = out.split("Example:\n")
    assert example.startswith(f"  drafter-lint {command}")
    assert [line for line in out.splitlines() if len(line) > 100] == []


def test_the_help_lists_every_command_in_full(call: Call) -> None:
    code, out, _ = call("-h")
    assert code == 0
    assert tuple(sorted(COMMANDS)) == tuple(re.findall(r"^  ([a-z]+)  ", out.partition("Commands:")[2], re.MULTILINE))
    assert "..." not in out.partition("Commands:")[2]


def test_the_version(call: Call) -> None:
    assert call("--version")[:2] == (0, f"drafter-lint, version {drafter_lint.__version__}\n")
    assert f'version = "{drafter_lint.__version__}"' in (ROOT / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_clicks_own_script(call: Call, shell: str) -> None:
    code, out, _ = call("completion", shell)
    assert code == 0
    assert f"_DRAFTER_LINT_COMPLETE={shell}_complete" in out


def test_completion_knows_the_commands() -> None:
    env = {"_DRAFTER_LINT_COMPLETE": "bash_complete", "COMP_WORDS": "drafter-lint ex", "COMP_CWORD": "1"}
    done = process(env=env)
    assert (done.returncode, done.stdout) == (0, "plain,explain\n")


def test_a_bug_of_ours_is_one_line_and_4(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    def broken(_: api.Job) -> Report:
        raise KeyError("two\nlines \x1b[31m")

    monkeypatch.setattr(api, "run", broken)
    code, out, err = call("check", "a/b", "--format", "json")
    assert (code, out) == (4, "")
    assert err.count("\n") == 1
    assert err.startswith("internal error: KeyError: 'two")
    assert "\x1b" not in err
    monkeypatch.setenv("DRAFTER_LINT_DEBUG", "1")
    code, out, err = call("check", "a/b")
    assert (code, out) == (4, "")
    assert "in broken" in err


def test_control_c_is_130(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    def interrupted(_: api.Job) -> Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "run", interrupted)
    code, out, err = call("check", "a/b")
    assert (code, out, err.strip()) == (130, "", "interrupted")


@pytest.mark.skipif(sys.platform == "win32", reason="closed pipes are a POSIX matter")
@pytest.mark.parametrize("words", [("rules",), ("--help",), ("explain", "DFL401")])
def test_a_reader_that_has_gone_gets_no_traceback(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_keeps_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reports(monkeypatch, made.report(made.check(made.founding())))

    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

        def fileno(self) -> int:
            return number

    with (tmp_path / "x").open("w") as file:
        number = os.dup(file.fileno())
        monkeypatch.setattr(sys, "stdout", Closed())
        with pytest.raises(SystemExit) as stop:
            cli.main(["check", "a/b"])
        os.close(number)
    assert stop.value.code == 1


def test_a_terminal_without_utf8_gets_ascii() -> None:
    done = process("explain", "DFL401", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert done.stdout.isascii()
    refused = process("check", "字" * 3, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (refused.returncode, refused.stderr.isascii()) == (2, True)


@pytest.mark.parametrize(
    ("words", "env", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_only_where_it_is_wanted(
    call: Call, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], env: dict[str, str], coloured: bool
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    code, out, _ = call("explain", "DFL401", *words)
    assert (code, "\x1b[" in out) == (0, coloured)


@pytest.mark.parametrize(("columns", "width"), [("80", 80), ("20", 60), ("500", 140), ("wide", 100)])
def test_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    options: dict[str, object] = {"color": "auto", "quiet": False, "verbose": False}
    assert cli._style(options).width == width


@pytest.mark.parametrize("command", ["rules", "engines"])
def test_lists_as_json(call: Call, command: str) -> None:
    code, out, _ = call(command, "--format", "json")
    assert code == 0
    assert json.loads(out)


def test_the_facts_of_an_engine_release_by_release(call: Call) -> None:
    code, out, _ = call("engines", "sglang")
    assert code == 0
    assert "algorithm.any-case\n" in out
    assert "  false (0.5.3.post3 to 0.5.11; srt/server_args.py, ServerArgs._handle_speculative_decoding; read)\n" in out
    code, out, _ = call("engines", "vllm", "--format", "json")
    rows = [row for row in json.loads(out)["facts"] if row["fact"] == "context.target-lowered"]
    assert [(row["versions"], row["value"]) for row in rows][-1] == ("0.33.0", True)
    assert all(row["file"] and row["symbol"] and row["how"] for row in rows)


def test_between_two_releases_that_differ_neither_is_taken_for_the_fact(call: Call) -> None:
    code, out, _ = call("engines", "sglang==0.5.12")
    assert code == 0
    assert "  not checked: 0.5.11 read as false, 0.5.12.post1 as true (ambiguous, " in out
    code, out, _ = call("engines", "sglang==0.5.12", "--format", "json")
    rows = {row["fact"]: row for row in json.loads(out)["facts"]}
    assert rows["algorithm.any-case"]["read_as"] == {"0.5.11": False, "0.5.12.post1": True}
    assert "value" not in rows["algorithm.any-case"]
    assert (rows["block.size"]["knowledge"], rows["block.size"]["value"]) == ("bracketed", "flag, tokens, config, 16")
    assert "Gemma4AssistantForCausalLM" in rows["models.registered"]["read_as"]["0.5.12.post1"]
    code, _, err = call("engines", "sglang==0.1")
    assert code == 2
    assert "older than everything read" in err


def test_a_finding_of_one_release_only_is_not_checked_and_names_both(call: Call) -> None:
    target = ROOT / "fixtures" / "targets" / "moonshotai--Kimi-K2.5.recipe.toml"
    words = ("--target", str(target), "--engine", "sglang==0.5.12", "--format", "json")
    code, out, _ = call("check", str(DRAFTER), *words, "--", "--speculative-algorithm", "eagle3")
    (check,) = json.loads(out)["checks"]
    assert code == 3
    reasons = {item["code"]: item["reason"] for item in check["not_checked"]}
    assert reasons["DFL404"] == (
        "sglang 0.5.12 was not read; 0.5.11 read as: eagle3 is no speculative algorithm of SGLang 0.5.12; it has "
        "DFLASH, EAGLE, EAGLE3, NEXTN, NGRAM, STANDALONE; 0.5.12.post1 as: nothing to report"
    )
    assert check["engine"]["knowledge"] == "ambiguous"
    assert "DFL404" not in {item["code"] for item in check["findings"]}


def test_inspect_says_what_it_is_and_never_fails_on_findings(call: Call) -> None:
    code, out, _ = call("inspect", str(DRAFTER))
    assert code == 0
    assert "fc.weight [H, K*Ht] = [7168, 21504]\n" in out
    code, out, _ = call("inspect", str(TARGET), "--format", "json")
    assert code == 0
    seen = json.loads(out)
    assert (seen["schema"], seen["name"], seen["not_read"]) == (1, "Qwen/Qwen3-4B", [])
    assert seen["title"] == "hidden 2560, 36 layers, vocabulary 151936"
    code, out, _ = call("inspect", "./nowhere")
    assert code == 3
    assert " ! not read: ./nowhere: there is no such folder\n" in out


@pytest.fixture(scope="session")
def kimi(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The founding pair as two folders; of the target, only what a check reads."""
    folder = tmp_path_factory.mktemp("kimi")
    written = published.drafter("lightseekorg--kimi-k2.5-eagle3").write(folder / "drafter")
    target = published.target("moonshotai--Kimi-K2.5").without_weights().write(folder / "target")
    return str(written), str(target)


@pytest.mark.parametrize("format_", RENDERERS)
def test_the_founding_mistake_and_its_correction(call: Call, kimi: tuple[str, str], format_: str) -> None:
    drafter, target = kimi
    words = ("check", drafter, "-t", target, "-e", "sglang==0.5.10.post1", "--format", format_, "--")
    code, out, err = call(*words, "--speculative-algorithm", "EAGLE")
    assert (code, err) == (1, "")
    assert "DFL401" in out
    code, out, err = call(*words, "--speculative-algorithm", "EAGLE3")
    assert (code, err) == (0, "")
    assert "DFL401" not in out or format_ not in {"text", "concise", "json"}


def test_the_corrected_word_is_offered(call: Call, kimi: tuple[str, str]) -> None:
    drafter, target = kimi
    words = ("check", drafter, "-t", target, "-e", "sglang==0.5.10.post1", "--", "--speculative-algorithm", "EAGLE")
    _, out, _ = call(*words)
    assert "  = fix: method EAGLE3: --speculative-algorithm EAGLE3\n" in out
    assert "   |                         ^^^^^ " in out
    assert " engine   sglang 0.5.10.post1 (observed), method EAGLE\n" in out


def test_an_engine_without_a_version_is_the_newest_and_says_which(call: Call, kimi: tuple[str, str]) -> None:
    newest = str(profile("sglang").newest)
    _, out, _ = call("check", kimi[0], "--target", kimi[1], "--engine", "sglang")
    assert f" engine   sglang {newest} (observed, newest known), method EAGLE3\n" in out
    assert " flags    none given; with those it needs: --speculative-algorithm EAGLE3\n" in out


@pytest.mark.parametrize("pair", published.pairs(), ids=lambda pair: f"{pair.drafter} {pair.target}")
def test_every_published_pair_can_be_said_in_every_way(pair: published.Pair) -> None:
    drafter, target = published.drafter(pair.drafter), published.target(pair.target).without_weights()
    job = api.Job(drafter=drafter.source(), target=target.source(), engines=("sglang", "sglang==0.5.9", "vllm"))
    report = api.run(job)
    document = validated(render(report, "json", Style()))
    versions = [str(profile("sglang").newest), "0.5.9", str(profile("vllm").newest)]
    assert [check["engine"]["version"] for check in document["checks"]] == versions
    for format_ in RENDERERS:
        said = render(report, format_, Style(width=80, unicode=False))
        assert said.isascii()
        assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f]", said) == []
    text = render(report, "text", Style(quiet=True))
    assert {finding.code for check in report.checks for finding in check.findings} == set(
        re.findall(r"\[(DFL\d+)\]", text)
    )
    assert render_plans(report, "text", Style(width=80)).startswith("sglang ")


def test_the_demo_finds_the_mistake_and_passes_its_correction() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "demo.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("$ drafter-lint check ") == 2
    assert "error[DFL401]" in done.stdout


LISTING = "import sys, atexit; atexit.register(lambda: print('MODULES', *sys.modules, file=sys.stderr)); "


def loaded(*words: str) -> set[str]:
    """The modules in memory when the command line ends."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING + PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return set(done.stderr.partition("MODULES ")[2].split())


def test_help_loads_click_and_next_to_nothing_of_ours() -> None:
    modules = loaded("--help")
    assert {name for name in modules if name.startswith("drafter_lint")} == {
        "drafter_lint",
        "drafter_lint.cli",
        "drafter_lint.errors",
        "drafter_lint.options",
        "drafter_lint.renderers",
        "drafter_lint.renderers.style",
    }
    assert modules.isdisjoint({"pydantic", "jsonschema", "huggingface_hub", "httpx", "tomllib", "packaging"})


def test_a_local_check_loads_no_network_stack_and_no_models(kimi: tuple[str, str]) -> None:
    words = ("check", kimi[0], "--target", kimi[1], "--engine", "sglang")
    modules = loaded(*words)
    assert "drafter_lint.linter" in modules
    forbidden = {"pydantic", "jsonschema", "huggingface_hub", "httpx", "httpx2", "requests", "asyncio", "ssl"}
    assert modules & forbidden == set()
    assert loaded(*words, "--format", "json") & forbidden <= {"pydantic"}


def test_the_public_names_exist_and_there_are_no_others() -> None:
    assert sorted(drafter_lint.__all__) == drafter_lint.__all__
    assert dir(drafter_lint) == drafter_lint.__all__
    for name in drafter_lint.__all__:
        assert getattr(drafter_lint, name) is not None
    listing = "import drafter_lint; from drafter_lint import *; print(*sorted(n for n in dir() if n[0] != '_'))"
    done = subprocess.run(
        [sys.executable, "-c", listing],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    public = [name for name in drafter_lint.__all__ if not name.startswith("_")]
    assert done.stdout.split() == sorted([*public, "drafter_lint"])
    with pytest.raises(AttributeError, match="no attribute 'checks'"):
        _ = drafter_lint.checks  # type: ignore[attr-defined]
