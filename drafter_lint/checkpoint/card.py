"""A model card, as far as it says which model this one was made from, or belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from drafter_lint.findings import Located, Location, Role

FILE = "README.md"

_KEY = re.compile(r"base_model[ \t]*:(?=[ \t]|$)")
_ITEM = re.compile(r"[ \t]*-[ \t]+")
# A scalar: quoted without escapes, or plain up to a comment. Anything richer (anchors, block scalars) is not read.
_SCALAR = re.compile(
    r"""[ \t]*+(?:"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'|(?P<plain>[\w./][^\s,\[\]{}#"']*))[ \t]*+"""
)
_NAME = r"[`*\"'\[]*(?P<name>(?:[~.]*/)?\w[\w./-]*\w)"
# A line of a list of facts: "- **Verifier:** owner/name".
_FACT = re.compile(
    rf"[\s*_-]*(?:verifier|base target|target model|target)[*_]*[ \t]*:[*_]*[ \t]*{_NAME}", re.IGNORECASE
)
# The model of a launch command, and what a sentence says this drafter is for.
_COMMAND = re.compile(rf"(?:--model-path|--model|vllm serve)[ \t=]+{_NAME}")
_SENTENCE = re.compile(
    r"(?:inference (?:of|for)|draft(?:er)?(?:[ -]models?)? for|speculator(?: model)? for|(?:trained|designed)"
    rf" for(?: use with)?|paired with|speculative decoding (?:of|for|with)) (?:the )?{_NAME}",
    re.IGNORECASE,
)
_REST = re.compile(r"(?:#.*)?")


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str


def base_models(card: str, *, subject: str, role: Role) -> tuple[Located[str], ...]:
    """The values of ``base_model`` in the front matter: one string, or a list; () for anything else."""
    lines = list(_front_matter(card))
    for index, line in enumerate(lines):
        if not (key := _KEY.match(line.text)):
            continue
        rest = line.text[key.end() :]
        if not _REST.fullmatch(rest.strip()):
            found = _flow(line, key.end()) if rest.strip().startswith("[") else _one(line, key.end())
        else:
            found = _block(lines[index + 1 :])
        return tuple(_located(*place, subject=subject, role=role) for place in found)
    return ()


def served_models(card: str, *, subject: str, role: Role) -> tuple[Located[str], ...]:
    """What the text names as the model to be served, in commands and sentences; that it is one is not judged here."""
    return tuple(
        _located(line, found.start("name"), found["name"], subject=subject, role=role)
        for line in _body(card)
        for pattern in (_COMMAND, _SENTENCE)
        for found in pattern.finditer(line.text)
    )


def listed_target(card: str, *, subject: str, role: Role) -> Located[str] | None:
    """What a list of facts in the text names as verifier or target; None without one."""
    found = ((line, match) for line in _body(card) if (match := _FACT.match(line.text)))
    line, match = next(found, (None, None))
    return _located(line, match.start("name"), match["name"], subject=subject, role=role) if line and match else None


def _body(card: str) -> Iterator[_Line]:
    """The lines behind the front matter."""
    before = len(list(_front_matter(card)))
    lines = (_Line(number, text.rstrip()) for number, text in enumerate(card.split("\n"), start=1))
    return islice(lines, before, None)


_Scalar = tuple[_Line, int, str]


def _front_matter(card: str) -> Iterator[_Line]:
    lines = card.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != "---":
        return
    inside: list[_Line] = []
    for number, text in enumerate(lines[1:], start=2):
        if text.rstrip() in ("---", "..."):
            yield from inside
            return
        inside.append(_Line(number, text.rstrip()))


def _one(line: _Line, at: int) -> list[_Scalar]:
    scalar = _SCALAR.match(line.text, at)
    if scalar is None or not _REST.fullmatch(line.text, scalar.end()):
        return []
    group = scalar.lastgroup or "plain"
    return [(line, scalar.start(group), scalar[group])] if scalar[group] else []


def _block(lines: list[_Line]) -> list[_Scalar]:
    found: list[_Scalar] = []
    for line in lines:
        if not line.text.strip() or line.text.lstrip().startswith("#"):
            continue
        item = _ITEM.match(line.text)
        if item is None:
            break
        one = _one(line, item.end())
        if not one:
            return []
        found += one
    return found


def _flow(line: _Line, at: int) -> list[_Scalar]:
    found: list[_Scalar] = []
    cursor = line.text.index("[", at) + 1
    while scalar := _SCALAR.match(line.text, cursor):
        group = scalar.lastgroup or "plain"
        found.append((line, scalar.start(group), scalar[group]))
        cursor = scalar.end() + 1
        mark = line.text[scalar.end() : cursor]
        if mark == "]":
            return found
        if mark != ",":
            break
    return []


def _located(line: _Line, at: int, value: str, *, subject: str, role: Role) -> Located[str]:
    place = Location(
        role=role,
        subject=subject,
        file=FILE,
        line=line.number,
        column=at + 1,
        width=len(value),
        text=line.text,
    )
    return Located(value, place)
