"""The shell grammar: a script's syntax tree, and the questions asked of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from drafter_lint.launch.files.effort import Effort

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

ASSIGNMENT = re.compile(r"(?<!\w)([A-Za-z_]\w*)(?:\[([^\]\n]{0,80})\])?(\+?)=")
REFERENCE = re.compile(r"\$\{?(\w+)")
_STARTS = re.compile(r"vllm|sglang|--spec|docker|podman|nerdctl", re.IGNORECASE)


# The grammar's recovery from errors, and its way through deep nesting, take time with the square of how much there is
# of both (tree-sitter 0.26.1, tree-sitter-bash 0.25.1: 64 kB of ")" or of "x=(" take 10 to 20 seconds). So pieces of a
# long script are parsed first, and their tangle is added up. Scripts of build systems and completions have at most 180
# in a piece and 43 on average; text made to be slow has 460 and more in every piece.
_PIECE = 4_096
_MAX_TANGLE = 3_000
_TANGLE_SHARE = 40  # one for so many characters is allowed on top
_MANY_CHILDREN = 200


def syntax(text: str, effort: Effort) -> Node | None:
    """The syntax tree of a script in ASCII; None for one that is too tangled to be parsed as a whole."""
    data = text.encode("ascii")
    effort.spend(len(data))
    limit = _MAX_TANGLE + len(data) // _TANGLE_SHARE
    found = 0
    if len(data) > _PIECE:
        for piece in _pieces(data):
            found += tangle(_parser().parse(piece).root_node)
            if found > limit:
                return None
        effort.spend(found * found // 10)
    return _parser().parse(data).root_node


def tangle(root: Node) -> int:
    """How deep a tree is, and how much lies in its errors and in other nodes with many children."""
    cursor = root.walk()
    depth = deepest = loose = 0
    while True:
        node = cursor.node
        if node is not None and (node.is_error or (depth and node.child_count > _MANY_CHILDREN)):
            loose += node.child_count
        if cursor.goto_first_child():
            depth += 1
            deepest = max(deepest, depth)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return loose + deepest
            depth -= 1


def _pieces(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _PIECE) + 1 or start + _PIECE
        yield data[start:end]
        start = end


@cache
def _parser() -> Parser:
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
