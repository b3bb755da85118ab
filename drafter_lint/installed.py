"""Engines installed beside the tool: what ``--engine auto`` falls back to where no document names a version."""

from __future__ import annotations

from drafter_lint.facts import engines as known_engines

AUTO = "auto"


def installed() -> tuple[str, ...]:
    """``sglang==0.5.23`` for every engine whose distribution this Python has; only its metadata is read."""
    return tuple(f"{name}=={found}" for name in known_engines() if (found := _version(name)))


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - a tenth of a local check's time

    try:
        return version(name)
    except PackageNotFoundError:
        return None
