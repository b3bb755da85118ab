"""The examples in the documents: found, run in a shell as a reader would, and compared with what is printed there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: What the examples read, copied for each block: a command that writes changes no file of the repository.
BUNDLED = ("fixtures/recipes", "fixtures/targets", "fixtures/small", "fixtures/launch", "docs/examples")
COLUMNS = 100
ABRIDGED = "..."
_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[\w-]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_PRINTS = re.compile(r"```\n\nprints\n\n```text\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# Between the outputs of two commands; nothing prints it.
_BETWEEN = "\x1e"


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        document: where it stands.
        line: of its first line.
        kind: the word behind the fence: "console", "python", …
        text: what stands between the fences.
        span: where the text stands in the document.
    """

    document: Path
    line: int
    kind: str
    text: str
    span: tuple[int, int]

    @property
    def name(self) -> str:
        """``docs/library.md:12``."""
        return f"{self.document.relative_to(ROOT)}:{self.line}"


class Example(NamedTuple):
    """A command and what it prints.

    Attributes:
        shown: the command as the document has it, with its marks.
        command: without them.
        output: what stands behind it.
    """

    shown: str
    command: str
    output: str


def blocks(document: Path, *kinds: str) -> list[Block]:
    """The fenced blocks of a document, of some kinds or all."""
    text = document.read_text("utf-8")
    return [
        Block(document, text.count("\n", 0, found.start()) + 1, found["kind"], found["text"], found.span("text"))
        for found in _FENCE.finditer(text)
        if not kinds or found["kind"] in kinds
    ]


def examples(block: Block) -> list[Example]:
    """The commands of a console block: ``$ `` begins one, a backslash or ``> `` carries it on."""
    made: list[Example] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            made.append(Example(line, line[2:], ""))
            continue
        last = made[-1]
        if not last.output and (line.startswith(">") or last.command.endswith("\\\n")):
            told = line.removeprefix(">").removeprefix(" ") if line.startswith(">") else line
            made[-1] = last._replace(shown=last.shown + line, command=last.command + told)
        else:
            made[-1] = last._replace(output=last.output + line)
    return made


def run_python(block: Block, folder: Path) -> str:
    """What a Python block prints, on both streams, as a program of its own where every warning is an error."""
    _bundled(folder)
    (folder / "example.py").write_text(block.text, "utf-8")
    command = [sys.executable, "-X", "utf8", "-P", "-W", "error", "example.py"]
    done = subprocess.run(
        command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    return done.stdout


def printed_span(block: Block) -> tuple[int, int] | None:
    """Where the document shows what a Python block prints, None if it does not."""
    text = block.document.read_text("utf-8")
    found = _PRINTS.match(text, block.span[1])
    return found.span("text") if found else None


def _bundled(folder: Path) -> None:
    for name in BUNDLED:
        shutil.copytree(ROOT / name, folder / name)


def run(commands: list[str], folder: Path) -> Iterator[str]:
    """What each command prints, on both streams, in one shell in a folder that holds what the repository bundles."""
    (folder / "bin").mkdir()
    program = folder / "bin" / "drafter-lint"
    # -P: what is installed is run, not the checkout it happens to be started in.
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m drafter_lint "$@"\n')
    program.chmod(0o755)
    place = folder / "repository"
    place.mkdir()
    _bundled(place)
    kept = ("HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": str(COLUMNS),
        "PYTHONUTF8": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder / "hub"),
    }
    # The exit code of a command outlives the mark behind it: `echo $?` is a command like any other.
    script = "".join(f"{command}state=$?; printf '{_BETWEEN}'; (exit $state)\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=place,
        env=environment,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    yield from done.stdout.split(_BETWEEN)[:-1]


def agrees(shown: str, printed: str) -> bool:
    """True if a document shows what is printed: exactly, or its parts in order around lines of ``...``."""
    parts: list[list[str]] = [[]]
    for line in shown.splitlines():
        if line.strip() == ABRIDGED:
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return shown == printed
    if not any(parts):
        return False
    pattern = r"(?:.*\n)*?".join("".join(re.escape(f"{line}\n") for line in part) for part in parts)
    return re.fullmatch(pattern, printed) is not None


def refreshed(block: Block, folder: Path) -> tuple[str, list[Example]]:
    """A console block with what its commands print now, and the abridged examples that no longer fit."""
    made, odd = [], []
    given = examples(block)
    for example, text in zip(given, run([example.command for example in given], folder), strict=True):
        abridged = any(line.strip() == ABRIDGED for line in example.output.splitlines())
        made += [example.shown, example.output if abridged else text]
        if abridged and not agrees(example.output, text):
            odd.append(example)
    return "".join(made), odd
