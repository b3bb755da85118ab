"""Shell arithmetic and the edits of ``${…}`` on values that are known."""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatchcase

from drafter_lint.launch.files.traced import Traced
from drafter_lint.launch.files.variables import Variables


def edited(operator: str, value: Traced, pattern: str) -> Traced | None:
    """``#``, ``%``, ``/``, ``^`` and ``,`` on a known value."""
    text = value.text
    if len(text) > 500:
        return None
    if operator in {"#", "##"}:
        ends = [end for end in range(len(text) + 1) if fnmatchcase(text[:end], pattern)]
        cut = (ends[-1] if operator == "##" else ends[0]) if ends else 0
        return value.cut(cut, len(text))
    if operator in {"%", "%%"}:
        starts = [start for start in range(len(text) + 1) if fnmatchcase(text[start:], pattern)]
        cut = (starts[0] if operator == "%%" else starts[-1]) if starts else len(text)
        return value.cut(0, cut)
    if operator in {"^^", ",,"} and not pattern:
        changed = text.upper() if operator == "^^" else text.lower()
        return value.retyped(changed) if len(changed) == len(text) else None
    if operator in {"/", "//"}:
        old, _, new = pattern.partition("/")
        if old and not set(old) & set("*?["):
            changed = text.replace(old, new, -1 if operator == "//" else 1)
            return value.retyped(changed) if len(changed) == len(text) else Traced.stand_in(changed, value.extent())
    return None


def total(text: str, variables: Variables) -> int | None:
    """The value of shell arithmetic whose variables are all known; None otherwise."""
    names = re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda match: f" {match[1] or match[2]} ", text)
    if len(names) > 200 or "**" in names or "<<" in names:
        return None

    def known(match: re.Match[str]) -> str:
        value = variables.value(match[0])
        return value.text if value is not None and re.fullmatch(r"-?\d{1,9}", value.text) else "?"

    try:
        return _computed(ast.parse(re.sub(r"[A-Za-z_]\w*", known, names).strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _computed(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_computed(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _computed(node.left), _computed(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, (ast.Div, ast.FloorDiv)):
            return int(left / right)
        if isinstance(node.op, ast.Mod):
            return left % right
    raise ValueError("no arithmetic of whole numbers")
