"""What kind a document is, by its name and its first lines, and which reader it goes to."""

from __future__ import annotations

import re

from drafter_lint.launch.files import bash, dockerfile, manifests, markdown, programs, systemd
from drafter_lint.launch.files.scan import Scan
from drafter_lint.launch.files.traced import Traced
from drafter_lint.launch.files.variables import Variables

_BY_SUFFIX = {
    "sh": "shell", "bash": "shell", "zsh": "shell", "ksh": "shell", "slurm": "shell", "sbatch": "shell",
    "command": "shell", "run": "shell", "env": "none", "just": "shell",
    "yaml": "yaml", "yml": "yaml", "json": "json", "jsonc": "json", "json5": "json", "tpl": "yaml",
    "md": "markdown", "markdown": "markdown", "mdx": "markdown", "rst": "markdown", "qmd": "markdown",
    "txt": "markdown",
    "py": "python", "ipynb": "notebook", "dockerfile": "dockerfile", "containerfile": "dockerfile",
    "service": "systemd", "j2": "", "jinja": "", "jinja2": "", "tmpl": "", "template": "", "in": "",
}  # fmt: skip
_SHEBANG = re.compile(r"#!.*\b(?:(?P<shell>(?:ba|z|da|k)?sh)|(?P<python>python[\d.]*))\b")
_DOCKER = re.compile(r"\s*(?:#[^\n]*\n\s*|ARG [^\n]*\n\s*)*FROM [^\n]+", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_SYSTEMD = re.compile(r"^\[(?:Service|Unit)\]\s*$", re.MULTILINE)
_PYTHON = re.compile(r"^(?:from [\w.]+ import |import \w|def \w+\(|\w+ = (?:LLM|sgl\.Engine)\()", re.MULTILINE)
# Possessive: a run of empty lines that may be split in two ways takes exponentially long where no key follows.
_EMPTY = r"(?:[^\S\n]*(?:#[^\n]*)?\n)*+"
_YAML = re.compile(rf"\A{_EMPTY}(?:---[^\S\n]*\n{_EMPTY})?(?:- )?[\w.\"'/-]+:(?:[ \t]|\n)")
_SHELL_LINE = re.compile(r"^[ \t]*(?:\$ |[\w./-]+ (?:-|\w)[^:]*$)", re.MULTILINE)


def is_document(name: str) -> bool:
    """True if a file is called like one that may hold commands."""
    base = name.lower()
    return base.rpartition(".")[2] in _BY_SUFFIX or base.startswith(("dockerfile", "containerfile"))


def kind_of(name: str, text: str) -> str:
    """How a document is read."""
    base = name.replace("\\", "/").rpartition("/")[2].lower()
    stem = base
    while "." in stem:
        stem, _, suffix = stem.rpartition(".")
        kind = _BY_SUFFIX.get(suffix)
        if kind:
            return kind
        if kind is None:
            break
    if base.startswith(("dockerfile", "containerfile")):
        return "dockerfile"
    return _by_content(text)


def _by_content(text: str) -> str:
    if match := _SHEBANG.match(text):
        return "shell" if match["shell"] else "python"
    if _FENCE.search(text):
        return "markdown"
    if _DOCKER.match(text):
        return "dockerfile"
    if _SYSTEMD.search(text):
        return "systemd"
    if text.lstrip().startswith(("{", "[")) and text.rstrip().endswith(("}", "]")):
        return "json"
    if _PYTHON.search(text):
        return "python"
    return "yaml" if _YAML.match(text) else "shell"


def search(scan: Scan, text: Traced, *, name: str, variables: Variables) -> None:
    """Read a document, or one written inside another."""
    kind = kind_of(name, text.text)
    if kind == "shell":
        bash.search(scan, text, variables)
    elif kind in {"yaml", "json"}:
        manifests.search(scan, text, variables=variables, json=kind == "json")
    elif kind == "markdown":
        markdown.search(scan, text, variables)
    elif kind == "python":
        programs.search(scan, text, variables)
    elif kind == "notebook":
        programs.search_notebook(scan, text, variables)
    elif kind == "dockerfile":
        dockerfile.search(scan, text, variables)
    elif kind == "systemd":
        systemd.search(scan, text, variables)
