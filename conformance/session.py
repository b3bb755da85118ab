"""A session with one engine: its interpreter is started once, and given one constructed pair after another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from conformance.pairs import PairWriter
from conformance.record import Record, launch_of, record
from conformance.truth import ROOT, Engine, Run, TruthCase, load_cases
from conformance.workers.protocol import Task, read_seen, task_line

_LAST_WORDS = 400
#: A pair that every engine drafts with in full, at every version recorded.
RIGHT = "ok_d2t"


class CannotStart(Exception):
    """The engine's interpreter does not answer; the message holds its last words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How to run cases.

    Attributes:
        engine: which engine.
        python: the interpreter of the environment it is installed in.
        limit: seconds a case may take.
        scratch: a folder for pairs and logs; logs stay, pairs go.
    """

    engine: Engine
    python: Path
    limit: float
    scratch: Path

    def run(self, cases: Sequence[TruthCase]) -> Iterator[Record]:
        """Run cases, one record each and in their order.

        A right pair is run before them. Where it is refused, the release or this machine is to blame, and what stops at
        the same stage was not run.

        Raises:
            CannotStart: the interpreter cannot be started, or cannot import the engine.
        """
        right = next(case for case in load_cases() if case.id == RIGHT)
        records = self._run([right, *cases])
        first = next(records)
        broken = first.run if first.run is not None and first.run.outcome == "refuses" else None
        for each in records:
            if broken and each.run and (each.run.outcome, each.run.stage) == (broken.outcome, broken.stage):
                reason = f"stops at a stage where a right pair stops too: {broken.error_type} in {broken.error_at}"
                yield replace(each, run=None, not_run=reason)
            else:
                yield each

    def _run(self, cases: Sequence[TruthCase]) -> Iterator[Record]:
        """One record a case; the next pair is written while one runs."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        wanted = [(case, template) for case in cases if (template := launch_of(case, self.engine))]
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder, self._worker() as worker:
            version = self._greeting(worker)
            writer = PairWriter(Path(folder))
            sent = self._send(worker, writer, wanted[0])
            for number, (case, template) in enumerate(wanted):
                ahead = self._send(worker, writer, wanted[number + 1]) if number + 1 < len(wanted) else None
                answer = worker.stdout.readline() if worker.stdout and sent else ""
                if sent:
                    rmtree(sent)
                if answer:
                    yield record(case, template, read_seen(answer))
                else:
                    reason = "the engine's interpreter has ended"
                    yield Record(case=case.id, engine=self.engine, version=version, not_run=reason)
                sent = ahead

    @contextmanager
    def _worker(self) -> Iterator[subprocess.Popen[str]]:
        """The engine's interpreter, ended with all it has started when nobody waits for an answer any more."""
        worker = self._start()
        try:
            yield worker
        finally:
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.communicate()

    def _start(self) -> subprocess.Popen[str]:
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
        # Engines read their own variables; those of the caller must not decide what is recorded.
        environment["PYTHONPATH"] = str(ROOT)
        with (self.scratch / "worker.log").open("wb") as log:
            try:
                return subprocess.Popen(
                    [self.python, "-m", "conformance.workers", self.engine, self.scratch.resolve()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    env=environment,
                    cwd=self.scratch,
                    start_new_session=True,
                )
            except OSError as error:
                raise CannotStart(str(error)) from error

    def _greeting(self, worker: subprocess.Popen[str]) -> str:
        line = worker.stdout.readline() if worker.stdout else ""
        if not line:
            words = (self.scratch / "worker.log").read_text("utf-8", errors="replace").strip()
            raise CannotStart(words[-_LAST_WORDS:])
        return str(json.loads(line)["version"])

    def _send(self, worker: subprocess.Popen[str], writer: PairWriter, what: tuple[TruthCase, Run]) -> Path | None:
        """Write a pair and hand it over; returns its folder, None if there is nobody to take it."""
        case, template = what
        folder = writer.write(case)
        task = Task(
            case=case.id,
            folder=str(folder),
            drafter=case.drafter_folder,
            launch=template.launch,
            environment=template.environment,
            limit=self.limit,
        )
        try:
            if worker.stdin:
                worker.stdin.write(task_line(task))
                worker.stdin.flush()
        except BrokenPipeError:
            return None
        return folder
