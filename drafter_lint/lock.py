"""The lock file: which commits and which files every checkpoint of the settings had when it was written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.checkpoint.checkpoint import CONFIG
from drafter_lint.checkpoint.header import FIRST_READ, header_length
from drafter_lint.checkpoint.selection import select
from drafter_lint.errors import Trouble, Unavailable, UsageError
from drafter_lint.findings import whole_line
from drafter_lint.linter import Selection, tell
from drafter_lint.outputs import write_whole
from drafter_lint.report import Check
from drafter_lint.scope import Locked
from drafter_lint.userfile import read_text

NAME = "drafter-lint.lock"
#: The rule that tells of what moved; ``--locked`` demands it.
RULE = "DFL904"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A checkpoint as locked.

    Attributes:
        role: drafter or target.
        reference: as typed, with the revision if one was asked for.
        name: resolved.
        commit: None for a folder.
        files: digests by path: of config.json as a whole, of safetensors files the header.
    """

    role: str
    reference: str
    name: str
    commit: str | None
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock file as read.

    Attributes:
        path: of the file.
        text: the whole file.
        entries: by role and reference, each with its line.
    """

    path: Path
    text: str
    entries: Mapping[tuple[str, str], tuple[Entry, int]]


def entry(checkpoint: Checkpoint) -> Entry:
    """A checkpoint as it is now.

    Raises:
        Unavailable: config.json or a header cannot be read.
    """
    identity = checkpoint.source.identity
    return Entry(
        role=checkpoint.role,
        reference=_reference(checkpoint),
        name=identity.name,
        commit=identity.commit,
        files=dict(_digests(checkpoint)),
    )


def _reference(checkpoint: Checkpoint) -> str:
    reference = checkpoint.reference
    asked = f"@{reference.revision}" if reference.revision and reference.revision not in reference.spelling else ""
    return f"{reference.spelling}{asked}"


def _digests(checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """Of a target only config.json is read: a large one has dozens of headers, and its commit covers them."""
    source = checkpoint.source
    if CONFIG in source.files:
        yield CONFIG, _sha256(source.read(CONFIG))
    for path in select(source.files).safetensors if checkpoint.role == "drafter" else ():
        size = source.files[path].size
        start = source.read(path, 0, min(size, FIRST_READ))
        end = 8 + header_length(start, size=size, what=f"{checkpoint.subject}: {path}")
        rest = source.read(path, len(start), end - len(start)) if end > len(start) else b""
        yield path, _sha256(start[:end] + rest)


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a lock file, whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    rows = [
        {"role": item.role, "reference": item.reference, "name": item.name, "commit": item.commit, "files": item.files}
        for item in sorted(entries, key=lambda item: (item.reference, item.role))
    ]
    text = json.dumps({"version": _VERSION, "checkpoints": rows}, indent=2) + "\n"
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"{path} could not be written: {error.strerror or error}") from error


def read(path: Path) -> Lock:
    """A lock file.

    Raises:
        UsageError: there is none, or it was not written by ``drafter-lint lock``.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; drafter-lint lock writes it") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: could not be read: {error}") from error
    try:
        raw = json.loads(text)
        if raw["version"] != _VERSION:
            raise UsageError(f"{path}: written by another release of drafter-lint; drafter-lint lock writes it again")
        entries = [
            Entry(
                role=str(row["role"]),
                reference=str(row["reference"]),
                name=str(row["name"]),
                commit=None if row["commit"] is None else str(row["commit"]),
                files={str(name): str(digest) for name, digest in row["files"].items()},
            )
            for row in raw["checkpoints"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path}: no lock file; drafter-lint lock writes it again") from error
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith('"reference":')]
    lines += [1] * (len(entries) - len(lines))
    table = {(item.role, item.reference): (item, line) for item, line in zip(entries, lines, strict=False)}
    return Lock(path=path, text=text, entries=table)


def compared(
    checks: Iterable[Check], lock: Lock, checkpoints: Iterable[Checkpoint], *, selection: Selection
) -> tuple[Check, ...]:
    """The checks with a finding for everything that is not what the lock file says."""
    moved: dict[tuple[str, str], list[Locked]] = {}
    for checkpoint in checkpoints:
        key = (checkpoint.role, checkpoint.reference.spelling)
        moved.setdefault(key, []).extend(_moved(checkpoint, lock))
    result = []
    for check in checks:
        told = check
        for subject in (check.drafter, check.target):
            for scope in moved.get((subject.role, subject.spelling), ()) if subject else ():
                told = tell(told, scope, selection=selection)
        result.append(told)
    return tuple(result)


def _moved(checkpoint: Checkpoint, lock: Lock) -> Iterator[Locked]:
    try:
        now = entry(checkpoint)
    except Unavailable as trouble:
        if trouble.trouble is not Trouble.MISSING:
            return  # what could not be read is told of as such
        now = None
    known, line = lock.entries.get((checkpoint.role, _reference(checkpoint)), (None, 1))
    at = whole_line(lock.path.as_posix(), lock.text, line)
    parts: list[tuple[str, str, str]] = [
        ("commit", (known and known.commit) or "", (now and now.commit) or ""),
    ]
    files = sorted({*(known.files if known else ()), *(now.files if now else ())})
    parts += [
        (name, known.files.get(name, "") if known else "", now.files.get(name, "") if now else "") for name in files
    ]
    for part, locked, found in parts:
        yield Locked(at=at, subject=checkpoint.reference.shown, part=part, locked=locked, found=found)
