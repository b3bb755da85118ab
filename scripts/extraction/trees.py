"""One unpacked release: its syntax trees, and the places in it that facts cite."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SHORT = 12


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text("utf-8-sig"))


@dataclass(frozen=True, slots=True)
class Release:
    """A release's own package.

    Attributes:
        version: as a release is written.
        package: the folder ``vllm`` or ``sglang`` itself.
    """

    version: str
    package: Path

    def place(self, file: str) -> Path:
        """Where a file that a fact cites lies."""
        return self.package / file

    def cited(self, file: str, symbol: str) -> tuple[ast.AST, ...] | None:
        """What a fact cites: the definitions called ``symbol``, in a folder those of every module; None without any.

        A bare name is looked up wherever it stands; ``A.b`` is b in the class A, or in a base of A in the same module.
        """
        path = self.place(file)
        if path.is_dir():
            found = [node for module in sorted(path.rglob("*.py")) for node in _named(parse(module), symbol)]
        elif path.is_file():
            found = list(_within(parse(path), symbol))
        else:
            return None
        return tuple(found) or None

    def digest(self, file: str, symbol: str) -> str | None:
        """A hash of what a fact cites that comments, docstrings and layout leave alone; None if it is not there."""
        found = self.cited(file, symbol)
        if found is None:
            return None
        return hashlib.sha256("\n".join(map(normalised, found)).encode()).hexdigest()[:SHORT]

    def text(self, file: str, symbol: str) -> list[str]:
        """What a fact cites, as lines without comments; empty if it is not there."""
        return [line for node in self.cited(file, symbol) or () for line in ast.unparse(_bare(node)).splitlines()]


def normalised(node: ast.AST) -> str:
    """A tree as text, without positions and docstrings."""
    return ast.dump(_bare(node))


def _bare(node: ast.AST) -> ast.AST:
    copied = ast.parse(ast.unparse(node))
    for item in ast.walk(copied):
        if isinstance(item, Definition) and ast.get_docstring(item, clean=False) is not None:
            item.body = item.body[1:] or [ast.Pass()]
    return copied


def _named(tree: ast.AST, name: str) -> Iterator[ast.AST]:
    """Every definition or assignment of a name below a node."""
    for node in ast.walk(tree):
        if isinstance(node, Definition) and node.name == name:
            yield node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(name == (target.id if isinstance(target, ast.Name) else _self(target)) for target in targets):
                yield node


def _self(target: ast.expr) -> str:
    """The name of ``self.name``."""
    owned = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
    return target.attr if owned and isinstance(target, ast.Attribute) else ""


def _within(tree: ast.Module, symbol: str) -> Iterator[ast.AST]:
    owner, dot, member = symbol.rpartition(".")
    if not dot:
        yield from _outermost(tree, symbol)
        return
    for holder in _outermost(tree, owner):
        yield from _member(tree, holder, member)


def _member(tree: ast.Module, holder: ast.AST, member: str) -> list[ast.AST]:
    """What a class calls ``member``, its own or that of a base in the same module."""
    if not isinstance(holder, ast.ClassDef):
        return []
    own = [node for node in _named(holder, member) if node is not holder]
    if own:
        return own[:1]
    bases = [base for name in holder.bases for base in _outermost(tree, name_of(name)) if base is not holder]
    return next((found for base in bases if (found := _member(tree, base, member))), [])


def _outermost(tree: ast.Module, name: str) -> list[ast.AST]:
    """What a module calls ``name``: at its own level if it is there, else wherever it stands."""
    own: list[ast.AST] = [node for node in tree.body if node in set(_named_here(node, name))]
    return own or list(_named(tree, name))


def _named_here(node: ast.stmt, name: str) -> Iterator[ast.AST]:
    if isinstance(node, Definition):
        if node.name == name:
            yield node
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from _named(node, name)


def strings(node: ast.AST) -> list[str]:
    """The text constants below a node, each once, in order."""
    found = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return list(dict.fromkeys(found))


def name_of(node: ast.expr | None) -> str:
    """The last part of a dotted name, or the text of a string constant."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def shown(value: object) -> str:
    """A value on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
