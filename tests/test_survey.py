"""Surveys: lists and folders, the file that is written and taken up again, who does the work, and the matrix."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import SMALL, Answer, call, enter
from drafter_lint import api, cli
from drafter_lint.api import Job
from drafter_lint.errors import UsageError
from drafter_lint.renderers.survey_record import Record, recorded, schema
from drafter_lint.survey import Output, Shard, count, read_rows
from drafter_lint.survey import judging as judging_module
from drafter_lint.survey.judging import KEPT_OPEN, Terms, judge_rows

ENGINE = ("--engine", "sglang==0.5.23")
LIST: list[dict[str, Any]] = [
    {"drafter": "d.recipe.toml", "target": "t.recipe.toml"},
    {"drafter": "d.recipe.toml", "target": "t.recipe.toml", "flags": ["--speculative-algorithm", "EAGLE"]},
    {"drafter": "d.recipe.toml", "target": "wide.recipe.toml"},
    {"drafter": "./absent", "target": "t.recipe.toml"},
    {"drafter": "d.recipe.toml", "target": "kimi-k2"},
    {"drafter": "d.recipe.toml", "target": "t.recipe.toml", "engines": ["vllm==0.33.0"], "trained_on": [2, 4, 5]},
    {"launch": "serve.sh"},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    enter(tmp_path, monkeypatch)
    target = (SMALL / "target-llama.recipe.toml").read_text("utf-8")
    (tmp_path / "wide.recipe.toml").write_text(target.replace('"hidden_size": 64', '"hidden_size": 96'), "utf-8")
    (tmp_path / "serve.sh").write_text(
        "python -m sglang.launch_server --model-path t.recipe.toml \\\n"
        "  --speculative-draft-model-path d.recipe.toml --speculative-algorithm EAGLE\n"
    )
    write_list(tmp_path / "pairs.jsonl", LIST)
    return tmp_path


def write_list(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def survey(*words: str) -> Answer:
    return call("survey", *words)


def records(path: str | Path) -> list[Record]:
    return [recorded(line) for line in Path(path).read_bytes().splitlines()]


def answers(found: list[Record]) -> list[object]:
    """What came of each row, without the words it was asked in."""
    return [(item.exit_code, item.error, item.checks) for item in found]


# What is written.


def test_each_row_is_a_line_in_the_order_of_the_list() -> None:
    assert survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE).code == 1
    found = records("out.jsonl")
    assert [item.asked for item in found] == [
        {key.replace("_", "-"): value for key, value in row.items()} for row in LIST
    ]
    assert [item.exit_code for item in found] == [0, 1, 1, 3, 3, 0, 1]
    assert {item.code for item in found[1].checks[0].findings} == {"DFL401"}
    assert found[4].error is not None
    assert "'kimi-k2'" in found[4].error
    (check,) = found[3].checks
    assert (check.verdict, check.needed[0].code) == ("unknown", "DFL001")
    assert (found[0].checks[0].engine, found[0].checks[0].version) == ("sglang", "0.5.23")


def test_a_record_says_what_a_check_says() -> None:
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    flags = ("--", "--speculative-algorithm", "EAGLE")
    report = json.loads(call("check", "d.recipe.toml", "-t", "t.recipe.toml", *ENGINE, "--format", "json", *flags).out)
    (check,), (wanted,) = records("out.jsonl")[1].checks, report["checks"]
    assert check.verdict == wanted["verdict"]
    assert [(item.code, item.message, item.measured) for item in check.findings] == [
        (item["code"], item["message"], item["measured"]) for item in wanted["findings"]
    ]
    assert (check.checked, check.not_checked) == (wanted["checked"], len(wanted["not_checked"]))


def test_every_line_fits_the_schema() -> None:
    survey("pairs.jsonl", "-o", "out.jsonl")
    validator = jsonschema.Draft202012Validator(schema())
    for line in Path("out.jsonl").read_text("utf-8").splitlines():
        validator.validate(json.loads(line))


def test_a_line_holds_nothing_a_terminal_obeys(folder: Path) -> None:
    write_list(folder / "odd.jsonl", [{"drafter": "./\x1b[31m\u202e", "target": "t.recipe.toml"}])
    assert survey("odd.jsonl", "--format", "jsonl").code == 3
    assert all(char.isprintable() or char == "\n" for char in survey("odd.jsonl", "--format", "jsonl").out)
    assert "\x1b" not in survey("odd.jsonl").out


@pytest.mark.parametrize("name", ["pairs.toml", "pairs.csv", "-"])
def test_lists_of_every_kind_say_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    survey("pairs.jsonl", "-o", "lines.jsonl", *ENGINE)
    if name == "pairs.toml":
        tables = [
            "[[pair]]\n" + "".join(f"{key} = {json.dumps(value)}\n".replace("_", "-", 1) for key, value in row.items())
            for row in LIST
        ]
        (folder / name).write_text("\n".join(tables))
    elif name == "pairs.csv":
        cells = ["drafter,target,flags,engines,trained_on,launch"]
        for row in LIST:
            texts = (row.get(key, "") for key in cells[0].split(","))
            cells.append(",".join(" ".join(map(str, text)) if isinstance(text, list) else str(text) for text in texts))
        (folder / name).write_bytes(b"\xef\xbb\xbf" + "\r\n".join(cells).encode())
    else:
        piped = io.TextIOWrapper(io.BytesIO((folder / "pairs.jsonl").read_bytes()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", piped)
    assert survey(name, "-o", "other.jsonl", *ENGINE).code == 1
    assert answers(records("other.jsonl")) == answers(records("lines.jsonl"))


def test_paths_start_at_the_list(folder: Path) -> None:
    below = folder / "lists"
    below.mkdir()
    write_list(below / "pairs.jsonl", [{"drafter": "../d.recipe.toml", "target": "../t.recipe.toml"}])
    assert survey("lists/pairs.jsonl", *ENGINE).code == 0


def test_a_folder_is_every_drafter_below_it(folder: Path) -> None:
    from drafter_lint.recipe import Recipe  # noqa: PLC0415 - only here

    for name in ("a/drafter", "b", ".hidden"):
        Recipe.parse((folder / "d.recipe.toml").read_text()).write(folder / "models" / name)
    Recipe.parse((folder / "t.recipe.toml").read_text()).write(folder / "models" / "target")
    (folder / "models/c.recipe.toml").write_bytes((folder / "d.recipe.toml").read_bytes())
    (folder / "models/broken").mkdir()
    (folder / "models/broken/config.json").write_text('{"architectures": ["LlamaForCausalLMEagle3"')
    assert survey("models", "--target", "t.recipe.toml", "-o", "out.jsonl", *ENGINE).code == 1
    asked = [item.asked["drafter"] for item in records("out.jsonl")]
    assert asked == [f"./models/{name}" for name in ("c.recipe.toml", "a/drafter", "b", "broken")]
    assert [check.verdict for item in records("out.jsonl") for check in item.checks] == ["ok", "ok", "ok", "refuses"]
    assert survey("models", "--target", "t.recipe.toml", "-o", "out.jsonl", *ENGINE).code == 1
    assert len(records("out.jsonl")) == 4


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"drafter": "x"}\n{"drafter": }\n', "a.jsonl:2: no JSON"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: a pair is an object"),
        ("a.jsonl", '{"drafter": "x", "taget": "y"}\n', "a.jsonl:1: unknown key 'taget'; nearest: target"),
        ("a.jsonl", '{"drafter": "x", "flags": "--tp 8"}\n', "a.jsonl:1: flags: should be a valid list"),
        ("a.jsonl", '{"target": "x"}\n', "a.jsonl:1: a pair names a drafter, or a launch command"),
        ("a.jsonl", '{"launch": "x", "flags": ["y"]}\n', "a.jsonl:1: flags and launch both"),
        ("a.jsonl", "[" * 100_000, "a.jsonl:1: no JSON"),
        ("a.jsonl", " " * 2_000_000, "a.jsonl:1: a line of more than"),
        ("a.jsonl", "\xff", "a.jsonl: is no text"),
        ("a.csv", "drafter,tragte\nx,y\n", "a.csv:2: unknown key 'tragte'; nearest: target"),
        ("a.csv", "drafter\nx,y\n", "a.csv:2: unknown key"),
        ("a.csv", "drafter,flags\nx,'a\n", 'a.csv:2: "\'a": No closing quotation'),
        ("a.csv", 'drafter\n"x"y\n', "a.csv:1: ',' expected"),
        ("a.csv", "drafter,trained_on\nx,two\n", "a.csv:2: trained-on: should be a valid integer"),
        ("a.toml", "[[pair]]\ndrafter = 'x'\n[[pair]]\n", "a.toml: pair 2: a pair names a drafter"),
        ("a.toml", "engines = []\n[[pair]]\ndrafter = 'x'\n", "'engines' is a setting: name that file with --config"),
        ("a.toml", "pair = 1\n", "a.toml: a list holds [[pair]] tables"),
        ("a.toml", "[", "a.toml: "),
        ("a.txt", "", "a.txt: a list of pairs is a .toml, .jsonl or .csv file"),
        ("absent.csv", None, "absent.csv: No such file"),
    ],
)
def test_a_mistake_in_a_list_is_told_before_anything_is_done(
    folder: Path, name: str, text: str | None, said: str
) -> None:
    if text is not None:
        (folder / name).write_bytes(text.encode("latin-1"))
    answer = survey(name, "-o", "out.jsonl")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pairs.jsonl", "--shard", "0/2"), "--shard '0/2': expected K/N"),
        (("pairs.jsonl", "--shard", "3/2"), "expected K/N"),
        (("pairs.jsonl", "--shard", "x"), "expected K/N"),
        (("pairs.jsonl", "--engine", "sglnag"), "no engine called 'sglnag'"),
        (("pairs.jsonl", "--engine", "sglang==0.0.1"), "older than everything read"),
        (("pairs.jsonl", "--report", "sarif=x"), "a survey has the formats text, markdown, html"),
        (("pairs.jsonl", "--report", "html=x", "--report", "text=x"), "two reports would go to x"),
        (("pairs.jsonl", "-o", "d.recipe.toml"), "d.recipe.toml:1: no record of a survey; name another file"),
        (("pairs.jsonl", "-o", "."), "is no file"),
        (("pairs.jsonl", "-o", "absent/out.jsonl"), "could not be written"),
        (("pairs.jsonl", "-o", os.devnull), "is no file"),
        (("pairs.jsonl", "--select", "DFL999"), "DFL999"),
    ],
)
def test_a_mistake_in_the_command_is_one_line(words: tuple[str, ...], said: str) -> None:
    before = Path("d.recipe.toml").read_bytes()
    answer = survey(*words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert Path("d.recipe.toml").read_bytes() == before


def test_a_row_that_meets_a_bug_of_ours_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = api.run

    def run(*jobs: Job, **rest: object) -> object:
        if jobs[0].flags:
            raise RuntimeError("of all things")
        return real(*jobs, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(judging_module, "run", run)
    assert survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE).code == 4
    found = records("out.jsonl")
    assert len(found) == len(LIST)
    assert found[1].error == "internal error: RuntimeError: of all things (a bug in drafter-lint)"
    assert [item.exit_code for item in found] == [0, 4, 1, 3, 3, 0, 1]


# Taken up again.


def test_what_is_written_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    whole = Path("out.jsonl").read_bytes()
    monkeypatch.setattr(judging_module, "run", None)
    again = survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    assert (again.code, again.out) == (first.code, first.out)
    assert Path("out.jsonl").read_bytes() == whole


def test_a_file_cut_off_anywhere_is_completed_to_the_same(folder: Path) -> None:
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    whole = (folder / "out.jsonl").read_bytes()
    ends = [found.end() for found in re.finditer(b"\n", whole)]
    for cut in (0, 1, ends[0] - 1, ends[0], ends[0] + 1, ends[3] + 40, len(whole) - 1, len(whole)):
        (folder / "out.jsonl").write_bytes(whole[:cut])
        survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
        assert (folder / "out.jsonl").read_bytes() == whole, cut


def test_other_terms_are_another_survey() -> None:
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    for number, words in enumerate(
        ((*ENGINE, "--ignore", "DFL401"), ("--engine", "vllm"), (*ENGINE, "--var", "A=b")), 2
    ):
        survey("pairs.jsonl", "-o", "out.jsonl", *words)
        assert len(records("out.jsonl")) == number * len(LIST)
    text = survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE).out
    assert f"{len(LIST)} pairs" in text


def test_a_longer_list_adds_what_is_new(folder: Path) -> None:
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    before = (folder / "out.jsonl").read_bytes()
    write_list(folder / "pairs.jsonl", [{"drafter": "wide.recipe.toml", "target": "t.recipe.toml"}, *LIST, LIST[0]])
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    after = (folder / "out.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == len(LIST) + 1


def test_a_disk_that_fills_up_leaves_whole_lines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey("pairs.jsonl", "-o", "whole.jsonl", *ENGINE)
    whole = (folder / "whole.jsonl").read_bytes()
    real, written = Output.write, []

    class Full(io.RawIOBase):
        """A file that takes half of the third line."""

        def __init__(self, file: io.BufferedRandom) -> None:
            self._file = file

        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")

        def __getattribute__(self, name: str) -> object:
            if name in {"write", "_file", "__class__"}:
                return object.__getattribute__(self, name)
            return getattr(object.__getattribute__(self, "_file"), name)

    def write(self: Output, line: str) -> None:
        written.append(line)
        if len(written) == 3:
            monkeypatch.setattr(self, "_file", Full(self._file))  # type: ignore[arg-type]
        real(self, line)

    monkeypatch.setattr(Output, "write", write)
    answer = survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    assert (answer.code, answer.out) == (2, "")
    assert "out.jsonl: could not be written: No space left on device" in answer.err
    assert (folder / "out.jsonl").read_bytes() == b"".join(whole.splitlines(keepends=True)[:2])
    monkeypatch.setattr(Output, "write", real)
    survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    assert (folder / "out.jsonl").read_bytes() == whole


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interruption_leaves_whole_lines_and_is_taken_up(folder: Path, jobs: str) -> None:
    rows: list[dict[str, Any]] = [
        {"drafter": "d.recipe.toml", "target": "t.recipe.toml", "trained_on": [number]} for number in range(120)
    ]
    write_list(folder / "many.jsonl", rows)
    out = folder / "out.jsonl"
    words = ("survey", "many.jsonl", "-o", "out.jsonl", *ENGINE, "--fail-on", "never", "--jobs", jobs)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-c", "from drafter_lint.cli import main; main()", *words)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while (not out.exists() or out.stat().st_size < 20_000) and time.monotonic() < deadline:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of it
        said, err = process.communicate(timeout=60)
    assert (process.returncode, said, err.strip()) == (130, "", "interrupted")
    interrupted = out.read_bytes()
    assert interrupted.endswith(b"\n")
    assert 0 < interrupted.count(b"\n") < len(rows)
    assert call(*words[:-2]).code == 0
    assert out.read_bytes().startswith(interrupted)
    assert [item.asked["trained-on"] for item in records(out)] == [[number] for number in range(120)]


# Who does the work.


def test_processes_and_shards_say_the_same_bit_for_bit(folder: Path) -> None:
    alone = survey("pairs.jsonl", "-o", "out.jsonl", *ENGINE)
    together = survey("pairs.jsonl", "-o", "jobs.jsonl", *ENGINE, "--jobs", "2")
    assert together == alone
    whole = (folder / "out.jsonl").read_bytes()
    assert (folder / "jobs.jsonl").read_bytes() == whole
    for part in ("1/3", "2/3", "3/3"):
        survey("pairs.jsonl", "-o", "parts.jsonl", *ENGINE, "--shard", part)
    assert sorted((folder / "parts.jsonl").read_bytes().splitlines()) == sorted(whole.splitlines())
    assert count("pairs.jsonl", Shard(1, 3)) == 3
    assert [row.where for row in read_rows("pairs.jsonl", Shard(3, 3))] == ["pairs.jsonl:3", "pairs.jsonl:6"]


def test_another_version_of_the_tool_does_none_of_the_work() -> None:
    with pytest.raises(UsageError, match=r"a worker has drafter-lint .*, and this is 9\.9"):
        judge_rows(read_rows("pairs.jsonl"), Terms(base=Job(), tool="9.9"))


@pytest.mark.parametrize("installed", [True, False])
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    if installed:
        pytest.importorskip("distributed", reason="an extra")
    else:
        monkeypatch.setitem(sys.modules, "distributed", None)
    answer = survey("pairs.jsonl", "--scheduler", "tcp://127.0.0.1:9")
    assert answer.code == 2
    assert ("no scheduler there" if installed else "drafter-lint[dask]") in answer.err


def test_what_is_open_stays_bounded(folder: Path) -> None:
    text = (folder / "d.recipe.toml").read_text()
    for number in range(3 * KEPT_OPEN):
        (folder / f"d{number}.recipe.toml").write_text(text)
    rows: list[dict[str, Any]] = [
        {"drafter": f"d{number}.recipe.toml", "target": "t.recipe.toml"} for number in range(3 * KEPT_OPEN)
    ]
    write_list(folder / "many.jsonl", rows)
    terms = Terms(base=Job(engines=("sglang==0.5.23",)))
    judge_rows(read_rows("many.jsonl"), terms)
    checkpoints = judging_module._open.checkpoints
    roles = [checkpoint.role for checkpoint in checkpoints.opened]
    assert (roles.count("drafter"), roles.count("target")) == (KEPT_OPEN, 1)
    assert len(checkpoints._pairs) <= 1
    assert len(checkpoints._sources) <= KEPT_OPEN + 1


# What is printed.


def test_the_matrix_as_text() -> None:
    answer = survey(
        "pairs.jsonl", "--engine", "vllm==0.33.0", "--engine", "sglang==0.5.9", "--engine", "sglang==0.5.23"
    )
    lines = answer.out.splitlines()
    assert re.split(r"  +", lines[0]) == ["drafter", "target", "sglang 0.5.9", "sglang 0.5.23", "vllm 0.33.0"]
    assert lines[1].startswith("example/")
    assert "not asked: " in lines[5]
    assert len(lines) == 1 + len(LIST) + 3
    assert lines[-2].startswith(f"{len(LIST)} pairs, ")
    assert "1 could not be asked" in lines[-2]
    assert re.split(r"  +", lines[2])[2:] == ["silent DFL401", "silent DFL401"]  # its flags are SGLang's
    assert "DFL401 eagle3-run-as-eagle 2" in lines[-1]


def test_the_matrix_as_files(folder: Path) -> None:
    reports = ("--report", "html=a.html", "--report", "markdown=a.md", "--report", "text=a.txt")
    answer = survey("pairs.jsonl", *ENGINE, *reports)
    assert (folder / "a.txt").read_text() == answer.out
    assert (folder / "a.md").read_text() == survey("pairs.jsonl", *ENGINE, "--format", "markdown").out
    assert (folder / "a.html").read_text() == survey("pairs.jsonl", *ENGINE, "--format", "html").out
    rows = [line for line in (folder / "a.md").read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(LIST)
    assert "**silent** DFL401" in rows[3]
    page = _Page((folder / "a.html").read_text())
    assert page.rows == 1 + len(LIST)
    assert page.open == []
    assert "DFL401" in page.text


class _Page(HTMLParser):
    """How many rows a page has, what it shows, and which elements are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows, self.open, self.text = 0, list[str](), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.rows += tag == "tr"
        if tag not in {"meta", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_nothing_to_survey(folder: Path) -> None:
    (folder / "none.jsonl").write_text("\n")
    for format_ in ("text", "markdown", "html", "jsonl"):
        answer = survey("none.jsonl", "--format", format_)
        assert (answer.code, answer.err) == (0, "")
        assert ("0 pairs, 0 checks: none" in answer.out) is (format_ != "jsonl")


@pytest.mark.parametrize("format_", ["markdown", "html"])
def test_names_are_text_wherever_they_are_shown(folder: Path, format_: str) -> None:
    write_list(folder / "odd.jsonl", [{"drafter": "<script>alert(1)</script>|`x`", "target": "t.recipe.toml"}])
    out = survey("odd.jsonl", "--format", format_).out
    assert out.count("<script>alert") == (1 if format_ == "markdown" else 0)  # there within backticks
    assert ("| `` <script>alert(1)</script>\\|`x` `` |" in out) is (format_ == "markdown")
    assert "alert(1)" in out


def test_the_worst_row_decides(folder: Path) -> None:
    for rows, code in (([0], 0), ([0, 3], 3), ([0, 3, 1], 1), ([4], 3)):
        write_list(folder / "some.jsonl", [LIST[row] for row in rows])
        assert survey("some.jsonl", *ENGINE).code == code
    write_list(folder / "some.jsonl", [LIST[3]])
    assert survey("some.jsonl", *ENGINE, "--allow-unknown").code == 0
    write_list(folder / "some.jsonl", [LIST[1]])
    assert survey("some.jsonl", *ENGINE, "--fail-on", "never").code == 0


def test_a_reader_that_has_gone_ends_what_is_kept_nowhere(folder: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"drafter": "d.recipe.toml", "target": "t.recipe.toml", "trained_on": [number]} for number in range(60)
    ]
    write_list(folder / "many.jsonl", rows)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    program = f"{sys.executable} -c 'from drafter_lint.cli import main; main()' survey many.jsonl --fail-on never"
    for words, lines in (("--format jsonl", None), ("--format jsonl -o out.jsonl", 60)):
        shell = f"({program} {words}; echo $? >&2) | head -1"
        done = subprocess.run(["bash", "-c", shell], env=environment, capture_output=True, text=True, check=True)
        assert done.stderr == "0\n"
        assert len(done.stdout.splitlines()) == 1
        if lines:
            assert len(records(words.split()[-1])) == lines


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_for_terminals_and_after_half_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Iterator[float] = iter([0.0, 0.1, 0.4, 0.6, 0.7, 2.0])
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    with cli._Progress(10, quiet=False) as progress:
        for done in range(1, 6):
            progress.at(done)
            assert (terminal.getvalue() == "") is (done < 3)
    assert terminal.getvalue() == "\r\x1b[K3 of 10 pairs, 5 a second\r\x1b[K5 of 10 pairs, 2 a second\r\x1b[K"


def test_no_progress_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, quiet in ((io.StringIO(), False), (_Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        with cli._Progress(10, quiet=quiet) as progress:
            progress._next = 0.0
            progress.at(1)
        assert stream.getvalue() == ""
