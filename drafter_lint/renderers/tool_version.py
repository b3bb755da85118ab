"""The version a report says it was made by."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def tool_version() -> str:
    """The installed version; importing the package for it would turn the pipe around."""
    try:
        return version("drafter-lint")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "0.0.0"
