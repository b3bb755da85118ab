"""The seconds that may be spent waiting for one repository."""

from __future__ import annotations

import threading
import time


class Budget:
    """Seconds that all exchanges with one repository may take together; the time between them is free."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._running = 0
        self._since = 0.0
        self._spent = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if not self._running:
                self._since = time.monotonic()
            self._running += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._running -= 1
            if not self._running:
                self._spent += time.monotonic() - self._since

    @property
    def left(self) -> float:
        """Seconds left; 0 when it is used up."""
        with self._lock:
            running = time.monotonic() - self._since if self._running else 0.0
            return max(0.0, self.seconds - self._spent - running)
