"""Who does the work: this process, some processes, or a cluster. All of them give the same records in the same order.

A crew takes chunks of rows and yields their records; only so many chunks are under way at once, so that neither rows
nor records pile up however long the list is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.process import BaseProcess
from typing import Protocol

from drafter_lint.errors import DrafterLintError, UsageError
from drafter_lint.survey.judging import Terms, judge_rows
from drafter_lint.survey.rows import Row

Chunk = tuple[Row, ...]
#: What a crew is: given chunks and terms, the record of each row.
Crew = Callable[[Iterable[Chunk], Terms], AbstractContextManager[Iterator[str]]]
#: Rows of a chunk: enough to share a target, few enough to be given away evenly.
CHUNK = 8
_UNDER_WAY = 3


class _Promise(Protocol):
    def result(self) -> list[str]: ...


@contextmanager
def here(chunks: Iterable[Chunk], terms: Terms) -> Iterator[Iterator[str]]:
    """One row after another, in this process."""

    def judged() -> Iterator[str]:
        for chunk in chunks:
            for row in chunk:
                yield from judge_rows((row,), terms)

    yield judged()


def processes(jobs: int) -> Crew:
    """So many processes on this machine."""

    @contextmanager
    def crew(chunks: Iterable[Chunk], terms: Terms) -> Iterator[Iterator[str]]:
        # Not fork: a thread of the Hub client may hold a lock at that moment.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_prepare)

        def submit(chunk: Chunk) -> _Promise:
            with _uninterrupted():  # a process may be started here, and inherits what is ignored
                return pool.submit(judge_rows, chunk, terms)

        try:
            yield _in_order(chunks, submit, most=jobs * _UNDER_WAY)
        except BrokenProcessPool as error:
            raise DrafterLintError("a process of the survey was killed; what is written so far is sound") from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    return crew


def cluster(address: str) -> Crew:
    """The workers of a Dask cluster; they see the same paths, and have the same version of this tool."""

    @contextmanager
    def crew(chunks: Iterable[Chunk], terms: Terms) -> Iterator[Iterator[str]]:
        try:
            from distributed import Client  # noqa: PLC0415 - an extra: pip install drafter-lint[dask]
        except ImportError as error:
            raise UsageError("--scheduler needs Dask: pip install 'drafter-lint[dask]'") from error
        try:
            client = Client(address, timeout="10s", set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"--scheduler {address}: no scheduler there: {error}") from error
        with client:
            threads = sum(client.nthreads().values())
            if not threads:
                raise UsageError(f"--scheduler {address}: the cluster has no workers")
            yield _in_order(
                chunks, lambda chunk: client.submit(judge_rows, chunk, terms, pure=False), most=threads * _UNDER_WAY
            )

    return crew


def _in_order(chunks: Iterable[Chunk], submit: Callable[[Chunk], _Promise], *, most: int) -> Iterator[str]:
    under_way: deque[_Promise] = deque()
    for chunk in chunks:
        under_way.append(submit(chunk))
        if len(under_way) >= most:
            yield from under_way.popleft().result()
    while under_way:
        yield from under_way.popleft().result()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait: it would end a process that is only just starting, with a traceback of its own."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """Ctrl-C reaches every process of a terminal: the one that waits for the others decides, and they end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    """Without it a survey that was killed would leave its processes behind, waiting for work for ever."""
    parent.join()
    os._exit(1)
