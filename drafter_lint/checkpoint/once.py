"""A fact computed at most once, its failure included, from however many threads ask for it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from drafter_lint.errors import Unavailable

T = TypeVar("T")


class Once(Generic[T]):
    """Calls ``compute`` on first use; later calls return the same value or raise the same :class:`Unavailable`."""

    __slots__ = ("_compute", "_failure", "_lock", "_value")

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute = compute
        self._lock = Lock()
        self._value: tuple[T] | None = None
        self._failure: Unavailable | None = None

    @property
    def ready(self) -> bool:
        """True if the value is known and costs nothing."""
        return self._value is not None

    def __call__(self) -> T:
        with self._lock:
            if self._failure is not None:
                # The frames of the first failure say nothing about the caller of today, and would pile up.
                raise self._failure.with_traceback(None)
            if self._value is None:
                try:
                    self._value = (self._compute(),)
                except Unavailable as failure:
                    self._failure = failure
                    raise
            return self._value[0]


class OncePer(Generic[T]):
    """One :class:`Once` for each path; different paths are computed side by side."""

    __slots__ = ("_compute", "_facts", "_lock")

    def __init__(self, compute: Callable[[str], T]) -> None:
        self._compute = compute
        self._facts: dict[str, Once[T]] = {}
        self._lock = Lock()

    def _fact(self, path: str) -> Once[T]:
        with self._lock:
            return self._facts.setdefault(path, Once(lambda: self._compute(path)))

    def ready(self, path: str) -> bool:
        """True if the value for ``path`` is known."""
        return self._fact(path).ready

    def __call__(self, path: str) -> T:
        return self._fact(path)()
