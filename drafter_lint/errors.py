"""The exception tree, drawn once.

    DrafterLintError
    ├── UsageError        the user asked for something that cannot be asked (exit 2)
    │   └── AmbiguousAlias   an alias with more than one id left; carries the candidates
    └── Unavailable       a part of a checkpoint could not be read (becomes "not checked", or a finding)

Anything else that escapes is a bug of ours (exit 4).
"""

from __future__ import annotations

from enum import StrEnum


class DrafterLintError(Exception):
    """Base of every error this package raises on purpose."""


class UsageError(DrafterLintError):
    """The request itself is wrong: a flag, a reference, a setting. Exit code 2."""


class AmbiguousAlias(UsageError):
    """An alias that leaves more than one canonical id.

    Attributes:
        alias: the spelling the user typed.
        candidates: the ids that remain, best first.
    """

    def __init__(self, alias: str, candidates: tuple[str, ...]) -> None:
        self.alias = alias
        self.candidates = candidates
        super().__init__(f"{alias!r} could mean any of: {', '.join(candidates)}")


class Trouble(StrEnum):
    """Why a part of a checkpoint is unavailable; each has one access or file rule that speaks of it."""

    NOT_FOUND = "not-found"  # the repository, revision or folder does not exist
    DENIED = "denied"  # 401 / 403 without a gate
    GATED = "gated"  # exists, terms not accepted
    UNREACHABLE = "unreachable"  # 5xx, reset, stall, deadline
    OFFLINE = "offline"  # offline was asked for and the cache lacks it
    MISSING = "missing"  # the repository is readable, this file is not in it
    LFS_POINTER = "lfs-pointer"  # the file is a Git LFS pointer, not the content
    MALFORMED = "malformed"  # the bytes are there and break the format's law
    TOO_LARGE = "too-large"  # over a bound of ours, not read
    NOT_SAFETENSORS = "not-safetensors"  # only weights we do not open (.bin, .pt)


class Unavailable(DrafterLintError):
    """A part of a checkpoint that could not be read.

    Attributes:
        trouble: the kind, see :class:`Trouble`.
        what: what was looked at ("owner/name: config.json").
        detail: what was seen, in one sentence without advice.
        hint: what to try, one sentence, or "".
    """

    def __init__(self, trouble: Trouble, what: str, detail: str, *, hint: str = "") -> None:
        self.trouble = trouble
        self.what = what
        self.detail = detail
        self.hint = hint
        super().__init__(f"{what}: {detail}")

    @property
    def passing(self) -> bool:
        """True if the same read may succeed when it is tried again."""
        return self.trouble is Trouble.UNREACHABLE
