"""The shell grammar: a script's syntax tree, and the questions asked of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

ASSIGNMENT = re.compile(r"(?<!\w)([A-Za-z_]\w*)(?:\[([^\]\n]{0,80})\])?(\+?)=")
REFERENCE = re.compile(r"\$\{?(\w+)")
_STARTS = re.compile(r"vllm|sglang|--spec|docker|podman|nerdctl", re.IGNORECASE)


@cache
def parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415 - a plain check must not pay for the grammar
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def if_arms(node: Node) -> Iterator[list[Node]]:
    arm: list[Node] = []
    otherwise = False
    for child in node.children:
        if child.type in {"elif_clause", "else_clause"}:
            yield arm
            arm = [child] if child.type == "elif_clause" else list(child.children)
            otherwise |= child.type == "else_clause"
        else:
            arm.append(child)
    yield arm
    if not otherwise:
        yield []


def substitutions(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type == "command_substitution":
            # `…` is left alone: in a continued command it often holds a comment, which runs to the line's end here.
            if child.children and child.children[0].type == "$(":
                yield child
        elif child.type not in {"heredoc_redirect", "heredoc_body"}:
            yield from substitutions(child)


def relevant(root: Node) -> frozenset[str]:
    """The variables an engine's command may depend on: those named in one, and those they are made of."""
    assigned: dict[str, set[str]] = {}
    names: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type not in {"command", "variable_assignment", "declaration_command", "ERROR"}:
            waiting += node.children
            continue
        text = (node.text or b"").decode("utf-8", "replace")
        used, set_here = set(REFERENCE.findall(text)), {match[1] for match in ASSIGNMENT.finditer(text)}
        for name in set_here:
            assigned.setdefault(name, set()).update(used)
        if _STARTS.search(text):
            names |= used | set_here
    queue = list(names)
    while queue:
        for name in assigned.get(queue.pop(), ()):
            if name not in names:
                names.add(name)
                queue.append(name)
    return frozenset(names)
