"""Documents that may hold launch commands: where they are, and what of them can be checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from drafter_lint.api import Job, engine_name
from drafter_lint.errors import UsageError
from drafter_lint.findings import Located, Location
from drafter_lint.launch import LaunchRequest
from drafter_lint.launch.files import HINT, Found, LaunchCommand, find_commands
from drafter_lint.launch.files.documents import is_document
from drafter_lint.launch.words import placeholders
from drafter_lint.scope import Stated
from drafter_lint.suppressions import Suppression, inline

MAX_BYTES = 1_000_000
_PIECE = 1 << 20
_OVERLAP = 32  # longer than any word that is looked for
_MAX_SEARCHED = 1 << 30
_LEFT_OUT = {".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages"}
#: A report of ours repeats commands that stand elsewhere.
_OURS = '"name": "drafter-lint"'
#: Options without which nothing can be said: the method, the drafter, and the whole of vLLM's speculative JSON.
_DECISIVE = {
    "--speculative-algorithm", "--speculative-draft-model-path", "--speculative-config", "--speculative-model",
    "method", "model",
}  # fmt: skip


class Document:
    """A document by name, and its text."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def found(self, variables: Mapping[str, str]) -> Found:
        """What it holds."""
        return find_commands(self.text, file=self.name, variables=variables)

    def holds(self, variables: Mapping[str, str]) -> bool:
        """True if it holds a command, or something that looks like one."""
        found = self.found(variables)
        return bool(found.commands or found.notes)


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that was named and cannot be read, and why."""

    name: str
    reason: str


def documents(paths: Sequence[str], *, piped: Callable[[], str]) -> Iterator[Document | Unread]:
    """The documents at some paths, each once: a file whatever it is called, of a folder those with a known name.

    Args:
        paths: files, folders, or ``-`` for what is piped in.
        piped: reads standard input.

    Raises:
        UsageError: there is no such path.
    """
    seen: set[str] = set()
    for path in paths:
        if path == "-":
            yield Document("-", piped())
        elif os.path.isdir(path):  # noqa: PTH112 - the path is kept as typed
            for name in _walked(path):
                document = None if name in seen else _read(name, asked=False)
                if document and not (isinstance(document, Document) and _OURS in document.text[:200]):
                    yield document
                seen.add(name)
        elif not os.path.exists(path):  # noqa: PTH110 - same
            raise UsageError(f"no such file or folder: {path}")
        elif path not in seen and (document := _read(path, asked=True)):
            seen.add(path)
            yield document


def _walked(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(files):
            if is_document(name):
                path = Path(parent, name)
                if path.is_file():  # a pipe would block
                    yield path.as_posix()


def _read(path: str, *, asked: bool) -> Document | Unread | None:
    """A document; None for one that is too large or no text in a folder, or too large and speaks of no engine."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES and not (asked and _speaks_of_engines(data, file)):
                return None
    except OSError as error:
        return Unread(path, f"could not be read: {error.strerror or error}")
    if len(data) > MAX_BYTES:
        return Unread(path, "more than a million bytes")
    if b"\0" in data:
        return Unread(path, "is no text") if asked else None
    return Document(Path(path).as_posix(), data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _speaks_of_engines(start: bytes, file: BinaryIO) -> bool:
    """True if a large file has a word without which there is no command; searched piece by piece, to a bound."""
    piece, searched = start, len(start)
    while not HINT.search(piece.decode("latin-1")):
        following = file.read(_PIECE)
        if not following:
            return False
        searched += len(following)
        if searched > _MAX_SEARCHED:
            return True  # it may
        piece = piece[-_OVERLAP:] + following
    return True


def jobs_of(
    document: Document | Unread, base: Job, *, variables: Mapping[str, str], otherwise: tuple[str, ...] = ()
) -> Iterator[Job]:
    """A job for every command that speculates, and one for everything that looks like a command and cannot be read.

    Args:
        document: where they are looked for.
        base: how to read and what to show; its engines leave out commands of others, and their versions take the place
            of the document's.
        variables: what the document leaves open.
        otherwise: engines with the version to take where neither the document nor ``base`` names one.
    """
    if isinstance(document, Unread):
        at = Location(role="launch", subject=document.name, file=document.name)
        yield replace(base, launch=None, stated=Stated(at=at, reason=document.reason))
        return
    found = document.found(variables)
    items: list[tuple[Location, Job]] = [
        (note.at, replace(base, launch=None, stated=Stated(at=note.at, reason=_without_prefix(note.reason))))
        for note in found.notes
    ]
    for command in found.commands:
        engines = _engines(command, base.engines, otherwise)
        if not engines or not (command.speculates or command.request.drafter or base.drafter):
            continue
        job = replace(
            base,
            launch=command.request,
            engines=engines,
            stated=_stated(command, base, variables),
            suppressions=(*base.suppressions, *_inline(document, command)),
        )
        items.append((command.source, job))
    yield from (job for _, job in sorted(items, key=lambda item: (item[0].line or 0, item[0].column or 0)))


def _without_prefix(reason: str) -> str:
    return reason.removeprefix("not checked: ")


def _engines(command: LaunchCommand, asked: tuple[str, ...], otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The engine of a command at the version asked for, else its own, else that of the settings; () if left out."""
    named = [version for name, version in map(engine_name, asked) if name == command.engine]
    if asked and not named:
        return ()
    own = command.version.value if command.version else None
    settled = [version for name, version in map(engine_name, otherwise) if name == command.engine]
    versions = [version or own for version in named] or ([own] if own or not settled else settled)
    return tuple(f"{command.engine}=={version}" if version else command.engine for version in dict.fromkeys(versions))


def _stated(command: LaunchCommand, base: Job, variables: Mapping[str, str]) -> Stated:
    """What of a command is not written in its document."""
    request = command.request
    open_ = [
        option.value
        for name, option in request.options.items()
        if name in _DECISIVE and option.value and placeholders(option.value) and _undecided(name, request)
    ]
    decisive = [gap for gap in command.unresolved if any(gap in value for value in open_)]
    cut = bool(command.lost) and request.drafter is None
    if base.drafter is not None:
        decisive, cut = [], False
    gaps = decisive or command.unresolved
    reason = _unknown(gaps, variables) if gaps else ""
    if cut and not decisive:
        reason = reason or "the command starts without the flags meant for it"
    named = request.drafter or request.target or base.drafter or base.target
    if not named:
        reason = reason or "neither a drafter nor a target is named here"
    return Stated(at=command.source, reason=reason, needed=bool(decisive) or cut or not named, lost=command.lost)


def _undecided(name: str, request: LaunchRequest) -> bool:
    """True if the gap in an option leaves open what it decides: JSON with a gap elsewhere has been read."""
    return name != "--speculative-config" or not request.speculative_config


def _unknown(gaps: Sequence[str], variables: Mapping[str, str]) -> str:
    names = [match[0] for gap in gaps if (match := re.search(r"[A-Za-z_][\w.]*", gap))]
    open_ = [name for name in dict.fromkeys(names) if name not in variables]
    advice = "; pass " + " ".join(f"--var {name}=…" for name in open_) if open_ else ""
    if names and not open_:  # single quotes, or a file that nothing fills in
        return f"{', '.join(gaps)} stands where nothing is put in its place"
    return f"{', '.join(gaps)} {'is' if len(gaps) == 1 else 'are'} unknown{advice}"


def _inline(document: Document, command: LaunchCommand) -> tuple[Suppression, ...]:
    """The suppressions written beside a command."""
    if "drafter-lint:" not in document.text:
        return ()
    places = [*_places(command.request), command.source]
    lines = {at.line for at in places if at.file == document.name and at.line}
    last = max(lines)
    lines |= set(range(command.source.line or last, last + 1))
    return inline(document.text, file=document.name, lines=lines, command=command.source)


def _places(request: LaunchRequest) -> Iterator[Location]:
    for option in request.options.values():
        yield option.at
        yield option.flag_at
    named: tuple[Located[str] | None, ...] = (request.drafter, request.target, *request.unknown)
    yield from (located.at for located in named if located)
