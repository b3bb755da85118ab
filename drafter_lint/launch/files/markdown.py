"""Markdown and reStructuredText: the code blocks of a page, indented ones and those without a language included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.launch.files import bash, documents, manifests
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.files.variables import Variables

_FENCE = re.compile(r"([ \t]*(?:>[ \t]?|(?:[-*+]|\d+[.)])[ \t]+)*)(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)[^`\n]*$")
_DIRECTIVE = re.compile(r"([ \t]*)\.\. (?:code-block|code|sourcecode)::[ \t]*([\w+-]*)[ \t]*$")
_PROMPT = re.compile(r"[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+:[^\s$#]*)?[$%❯][ \t]+\S")
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_LANGUAGES = {
    "bash": "x.sh", "sh": "x.sh", "shell": "x.sh", "zsh": "x.sh", "console": "x.sh", "shell-session": "x.sh",
    "shellscript": "x.sh", "cmd": "x.sh", "terminal": "x.sh", "yaml": "x.yaml", "yml": "x.yaml", "json": "x.json",
    "jsonc": "x.json", "dockerfile": "Dockerfile", "docker": "Dockerfile", "python": "x.py", "py": "x.py",
    "python3": "x.py", "ini": "x.service", "systemd": "x.service", "text": "", "txt": "", "": "", "none": "",
    "plaintext": "", "code": "", "bash-session": "x.sh", "ipython": "x.py",
}  # fmt: skip
_RELEVANT = re.compile(r"vllm|sglang|LLM\(|sgl\.|--spec|speculative|export |^\s*\w+=", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Block:
    language: str
    text: Traced


def search(scan: Scan, text: Traced, variables: Variables) -> None:
    """Find the commands of a page; what one shell block sets, the next one sees."""
    known = variables.copy()
    for block in _blocks(text):
        name = _LANGUAGES.get(block.language.lower())
        if name is None or not _RELEVANT.search(block.text.text):
            continue
        kind = documents.kind_of(name, block.text.text)
        if kind == "shell":
            known = bash.search(scan, _typed(block.text), known)
        elif kind in {"yaml", "json"}:
            manifests.search(scan, block.text, variables=variables, json=kind == "json")
        elif kind != "markdown":
            documents.search(scan, block.text, name=name, variables=variables)


def _blocks(text: Traced) -> Iterator[_Block]:
    lines = _lines(text)
    index = 0
    while index < len(lines):
        line = lines[index].text
        index += 1
        if match := _FENCE.match(line):
            start = index
            closing = re.compile(rf"[ \t>]*{re.escape(match[2][0])}{{{len(match[2])},}}[ \t]*$")
            while index < len(lines) and not closing.match(lines[index].text):
                index += 1
            yield _Block(match[3], _dedented(lines[start:index], quoted=">" in match[1]))
            index += 1
        elif match := _DIRECTIVE.match(line):
            start = index
            while index < len(lines) and (not lines[index].text.strip() or _indent(lines[index].text) > len(match[1])):
                index += 1
            body = [item for item in lines[start:index] if not _OPTION.match(item.text)]
            yield _Block(match[2], _dedented(body, quoted=False))


def _dedented(lines: list[Traced], *, quoted: bool) -> Traced:
    """The lines of a block without what the list, quotation or admonition around it put in front."""
    cut: list[Traced] = []
    shared = min((_indent(line.text) for line in lines if line.text.strip()), default=0)
    for line in lines:
        if quoted:
            match = re.match(r"[ \t]*(?:>[ \t]?)+", line.text)
            cut.append(line.cut(match.end() if match else 0, len(line)))
        else:
            cut.append(line.cut(min(_indent(line.text), shared), len(line)))
    return joined([piece for line in cut for piece in (line, Traced.stand_in("\n"))])


def _typed(text: Traced) -> Traced:
    """What was typed in a terminal's transcript, without what was answered; the text itself where nothing prompts."""
    lines = _lines(text)
    if not any(_PROMPT.match(line.text) for line in lines):
        return text
    kept: list[Traced] = []
    continued = False
    for line in lines:
        if continued or _PROMPT.match(line.text):
            kept += [line, Traced.stand_in("\n")]
            continued = line.text.rstrip(" ").endswith("\\")
    return joined(kept)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _lines(text: Traced) -> list[Traced]:
    found: list[Traced] = []
    position = 0
    for line in text.text.split("\n"):
        found.append(text.cut(position, position + len(line.rstrip("\r"))))
        position += len(line) + 1
    return found
