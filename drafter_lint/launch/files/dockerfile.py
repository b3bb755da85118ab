"""Dockerfiles: the command of every stage, the image it starts from, and what ARG and ENV say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from drafter_lint.launch.files import commands, containers, data, documents, spoken
from drafter_lint.launch.files.expand import flat
from drafter_lint.launch.files.quoting import Unclosed, command_words
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?:[ \t]+|$)")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_OPTION = re.compile(r"--[\w-]+(?:=\S+)?\s+")
_PIN = re.compile(r"(?:vllm|sglang)(?:\[[^\]]*\])?==")


@dataclass(slots=True)
class _Stage:
    image: Traced | None
    entry: list[Traced] | None = None
    command: list[Traced] | None = None
    start: Traced | None = None
    environment: dict[str, Traced] = field(default_factory=dict)
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class _Instruction:
    name: str
    body: Traced
    whole: Traced
    documents: tuple[Traced, ...]


def search(scan: Scan, text: Traced, variables: Variables) -> None:
    """Find the commands of a Dockerfile."""
    known = variables.copy()
    stages: dict[str, _Stage] = {}
    stage = _Stage(None)
    for item in _instructions(text):
        if item.name == "FROM":
            _finish(scan, stage, known)
            stage = _from(item.body, known, stages)
        elif item.name in {"ARG", "ENV"}:
            _set(item, stage, known)
        elif item.name == "ENTRYPOINT":
            stage.entry, stage.start = _words(item.body), item.whole
        elif item.name == "CMD":
            stage.command = _words(item.body)
            stage.start = stage.start if stage.entry else item.whole
        elif item.name in {"RUN", "COPY"}:
            _built(scan, item, stage, known)
    _finish(scan, stage, known)


def _set(item: _Instruction, stage: _Stage, known: Variables) -> None:
    for name, value in _settings(item, known):
        if item.name == "ENV":
            stage.environment[name] = value
        elif name in known.given:
            continue  # a build argument the user gives
        known.assign(name, value)


def _built(scan: Scan, item: _Instruction, stage: _Stage, known: Variables) -> None:
    """What a build step runs or writes."""
    stage.pinned |= _PIN.search(item.body.text) is not None
    for document in item.documents:
        documents.search(scan, document, name=_target(item), variables=known.copy())
    if item.name == "RUN" and not item.documents and not item.body.text.startswith("["):
        commands.read_script(scan, item.body, known.copy(), image=stage.image)


def _from(body: Traced, known: Variables, stages: dict[str, _Stage]) -> _Stage:
    words = [flat(word, known) for word in spoken.plain(body) if not word.text.startswith("--")]
    if not words:
        return _Stage(None)
    base = stages.get(words[0].text)
    stage = _Stage(words[0])
    if base is not None:
        stage = _Stage(base.image, base.entry, base.command, base.start, dict(base.environment), base.pinned)
    if len(words) > 2 and words[1].text.lower() == "as":
        stages[words[2].text] = stage
    return stage


def _finish(scan: Scan, stage: _Stage, known: Variables) -> None:
    start = stage.start or next(iter(stage.environment.values()), None)
    if start is None:
        return
    words = [*(stage.entry or []), *(stage.command or [])]
    container = containers.Container(
        image=stage.image,
        words=words,
        environment=stage.environment,
        own_entry=stage.entry is None,
        pinned=stage.pinned,
    )
    commands.contained(scan, container, variables=known.fresh(), start=start)


def _words(body: Traced) -> list[Traced]:
    """The exec form's words; the shell form as a shell's ``-c``."""
    if body.text.startswith("["):
        items = data.strings(body)
        if items is not None:
            return items
    return [Traced.stand_in("/bin/sh"), Traced.stand_in("-c"), body]


def _settings(item: _Instruction, known: Variables) -> Iterator[tuple[str, Traced]]:
    words = []
    try:
        spans, _ = command_words(item.body.text, 0)
        words = [item.body.cut(*span) for span in spans]
    except Unclosed:
        return
    if item.name == "ENV" and words and "=" not in words[0].text:
        name = words[0].text
        yield name, flat(item.body.cut(len(name), len(item.body)).strip(), known)
        return
    for word in words:
        name, equals, _ = word.text.partition("=")
        if equals:
            yield name, flat(word.cut(len(name) + 1, len(word)), known)


def _target(item: _Instruction) -> str:
    if item.name == "RUN":
        return "run.sh"
    words = item.body.text.split("\n", 1)[0].split()
    return words[-1] if words else ""


def _instructions(text: Traced) -> Iterator[_Instruction]:
    """The instructions; continued lines joined, and comment lines dropped even inside one."""
    lines = _lines(text)
    escape = "`" if re.match(r"\s*#\s*escape\s*=\s*`", text.text) else "\\"
    index = 0
    while index < len(lines):
        if not lines[index].text.strip() or lines[index].text.lstrip().startswith("#"):
            index += 1
            continue
        whole, index = _continued(lines, index, escape)
        match = _INSTRUCTION.match(whole.text)
        if match is None:
            continue
        name = match[1].upper()
        inside: list[Traced] = []
        for heredoc in _HEREDOC.finditer(whole.text) if name in {"RUN", "COPY"} else ():
            start = index
            while index < len(lines) and lines[index].text.strip() != heredoc[2]:
                index += 1
            if start < index:
                inside.append(joined(lines[start:index], "\n"))
            index += 1
        body = whole.cut(match.end(), len(whole)).strip()
        while name not in {"ENV", "ARG"} and (option := _OPTION.match(body.text)):
            body = body.cut(option.end(), len(body))
        yield _Instruction(name, body, whole.strip(), tuple(inside))


def _continued(lines: list[Traced], index: int, escape: str) -> tuple[Traced, int]:
    """The instruction that starts on a line, and the line behind it."""
    parts = [lines[index]]
    index += 1
    while parts[-1].text.rstrip().endswith(escape) and index < len(lines):
        parts[-1] = parts[-1].cut(0, len(parts[-1].text.rstrip()) - 1)
        while index < len(lines) and lines[index].text.lstrip().startswith("#"):
            index += 1
        if index < len(lines):
            parts.append(lines[index])
            index += 1
    return joined(parts, " "), index


def _lines(text: Traced) -> list[Traced]:
    found: list[Traced] = []
    position = 0
    for line in text.text.split("\n"):
        found.append(text.cut(position, position + len(line)))
        position += len(line) + 1
    return found
