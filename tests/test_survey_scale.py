"""Long surveys: however the work is shared out, ended and taken up again, the same bytes; linear time, flat memory.

A hundred pairs by default; ``make survey-scale`` runs 10,000 and prints what they cost.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

import survey_pairs
from hub_pairs import PACKAGE, Answer, run, spawn

SHARDS = 4
SIZES = (100, 1000, 10_000)
#: Seconds one run of the longest list may take on a machine that does other things too.
PATIENCE = 3 * 3600.0
#: Runs the command line with a folder to keep notes in, and these words.
Ask = Callable[[Path, Sequence[str]], Answer]


class Made(NamedTuple):
    """A survey, and what it cost.

    Attributes:
        name: how the work was shared out.
        records: what it wrote.
        cost: of the process that wrote it and those it started; of several, the sum and the largest.
    """

    name: str
    records: bytes
    cost: Answer

    @property
    def row(self) -> str:
        """A line of the table."""
        count, cost = self.records.count(b"\n"), self.cost
        each, peak = f"{1000 * cost.cpu / count:6.2f} ms of work a pair", f"{cost.peak / 1e6:5.0f} MB at most"
        return f"{count:6} pairs  {self.name:28} {sha256(self.records).hexdigest()[:16]}  {each}  {peak}"


def test_a_hundred_pairs_say_the_same_however_the_work_is_shared_out(tmp_path: Path) -> None:
    pairs = survey_pairs.write(tmp_path / "pairs", 100)
    alone = _survey(_inside, tmp_path, pairs, "--jobs 1")
    _is_varied(alone.records)
    for other in _ways(_inside, tmp_path, pairs):
        assert other.records == alone.records, other.name


@pytest.mark.slow  # a quarter of an hour on two cores; the hundred pairs above take the same ways
def test_ten_thousand_pairs_take_a_hundred_times_what_a_hundred_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone: list[Made] = []
    pairs = survey_pairs.write(tmp_path / "pairs", SIZES[-1])
    for size in SIZES:
        alone.append(_survey(_apart, tmp_path, survey_pairs.beginning(pairs, size), "--jobs 1"))
        _show(capsys, alone[-1])
    for shorter in alone:
        assert alone[-1].records.startswith(shorter.records)
    for other in _ways(_apart, tmp_path, pairs):
        _show(capsys, other)
        assert other.records == alone[-1].records, other.name
    # Start-up is shared by more pairs the longer the list; anything that grows with the list would show as a multiple.
    (_, thousand, whole) = (made.cost for made in alone)
    assert whole.cpu < 10 * 1.5 * thousand.cpu
    assert whole.peak < 1.25 * thousand.peak


def _show(capsys: pytest.CaptureFixture[str], made: Made) -> None:
    with capsys.disabled():
        print(f"\n{made.row}", end="", flush=True)  # noqa: T201 - what this test is also run for


def _is_varied(records: bytes) -> None:
    """Lists of one kind of pair would prove little."""
    for verdict in (b"refuses", b"silent", b"ok"):
        assert records.count(b'"verdict":"%s"' % verdict) >= 2, verdict
    assert records.count(b'"error":"') >= 1


def _inside(home: Path, words: Sequence[str]) -> Answer:
    """In this process, where nothing is measured."""
    del home
    return run(*words)


def _apart(home: Path, words: Sequence[str]) -> Answer:
    """In a process of its own, measured."""
    return spawn(home, words, timeout=PATIENCE)


def _ways(ask: Ask, home: Path, pairs: Path) -> Iterator[Made]:
    """The same list in every other way."""
    yield _survey(ask, home, pairs, "--jobs 2", "--jobs", "2")
    with _cluster() as address:
        yield _survey(ask, home, pairs, "Dask cluster of two workers", "--scheduler", address)
    yield _in_shards(ask, home, pairs)
    yield _killed(ask, home, pairs)


def _survey(ask: Ask, home: Path, pairs: Path, name: str, *words: str, out: str = "") -> Made:
    """A survey by the command line, written to a new file or added to one."""
    path = home / (out or f"{len(list(home.iterdir()))}.jsonl")
    said = ask(home, (*_command(pairs, path), *words))
    assert said.err == ""
    return Made(name, path.read_bytes(), said)


def _command(pairs: Path, out: Path) -> tuple[str, ...]:
    return ("survey", str(pairs), "-o", str(out), "--fail-on", "never", "--format", "markdown")


@contextmanager
def _cluster() -> Iterator[str]:
    """The address of a cluster of two workers on this machine."""
    distributed = pytest.importorskip("distributed", reason="an extra")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1", memory_limit=0
    ) as made:
        yield str(made.scheduler_address)


def _in_shards(ask: Ask, home: Path, pairs: Path) -> Made:
    """Every part to a file of its own, and a line of each in turns."""
    parts = [
        _survey(ask, home, pairs, "", "--shard", f"{number}/{SHARDS}", out=f"part{number}.jsonl")
        for number in range(1, SHARDS + 1)
    ]
    lines = zip_longest(*(part.records.splitlines(keepends=True) for part in parts), fillvalue=b"")
    costs = [part.cost for part in parts]
    cost = Answer(
        code=0,
        out="",
        err="",
        seconds=sum(cost.seconds for cost in costs),
        cpu=sum(cost.cpu for cost in costs),
        peak=max(cost.peak for cost in costs),
    )
    return Made(f"{SHARDS} shards, merged", b"".join(chain.from_iterable(lines)), cost)


def _killed(ask: Ask, home: Path, pairs: Path) -> Made:
    """Two processes at work, the one that writes killed half-way; the others end with it; then taken up again."""
    out, total = home / "killed.jsonl", pairs.read_bytes().count(b"\n")
    command = (sys.executable, "-c", "from drafter_lint.cli import main; main()", *_command(pairs, out), "--jobs", "2")
    with subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert _waits_for(lambda: out.exists() and out.read_bytes().count(b"\n") >= total // 2)
        process.kill()
        process.wait()
        written = out.read_bytes()
        assert total // 2 <= written.count(b"\n") < total
        assert _waits_for(lambda: _is_gone(process.pid))
    resumed = _survey(ask, home, pairs, "killed half-way, resumed", "--jobs", "2", out=out.name)
    assert resumed.records.startswith(written[: written.rfind(b"\n") + 1])
    return resumed


def _waits_for(holds: Callable[[], bool]) -> bool:
    """True as soon as something holds, False if it never does."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _is_gone(group: int) -> bool:
    """True if no process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False
