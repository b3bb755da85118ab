"""Serves one engine: reads a task a line, runs each in a process of its own, answers a line.

ENGINE_PYTHON -m conformance.workers vllm|sglang LOG_FOLDER

The engine is imported once; what the first run imports besides is then imported here too, so that the runs after it
start in a fraction of the time.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TextIO

from conformance.workers.protocol import Seen, Task, read_seen, read_task

#: Packages whose modules are worth importing ahead; others may start threads, which a fork does not survive.
_AHEAD = ("vllm", "sglang", "torch", "transformers", "compressed_tensors", "tokenizers")
_EXCERPT = 600
#: Words of an error that is about this machine, not about the pair.
_MACHINE = re.compile(
    r"no CPU stand-in|_cpu\(\)|compiled with(out)? CUDA|No CUDA|CUDA (driver|error|is not)|cuda driver|Triton is not"
    r"|on device 'cpu'|only supports CUDA"
    r"|spec decode is not supported"  # vLLM's CPU runner before 0.21
)


class Engine(Protocol):
    """What the module of an engine offers: its version, the folder of its package, and how to run a case."""

    VERSION: str
    HOME: Path

    def run(self, task: Task, seen: Seen) -> None:
        """Start, load, draft; fill in what is seen on the way, and let exceptions pass."""


def main(engine_name: str, logs: Path) -> None:
    """Answer tasks until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    engine: Engine = importlib.import_module(f"conformance.workers.on_{engine_name}")
    answers.write(json.dumps({"version": engine.VERSION}) + "\n")
    answers.flush()
    warm = False
    for line in sys.stdin:
        task = read_task(line)
        log = logs / f"{task.case}.log"
        modules = logs / "modules"
        _reply(answers, _one(engine, task, log=log, modules=None if warm else modules))
        if not warm and modules.exists():
            _import_ahead(modules.read_text("utf-8").split())
            warm = True
            gc.freeze()
            gc.disable()


def _reply(answers: TextIO, seen: Seen) -> None:
    answers.write(seen.to_line())
    answers.flush()


def _one(engine: Engine, task: Task, *, log: Path, modules: Path | None) -> Seen:
    """Run one task in a fork, and wait no longer than its limit."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        os.close(read_end)
        try:
            _in_child(engine, task, log=log, modules=modules, write_end=write_end)
        finally:
            os._exit(0)
    os.close(write_end)
    status = _wait(child, task.limit)
    with os.fdopen(read_end) as answer:
        # What the child left running may still hold the other end, so no more than is there is read.
        os.set_blocking(answer.fileno(), False)
        text = answer.readline() if status == 0 else ""
    if text:
        return read_seen(text)
    seen = Seen(task.case, engine.VERSION)
    signalled = status is not None and os.WIFSIGNALED(status)
    seen.not_run = (
        f"took longer than {task.limit:g} s"
        if status is None
        else f"ended by signal {os.WTERMSIG(status)}"
        if signalled
        else "no answer"
    )
    return seen


def _wait(child: int, limit: float) -> int | None:
    """The exit status, None if the child had to be killed."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _in_child(engine: Engine, task: Task, *, log: Path, modules: Path | None, write_end: int) -> None:
    stream = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    # A full collection walks the whole engine, and several are asked for on the way.
    gc.collect = _no_collection
    os.chdir(task.folder)
    os.environ.update(task.environment)
    seen = Seen(task.case, engine.VERSION)
    start = time.monotonic()
    try:
        engine.run(task, seen)
    except BaseException as error:  # noqa: BLE001 - argparse leaves through SystemExit; whatever it is, it is the observation
        sys.stderr.flush()
        # A parser says what it has to say before it leaves.
        _note_error(
            error, seen, said=_last_line(log) if isinstance(error, SystemExit) else str(error), home=engine.HOME
        )
    seen.seconds = round(time.monotonic() - start, 1)
    if seen.target_right is False:
        seen.not_run = "the target alone does not continue as it was built to"
    with os.fdopen(write_end, "w") as answer:
        answer.write(seen.to_line())
    if modules is not None:
        modules.write_text("\n".join(sys.modules), "utf-8")


def _last_line(log: Path) -> str:
    return log.read_text("utf-8", errors="replace").strip().rpartition("\n")[2]


def _no_collection(generation: int = 2) -> int:
    return generation * 0


def _note_error(error: BaseException, seen: Seen, *, said: str, home: Path) -> None:
    traceback.print_exception(error)
    seen.error_type = type(error).__name__
    seen.error_text = " ".join(said.split())[:_EXCERPT]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if home in Path(frame.filename).parents]
    if own:
        seen.error_at = f"{Path(own[-1].filename).relative_to(home.parent).as_posix()}:{own[-1].name}"
    ours = bool(frames) and Path(__file__).parent in Path(frames[-1].filename).parents
    missing = isinstance(error, ImportError) or type(error).__module__.startswith("triton")
    if ours or missing or _MACHINE.search(seen.error_text):
        seen.not_run = f"stopped at stage {seen.stage} by this machine: {seen.error_text[:160]}"


def _import_ahead(names: Iterable[str]) -> None:
    load: Callable[[str], object] = importlib.import_module
    for name in names:
        if name.split(".")[0] in _AHEAD and name not in sys.modules and "_C" not in name:
            try:
                load(name)
            except Exception:  # noqa: BLE001, S112 - it is imported again where it is needed, and fails there if it must
                continue


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
