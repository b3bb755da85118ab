"""Report files: each whole or not at all, several at once, and nothing left behind."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from drafter_lint import outputs
from drafter_lint.errors import UsageError
from drafter_lint.outputs import Output, parse_output, write_reports
from drafter_lint.renderers import RENDERERS
from drafter_lint.report import Report
from many_reports import REPORTS


def test_every_format_is_written(tmp_path: Path) -> None:
    wanted = [Output(name, str(tmp_path / f"report.{name}")) for name in RENDERERS]
    write_reports(REPORTS["hostile"], wanted)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"report.{name}" for name in RENDERERS)
    for path in tmp_path.iterdir():
        path.read_text("utf-8")
    assert json.loads((tmp_path / "report.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert "\x1b" not in (tmp_path / "report.text").read_text("utf-8")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_usual_permissions(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_reports(REPORTS["one"], [Output("json", str(tmp_path / "a.json"))])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == mode


def test_an_old_file_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("old", "utf-8")
    old.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(old)
    write_reports(REPORTS["one"], [Output("json", str(link))])
    assert link.is_symlink()
    assert json.loads(old.read_text("utf-8"))["schema"] == 1
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path) -> None:
    old = tmp_path / "a.json"
    old.write_text("old", "utf-8")
    wanted = [Output("json", str(old)), Output("sarif", str(tmp_path / "missing" / "b.sarif"))]
    with pytest.raises(UsageError, match=r"missing/b\.sarif could not be written: No such file"):
        write_reports(REPORTS["one"], wanted)
    assert old.read_text("utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"a\.json could not be written: No space left on device"):
        write_reports(REPORTS["one"], [Output("json", str(tmp_path / "a.json"))])
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_cannot_be_made_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(report: Report, format_: str, style: object) -> str:  # noqa: ARG001 - the renderers' signature
        if format_ == "sarif":
            raise ValueError("a bug")
        return "fine"

    monkeypatch.setattr(outputs, "render", broken)
    with pytest.raises(ValueError, match="a bug"):
        write_reports(REPORTS["one"], [Output("json", str(tmp_path / "a")), Output("sarif", str(tmp_path / "b"))])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="could not be written: Is a directory"):
        write_reports(REPORTS["one"], [Output("json", str(tmp_path))])
    assert list(tmp_path.iterdir()) == []


def test_two_reports_for_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    wanted = [Output("json", str(tmp_path / "a")), Output("text", str(tmp_path / "link"))]
    with pytest.raises(UsageError, match="two reports would go to"):
        write_reports(REPORTS["one"], wanted)
    assert not (tmp_path / "a").exists()


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text("utf-8")))
    reader.start()
    write_reports(REPORTS["one"], [Output("concise", str(pipe))])
    reader.join(10)
    assert got
    assert "DFL401" in got[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_an_option_is_read() -> None:
    assert parse_output("sarif=out/a=b.sarif") == Output("sarif", "out/a=b.sarif")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sarif", "expected FORMAT=FILE"),
        ("sarif=", "expected FORMAT=FILE"),
        ("xml=a", "no format called 'xml'; there are text"),
    ],
)
def test_an_option_in_error_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_output(text)
