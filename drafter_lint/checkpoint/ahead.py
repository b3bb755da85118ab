"""Facts read side by side before they are needed, where each of them waits for a network."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from threading import Thread


def read_ahead(*facts: Callable[[], object]) -> None:
    """Ask for facts at once and wait for all of them; what fails is told by whoever needs the fact."""

    def ask(fact: Callable[[], object]) -> None:
        with contextlib.suppress(Exception):  # every fact keeps its failure, and raises it again
            fact()

    # Not a pool: its threads would be waited for at the end of a program that was interrupted.
    threads = [Thread(target=ask, args=(fact,), daemon=True) for fact in facts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
