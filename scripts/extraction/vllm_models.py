"""vLLM's model files: which classes are registered where, and which of them hand over auxiliary states."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from extraction.trees import parse

HOOK = "set_aux_hidden_state_layers"
REGISTRY = "model_executor/models/registry.py"


@dataclass(slots=True)
class ClassFact:
    """A class of a model file: its bases as written, and the methods it defines."""

    bases: list[str]
    methods: set[str]


@dataclass(slots=True)
class ModelFile:
    """Classes of one model file, and where its imported names come from."""

    classes: dict[str, ClassFact] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)


class Models:
    """The model files of a package, parsed on first use."""

    def __init__(self, package: Path) -> None:
        self.root = package / "model_executor" / "models"
        self.package = package
        self.files: dict[str, ModelFile] = {}

    def file(self, module: str) -> ModelFile:
        """One model file by module name (``llama``, or a dotted one from the package's root)."""
        if module not in self.files:
            self.files[module] = self._parse(module)
        return self.files[module]

    def _parse(self, module: str) -> ModelFile:
        base = self.package.parent if module.startswith("vllm.") else self.root
        path = base / Path(*module.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        parsed = ModelFile()
        if not path.exists():
            return parsed
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                parsed.classes.setdefault(node.name, ClassFact([ast.unparse(base) for base in node.bases], methods))
            elif isinstance(node, ast.ImportFrom):
                source = _module(node, module)
                for alias in node.names:
                    parsed.imports[alias.asname or alias.name] = (source, alias.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        parsed.classes.setdefault(target.id, ClassFact([node.value.id], set()))
        return parsed

    def inherits(self, place: tuple[str, str], wanted: frozenset[str], method: str = "") -> bool:
        """True if the class (module, name) is one of ``wanted``, or one of its bases is, or defines ``method``."""
        return self._inherits(place, wanted, method, frozenset())

    def _inherits(
        self, place: tuple[str, str], wanted: frozenset[str], method: str, seen: frozenset[tuple[str, str]]
    ) -> bool:
        module, name = place
        if name in wanted:
            return True
        if place in seen:
            return False
        file = self.file(module)
        fact = file.classes.get(name)
        if fact is None:
            source = file.imports.get(name)
            return source is not None and self._inherits(source, wanted, method, seen | {place})
        if method in fact.methods:
            return True
        seen |= {place}
        for base in fact.bases:
            plain = base.split("[")[0].split(".")[-1]
            if plain == name and plain in file.imports:
                if self._inherits(file.imports[plain], wanted, method, seen):
                    return True
            elif self._inherits((module, plain), wanted, method, seen):
                return True
        return False


@cache
def models(package: Path) -> Models:
    """The model files of a package."""
    return Models(package)


def _module(node: ast.ImportFrom, inside: str) -> str:
    source = node.module or ""
    if node.level == 0:
        return source.removeprefix("vllm.model_executor.models.")
    if inside.startswith("vllm."):
        parts = inside.split(".")
        return ".".join([*parts[: len(parts) - node.level + 1], source]) if source else ".".join(parts)
    parts = inside.split(".")[: -node.level] if "." in inside else []
    return ".".join([*parts, source])


@cache
def registry(package: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """Every table of the registry: its name to architecture to (module, class)."""
    tables: dict[str, dict[str, tuple[str, str]]] = {}
    for node in parse(package / REGISTRY).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not targets or not isinstance(targets[0], ast.Name) or not isinstance(value, ast.Dict):
            continue
        rows: dict[str, tuple[str, str]] = {}
        for key, item in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(item, ast.Tuple) and len(item.elts) == 2:
                pair = [element.value for element in item.elts if isinstance(element, ast.Constant)]
                if len(pair) == 2:
                    rows[str(key.value)] = (str(pair[0]), str(pair[1]))
        if rows:
            tables[targets[0].id] = rows
    return tables


def general(package: Path) -> dict[str, tuple[str, str]]:
    """Architecture to (module, class), drafters' own table left out."""
    tables = registry(package)
    return {name: place for table, rows in tables.items() if "SPECULATIVE" not in table for name, place in rows.items()}
