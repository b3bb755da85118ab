"""Adds records to the truth: a version that did as others did joins them, one that did not gets an entry of its own."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.comparing import notes_for, recorded_at
from conformance.record import plain, silent_by
from conformance.truth import TRUTH, Run, TruthCase
from drafter_lint.facts import version_of

_ENTRY = re.compile(r"^(?=\[)", re.MULTILINE)
_VERSIONS = re.compile(r"^versions = .*$", re.MULTILINE)


def add(case: TruthCase, run: Run, *, folder: Path = TRUTH) -> bool:
    """Write one observation into the file of its case; nothing that stands there is changed but lists of versions.

    Args:
        case: the case as it stands in that file.
        run: what one version did.
        folder: where the files are.

    Returns:
        False if the version is recorded already: then nothing is written, whatever was seen now.
    """
    (version,) = run.versions
    if recorded_at(case, run.engine, version):
        return False
    path = folder / f"{case.id}.toml"
    # Entries begin at a line with a bracket; a line of a config never does, for JSON is indented.
    entries = _ENTRY.split(path.read_text("utf-8"))
    notes = {(note.engine, note.reason) for note in notes_for(case, run) if version in note.versions}
    twins, last = [], len(entries) - 1
    for place, entry in enumerate(entries):
        kind, table = _read(entry)
        if kind == "run" and table.get("engine") == run.engine:
            last = place
            if _alike(Run.model_validate(table), run):
                twins.append(place)
        elif kind == "says_nothing" and (table["engine"], table["reason"]) in notes:
            entries[place] = _with_version(entry, table, version)
    if twins:
        entries[twins[-1]] = _with_version(entries[twins[-1]], _read(entries[twins[-1]])[1], version)
    else:
        entries.insert(last + 1, _entry(run))
    path.write_text("\n\n".join(entry.rstrip("\n") for entry in entries) + "\n", "utf-8")
    return True


def _read(entry: str) -> tuple[str, Mapping[str, object]]:
    """The kind of an entry, and its table."""
    found = re.match(r"\[\[(run|says_nothing)\]\]", entry)
    if found is None:
        return "", {}
    (table,) = tomllib.loads(entry)[found[1]]
    return found[1], table


def _alike(other: Run, run: Run) -> bool:
    """True if two runs show the same; an empty list and one that was not written are no difference."""
    return _shown(other) == _shown(run)


def _shown(run: Run) -> dict[str, object]:
    shown = {
        name: sorted(value, key=str) if isinstance(value, list) and name != "launch" else value
        for name, value in plain(run).items()
        if name not in ("versions", "silent_by") and value != []
    }
    return shown | {"silent_by": silent_by(run)}


def _with_version(entry: str, table: Mapping[str, object], version: str) -> str:
    versions = table["versions"]
    if not isinstance(versions, list) or version in versions:
        return entry
    line = f"versions = {_text(sorted([*versions, version], key=version_of))}"
    return _VERSIONS.sub(lambda _found: line, entry, count=1)


def _entry(run: Run) -> str:
    return "[[run]]\n" + "".join(f"{name} = {_text(value)}\n" for name, value in plain(run).items() if value != [])


def _text(value: object) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)
