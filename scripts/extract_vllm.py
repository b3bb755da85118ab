"""Read the speculative-decoding facts of one unpacked vLLM package: registries, hooks, method and field names.

Nothing of the package is imported or executed; everything comes from its syntax trees.

    python scripts/extract_vllm.py path/to/unpacked/vllm > facts.json

The names under "architectures" are every registered one, "speculative" those of the speculative section with their
module and class, "aux_targets" those whose class hands over auxiliary states.
"""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

_HOOK = "set_aux_hidden_state_layers"


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
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
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

    def has_hook(self, module: str, name: str, seen: frozenset[tuple[str, str]] = frozenset()) -> bool:
        """True if the class or one of its bases is a SupportsEagle3, or defines the setter itself."""
        if name == "SupportsEagle3":
            return True
        if (module, name) in seen:
            return False
        file = self.file(module)
        fact = file.classes.get(name)
        if fact is None or (module, name) in seen:
            source = file.imports.get(name)
            return source is not None and self.has_hook(*source, seen | {(module, name)})
        if _HOOK in fact.methods:
            return True
        seen |= {(module, name)}
        for base in fact.bases:
            plain = base.split("[")[0].split(".")[-1]
            if plain == name and plain in file.imports:
                if self.has_hook(*file.imports[plain], seen):
                    return True
            elif self.has_hook(module, plain, seen):
                return True
        return False


def _module(node: ast.ImportFrom, inside: str) -> str:
    source = node.module or ""
    if node.level == 0:
        return source.removeprefix("vllm.model_executor.models.")
    if inside.startswith("vllm."):
        parts = inside.split(".")
        return ".".join([*parts[: len(parts) - node.level + 1], source]) if source else ".".join(parts)
    parts = inside.split(".")[: -node.level] if "." in inside else []
    return ".".join([*parts, source])


def registry(package: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """Every table of the registry: its name to architecture to (module, class)."""
    path = package / "model_executor" / "models" / "registry.py"
    tables: dict[str, dict[str, tuple[str, str]]] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
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


def config_source(package: Path) -> ast.Module:
    """The module that defines SpeculativeConfig."""
    for name in ("config/speculative.py", "config/__init__.py", "config.py"):
        path = package / name
        if path.exists():
            tree = ast.parse(path.read_text("utf-8"))
            if any(isinstance(node, ast.ClassDef) and node.name == "SpeculativeConfig" for node in tree.body):
                return tree
    raise SystemExit("no SpeculativeConfig")


def literals(tree: ast.Module) -> dict[str, list[str]]:
    """Every module-level ``X = Literal[...]`` with the names in it, nested aliases resolved."""
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        names = [item for item in ast.walk(node.value) if isinstance(item, ast.Constant | ast.Name)]
        values: list[str] = []
        for item in names:
            if isinstance(item, ast.Constant) and isinstance(item.value, str):
                values.append(item.value)
            elif isinstance(item, ast.Name) and item.id in found:
                values += found[item.id]
        if "Literal" in ast.unparse(node.value):
            found[node.targets[0].id] = sorted(set(values))
    return found


def fields_of(tree: ast.Module) -> list[str]:
    """The annotated fields of SpeculativeConfig that a user may set."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "SpeculativeConfig":
            names = [
                item for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            ]
            return sorted(
                item.target.id
                for item in names
                if isinstance(item.target, ast.Name)
                and "init=False" not in ast.unparse(item)
                and not item.target.id.startswith("_")
            )
    return []


def named_set(package: Path, name: str) -> list[str]:
    """The strings in a module-level frozenset of ``config/vllm.py``."""
    path = package / "config" / "vllm.py"
    if not path.exists():
        return []
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return sorted(
                item.value
                for item in ast.walk(node.value)
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
    return []


def speculators(package: Path) -> list[str]:
    """The names under which speculators readers are registered."""
    path = package / "transformers_utils" / "configs" / "speculators" / "algos.py"
    if not path.exists():
        return []
    return sorted(
        str(decorator.args[0].value)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant)
    )


def extract(package: Path) -> dict[str, object]:
    """Everything this script knows of a package."""
    models = Models(package)
    tables = registry(package)
    tree = config_source(package)
    general = {
        arch: place for name, rows in tables.items() if "SPECULATIVE" not in name for arch, place in rows.items()
    }
    speculative = {
        arch: f"{module}.{cls}" for arch, (module, cls) in tables.get("_SPECULATIVE_DECODING_MODELS", {}).items()
    }
    named = literals(tree)
    return {
        "architectures": sorted({*general, *speculative}),
        "speculative": dict(sorted(speculative.items())),
        "aux_targets": sorted(arch for arch, place in general.items() if models.has_hook(*place)),
        "methods": named.get("SpeculativeMethod", []),
        "mtp_model_types": named.get("MTPModelTypes", []),
        "fields": fields_of(tree),
        "v2_architectures": named_set(package, "DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES"),
        "speculators": speculators(package),
    }


if __name__ == "__main__":
    json.dump(extract(Path(sys.argv[1])), sys.stdout, indent=1)
