"""Pairs behind a loopback Hub, and the command line run against them: in this process, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import drafter_lint
from drafter_lint.cli import main
from drafter_lint.facts import engines
from drafter_lint.recipe import Recipe
from loopback_hub import Content, LoopbackHub, Repo, _Handler

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

FIXTURES = Path(__file__).parents[1] / "fixtures"
PACKAGE = Path(drafter_lint.__file__).parents[1]
DRAFTER, TARGET = "example/drafter", "example/target"
COMMITS = {"drafter": "3f9c1ab" + "0" * 33, "target": "8d2e004" + "0" * 33}
#: Every engine there is a profile of, as options.
EVERY_ENGINE = tuple(word for name in engines() for word in ("--engine", name))
_COMMAND = (sys.executable, "-c", "from drafter_lint.cli import main; main()")
# A process counts the memory of the one it was forked from as its own peak, so a small one stands in between. Its
# children's peak is in kilobytes on Linux and in bytes on macOS.
_LAUNCHER = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[3:], timeout=float(sys.argv[2]))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
open(sys.argv[1], "w").write(f"{peak} {used.ru_utime + used.ru_stime}")
sys.exit(done.returncode)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the command line said.

    Attributes:
        code: the exit code.
        out: standard output.
        err: standard error.
        seconds: how long it took.
        peak: bytes of memory at most, of the largest process; 0 if it was not measured.
        cpu: seconds of work of all processes, 0 if they were not measured.
    """

    code: int
    out: str
    err: str
    seconds: float
    peak: int = 0
    cpu: float = 0.0

    @property
    def report(self) -> Any:
        """The JSON report."""
        return json.loads(self.out)

    @property
    def checks(self) -> list[Any]:
        """The checks of the JSON report."""
        return list(self.report["checks"])

    @property
    def said(self) -> list[str]:
        """Every finding and every reason why something was not checked, as "code text"."""
        found = [f"{item['code']} {item['message']}" for check in self.checks for item in check["findings"]]
        return found + [f"{item['code']} {item['reason']}" for check in self.checks for item in check["not_checked"]]

    @property
    def codes(self) -> set[str]:
        """The codes of all findings."""
        return {item["code"] for check in self.checks for item in check["findings"]}

    @property
    def verdicts(self) -> set[str]:
        """The verdicts of all checks."""
        return {check["verdict"] for check in self.checks}


def run(*args: str) -> Answer:
    """The command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    started, code = time.monotonic(), -1
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(args))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else -1
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    return Answer(code=code, out=texts[0], err=texts[1], seconds=time.monotonic() - started)


def spawn(
    folder: Path,
    args: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    program: str = "",
    timeout: float = 580,
) -> Answer:
    """The command line, or another ``program``, in a process whose home is ``folder``, its memory measured.

    The Hub's address and token are taken from the environment; every other variable that a user or a tool may have set
    for the Hub's client is not.
    """
    kept = {"PATH", "HF_ENDPOINT", "HF_TOKEN", "NO_PROXY", "no_proxy", "SYSTEMROOT", "LD_LIBRARY_PATH"}
    clean = {name: value for name, value in os.environ.items() if name in kept}
    clean |= {"HOME": str(folder), "PYTHONPATH": str(PACKAGE), "COLUMNS": "100", **(environment or {})}
    note, command = folder / "peak", (sys.executable, "-c", program)
    started = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-I", "-S", "-c", _LAUNCHER, str(note), str(timeout)),
            *(command if program else _COMMAND),
            *args,
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=clean,
        cwd=folder,
        check=False,
        timeout=timeout + 20,
    )
    seconds = time.monotonic() - started
    peak, cpu = note.read_text().split()
    note.unlink()
    return Answer(
        code=done.returncode, out=done.stdout, err=done.stderr, seconds=seconds, peak=int(peak), cpu=float(cpu)
    )


def small(name: str) -> Recipe:
    """A recipe of ``fixtures/small``."""
    return Recipe.parse((FIXTURES / "small" / f"{name}.recipe.toml").read_text(encoding="utf-8"))


def small_files() -> tuple[dict[str, Content], dict[str, Content]]:
    """A right pair of a few hundred kilobytes: the drafter's files and the target's."""
    drafter: dict[str, Content] = dict(small("eagle3-llama").files())
    target: dict[str, Content] = dict(small("target-llama").files())
    return drafter, target


def small_pair() -> dict[str, Repo]:
    """The small pair as repositories of a Hub."""
    drafter, target = small_files()
    return {
        DRAFTER: {"commit": COMMITS["drafter"], "files": drafter},
        TARGET: {"commit": COMMITS["target"], "files": target},
    }


class CountingHub(LoopbackHub):
    """A loopback Hub that counts the bytes of its answers' bodies, whether they were read to their end or not."""

    def __init__(self, repos: Mapping[str, Repo], *, latency: float = 0.0) -> None:
        super().__init__(repos, latency=latency)
        self.sent = Sent()

    def __enter__(self) -> Self:
        super().__enter__()
        for server in self._servers:
            server.RequestHandlerClass = _counting(self.sent)
        return self


class Sent:
    """How many bytes of bodies were sent; threads may add to it."""

    def __init__(self) -> None:
        self.bytes = 0
        self._lock = threading.Lock()

    def add(self, size: int) -> None:
        """Count some."""
        with self._lock:
            self.bytes += size


def _counting(sent: Sent) -> type[_Handler]:
    class Counting(_Handler):
        """A handler whose writes are seen, except those of status line and headers."""

        head = False

        def setup(self) -> None:
            super().setup()
            write = self.wfile.write

            def counted(data: bytes) -> int:
                sent.add(0 if self.head else len(data))
                return write(data)

            self.wfile = _Seen(self.wfile, counted)

        def flush_headers(self) -> None:
            self.head = True
            super().flush_headers()
            self.head = False

    return Counting


class _Seen(io.BufferedIOBase):
    def __init__(self, stream: io.BufferedIOBase, write: Callable[[bytes], int]) -> None:
        self._stream, self._write = stream, write

    def write(self, data: Buffer, /) -> int:
        return self._write(bytes(data))

    def flush(self) -> None:
        if not self._stream.closed:
            self._stream.flush()

    def close(self) -> None:
        self._stream.close()


def words(text: str) -> str:
    """A wrapped text on one line."""
    return " ".join(text.split())
