"""The change of a file: what was read, what is to stand there, whose fixes it carries; and what is left to a person."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from drafter_lint.errors import DrafterLintError

_NO_NEWLINE = "\\ No newline at end of file"


class FixFailed(DrafterLintError):
    """A planned change that cannot be written: the file has changed, cannot be replaced, or is no longer a file."""


class CannotEdit(DrafterLintError):
    """Why an edit has no place in a file; becomes :class:`Left`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """Another text in place of a small file's.

    Attributes:
        path: the file, every link resolved.
        shown: the file as the report names it.
        before: all its bytes as read.
        after: all its bytes as they are to be.
        fixes: what is mended, one line each ("DFL401 eagle3-run-as-eagle: --speculative-algorithm EAGLE3").
    """

    path: Path
    shown: str
    before: bytes
    after: bytes
    fixes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorChange:
    """Other values of one tensor in a safetensors file; the header and every other byte stay.

    Attributes:
        path: the file, every link resolved.
        shown: the file as the report names it.
        tensor: its name.
        start: absolute offset of its first byte in the file.
        before: its bytes as read.
        after: its bytes as they are to be; as many.
        size: of the file, in bytes.
        told: the values before and after, in a few words.
        fixes: what is mended, one line each.
    """

    path: Path
    shown: str
    tensor: str
    start: int
    before: bytes
    after: bytes
    size: int
    told: str
    fixes: tuple[str, ...]

    @property
    def end(self) -> int:
        """Absolute offset just past its last byte."""
        return self.start + len(self.before)


FileChange = TextChange | TensorChange


@dataclass(frozen=True, slots=True)
class Left:
    """A fix that is not carried out.

    Attributes:
        code: the finding's code.
        name: the finding's name.
        where: the file it would change, "" if there is none.
        reason: why it is left, one phrase.
        advice: what to do by hand.
    """

    code: str
    name: str
    where: str
    reason: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change of a Hub repository, to be proposed by its reader; nothing is ever pushed from here.

    Attributes:
        repository: "owner/name".
        commit: the commit the difference was made against, None if it is not known.
        file: path inside the repository.
        diff: the unified difference, as ``patch -p1`` takes it.
        commands: what to run, in order; the difference is expected in :attr:`patch_file`.
        patch_file: the name the commands know the difference by.
        fixes: what is mended, one line each.
    """

    repository: str
    commit: str | None
    file: str
    diff: str
    commands: tuple[str, ...]
    patch_file: str
    fixes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixes:
    """What a report's fixes come to.

    Attributes:
        changes: of files on this machine, one for each text and one for each tensor.
        left: what no change carries, each once.
        proposals: changes of Hub repositories.
    """

    changes: tuple[FileChange, ...] = ()
    left: tuple[Left, ...] = ()
    proposals: tuple[Proposal, ...] = ()


def diff(changes: Iterable[FileChange]) -> str:
    """The changes as one unified difference, "" if there are none.

    A tensor is told in lines that ``patch`` passes over. Lines of the files stand as they are, secrets included.
    """
    return "".join(line for change in changes for line in _of(change))


def text_diff(name: str, before: bytes, after: bytes) -> str:
    """The unified difference of two texts."""
    return "".join(_lines(name, before, after))


def _of(change: FileChange) -> Iterator[str]:
    if isinstance(change, TextChange):
        yield from _lines(change.shown, change.before, change.after)
    else:
        yield f"Tensor {change.tensor} of {change.shown}, bytes {change.start} to {change.end - 1}: {change.told}\n"


def _lines(name: str, before: bytes, after: bytes) -> Iterator[str]:
    name = name.replace("\\", "/").lstrip("/")
    rows = difflib.unified_diff(_split(before), _split(after), f"a/{name}", f"b/{name}")
    for row in rows:
        yield row if row.endswith("\n") else f"{row}\n{_NO_NEWLINE}\n"


def _split(data: bytes) -> list[str]:
    """Lines with their ends; only a line feed ends one, as patch has it."""
    lines = data.decode(errors="replace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
