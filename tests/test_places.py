"""Places a run writes to that are full, closed or not there, and interruptions: one line, and never half a file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from command_line import enter
from drafter_lint import cli
from hub_pairs import COMMITS, DRAFTER, EVERY_ENGINE, TARGET, small_pair
from loopback_hub import LoopbackHub

LOCAL = ("d.recipe.toml", "--target", "t.recipe.toml", "--engine", "sglang==0.5.23")
COMMANDS: Mapping[str, Sequence[str]] = {
    "check": ("check", *LOCAL),
    "survey": ("survey", "pairs.csv"),
    "lines": ("survey", "pairs.csv", "--format", "jsonl"),
    "help": ("--help",),
    "cache": ("cache", "info"),
}
PROGRAM = "from drafter_lint.cli import main; main()"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    enter(tmp_path, monkeypatch)
    (tmp_path / "pairs.csv").write_text("drafter,target\nd.recipe.toml,t.recipe.toml\n")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def shell(words: Sequence[str], redirected: str, **more: str) -> tuple[int, str, str]:
    """The command line in a shell, its streams redirected."""
    script = f'"$0" -c \'{PROGRAM}\' "$@" {redirected}'
    command = ["bash", "-o", "pipefail", "-c", script, sys.executable, *words]
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["check", "survey", "lines"])
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="Linux has it")
def test_a_full_disk_behind_standard_output_is_one_line(name: str) -> None:
    code, out, err = shell(COMMANDS[name], ">/dev/full")
    assert (code, out, err) == (2, "", "error: standard output: No space left on device\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_closed_streams_change_no_exit_code(name: str) -> None:
    assert shell(COMMANDS[name], ">&- 2>&- <&-") == (0, "", "")
    assert shell(COMMANDS[name], "| head -c 1")[::2] == (0, "")


@pytest.mark.parametrize("command", ["check", "survey"])
def test_a_report_may_go_to_a_pipe_and_never_takes_its_place(folder: Path, command: str) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    code, out, err = shell((*COMMANDS[command], "-q", "--report", f"html={pipe}"), ">/dev/null & cat pipe; wait $!")
    assert (code, err) == (0, "")
    assert "drafter-lint" in out
    assert pipe.is_fifo()


def test_a_report_that_cannot_be_written_leaves_the_old_one(folder: Path) -> None:
    (folder / "old.html").write_text("old")
    for command in ("check", "survey"):
        code, _, err = shell((*COMMANDS[command], "--report", "html=absent/new.html"), "")
        assert code == 2
        assert err.startswith("error: --report: ")
        assert err.endswith("absent/new.html could not be written: No such file or directory\n")
    assert (folder / "old.html").read_text() == "old"
    assert not (folder / "absent").exists()


@pytest.mark.parametrize("home", ["/nonexistent", "/dev/null"])
def test_a_home_that_is_none_changes_nothing(home: str) -> None:
    with LoopbackHub(small_pair()) as hub:
        keep = {"HOME": home, "HF_TOKEN": hub.token}
        for name in ("HF_HUB_CACHE", "DRAFTER_LINT_CACHE"):
            os.environ.pop(name)
        code, out, err = shell(("check", DRAFTER, "--target", TARGET, *EVERY_ENGINE), "", **keep)
        assert (code, err) == (0, "")
        assert "requests" in out


# Interrupted.


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub(small_pair(), latency=0.02) as it:
        yield it


def interrupted(words: Sequence[str], after: float) -> tuple[int, str, float]:
    """The command line, interrupted so many seconds after its first request or start: code, stderr, seconds it took."""
    command = (sys.executable, "-c", PROGRAM, *words)
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(after)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        return process.returncode, err, time.monotonic() - sent


def test_a_server_that_stalls_does_not_hold_up_an_interruption(hub: LoopbackHub) -> None:
    hub.fault(DRAFTER, "config", "stall")
    hub.fault(TARGET, "info", "stall")
    code, err, seconds = interrupted(("check", DRAFTER, "--target", TARGET, *EVERY_ENGINE), 1.5)
    assert len(hub.requests) > 1
    assert (code, err.strip()) == (130, "interrupted")
    assert seconds < 10  # of the thirty seconds of the budget


def test_an_interruption_at_any_moment_leaves_a_sound_cache(hub: LoopbackHub, folder: Path) -> None:
    words = ("check", f"{DRAFTER}@{COMMITS['drafter']}", "--target", f"{TARGET}@{COMMITS['target']}", *EVERY_ENGINE)
    report = ("--report", "json=report.json", "--report", "html=report.html")
    codes = set()
    for moment in range(4):
        shutil.rmtree(hub.kept, ignore_errors=True)
        code, err, _ = interrupted((*words, *report), 0.4 + moment * 0.35)
        codes.add(code)
        assert "Traceback" not in err
        assert [path for path in Path(hub.kept).rglob(".*") if path.is_file()] == []
        assert [path.name for path in folder.glob(".report*")] == []
        for name in ("report.json", "report.html"):
            file = folder / name
            assert not file.exists() or file.read_text().rstrip().endswith(("}", "</html>"))
    assert codes <= {0, 130, -signal.SIGINT}  # before Python is up, the signal ends it
    assert shell(words, "")[0] == 0


def test_an_interruption_wrapped_in_another_error_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrapped(**_: object) -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(cli.cli, "main", wrapped)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert (stopped.value.code, capsys.readouterr().err) == (130, "interrupted\n")
