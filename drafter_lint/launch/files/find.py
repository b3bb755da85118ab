"""The search of one document, from its text to its commands and notes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from drafter_lint.findings import Located
from drafter_lint.launch.files import documents
from drafter_lint.launch.files.effort import TooMuch
from drafter_lint.launch.files.scan import Candidate, Found, Note, Scan, finished, settle
from drafter_lint.launch.files.traced import Traced
from drafter_lint.launch.files.variables import Variables
from drafter_lint.launch.files.versions import of_document, of_image

#: A text without any of these words holds no command.
HINT = re.compile(r"vllm|sglang|sgl\b|--spec|speculative", re.IGNORECASE)
_MAX_SIZE = 2_000_000


def find_commands(text: str, *, file: str, variables: Mapping[str, str] | None = None) -> Found:
    """Find the engine launch commands of a document.

    Nothing is run and nothing outside the text is read. A value that the text does not say is left out and named in
    ``unresolved``; a command that cannot be read at all becomes a note. Commands of other engines, commented ones,
    benchmark clients and quoted output are passed over.

    Args:
        text: the whole document.
        file: its path, which decides together with the text how it is read.
        variables: values for variables and template gaps the document leaves open, by name.
    """
    if not HINT.search(text):
        return Found()
    scan = Scan(text, file=file, variables=variables or {})
    whole = Traced.document(text)
    if len(text) > _MAX_SIZE:
        return Found(notes=(Note(at=scan.places.at(0, 1), reason="not checked: more than two million characters"),))
    try:
        documents.search(scan, whole, name=file, variables=Variables(given=scan.variables, effort=scan.effort))
    except RecursionError:
        scan.note(whole.cut(0, 1), "not checked: nested too deep")
    except TooMuch as error:
        scan.note(whole.cut(0, 1), f"not checked: a part of this document; {error}")
    kept = settle(scan.candidates)
    pins = {engine: of_document(engine, scan) for engine in {candidate.request.engine for candidate in kept}}
    commands = [finished(candidate, scan=scan, version=_version(candidate, pins, scan)) for candidate in kept]
    lines = {command.source.line for command in commands}
    notes = [note for _, note in sorted(scan.notes.items()) if note.at.line not in lines]
    return Found(commands=tuple(commands), notes=tuple(notes))


def _version(candidate: Candidate, pins: Mapping[str, Located[str] | None], scan: Scan) -> Located[str] | None:
    engine = candidate.request.engine
    return pins[engine] if candidate.image is None else of_image(candidate.image, engine, scan)
