"""Which names of a Python program an engine's start may depend on."""

from __future__ import annotations

import ast
import re

_RELEVANT = re.compile(
    r"\bLLM\(|EngineArgs\(|Engine\(|ServerArgs\(|Runtime\(|AsyncLLM\w*\.|launch_\w*server|vllm|sglang|--spec|speculative"
)


def names_engine(node: ast.AST) -> bool:
    """True for a text or a name that belongs to an engine's start."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _RELEVANT.search(node.value) is not None
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return _RELEVANT.search(f"{name}(") is not None
    return isinstance(node, ast.keyword) and (node.arg or "").startswith("speculative")


def read_names(tree: ast.Module) -> frozenset[str]:
    """The names some expression reads; what they hold is met there."""
    return frozenset(
        item.id for item in ast.walk(tree) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)
    )


def relevant(tree: ast.Module) -> frozenset[str]:
    """The names an engine's start may depend on: those next to one, and those they are made of."""
    made_of: dict[str, set[str]] = {}
    names: set[str] = set()
    for statement in ast.walk(tree):
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.withitem)):
            continue
        inside = list(ast.walk(statement))
        used = {item.id for item in inside if isinstance(item, ast.Name)}
        for item in inside:
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
                made_of.setdefault(item.id, set()).update(used)
        if any(names_engine(item) for item in inside):
            names |= used
    queue = list(names)
    while queue:
        for name in made_of.get(queue.pop(), ()):
            if name not in names:
                names.add(name)
                queue.append(name)
    return frozenset(names)
