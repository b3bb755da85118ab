"""A config.json that is no strict JSON.

## What it checks
Syntax, encoding and byte-order mark, text after the object, duplicate keys, and NaN or Infinity.

## Why it bites
Python's JSON reader, which engines use, stops at bad syntax, at bytes that are no UTF-8, and at a byte-order mark. It
accepts duplicate keys (the last one wins, often not the one that was read by a person) and NaN.

## Fix
Write the file anew with a JSON library, in UTF-8 without a mark.

## Limits
The drafter's config only; the target's has a rule of its own.
"""

from __future__ import annotations

from drafter_lint.checkpoint import Document, Problem
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Alone

_EVIDENCE = (
    Evidence(
        engine="",
        version="Python 3.11",
        file="json/__init__.py",
        symbol="loads",
        how="run",
        note="how engines read config.json; raises on bad syntax, trailing text and a byte-order mark",
    ),
)


@rule("DFL103", "config-not-json", Outcome.REFUSES)
def check(at: Alone[Drafter]) -> Checks:
    """Every problem the reader of config.json recorded."""
    try:
        document = at.drafter.checkpoint.config.document
    except Unavailable:
        return
    yield from problems(document)


def problems(document: Document) -> Checks:
    """A finding for each problem of a document."""
    for problem in document.problems:
        harmless = problem.accepted
        yield Found(
            message=f"{document.file} of the {document.role}: {problem.detail}",
            locations=(_place(document, problem),),
            measured={"kind": problem.kind},
            evidence=() if harmless else _EVIDENCE,
            fix=Fix("write the file anew as plain JSON"),
            outcome=Outcome.HYGIENE if harmless else Outcome.REFUSES,
        )


def _place(document: Document, problem: Problem) -> Location:
    span = problem.span
    return Location(
        role=document.role,
        subject=document.subject,
        file=document.file,
        line=span.line if span else None,
        column=span.column if span else None,
        width=span.width if span else None,
        text=document.lines[span.line - 1] if span and span.line <= len(document.lines) else None,
        label=problem.kind,
    )
