"""The command-line flags an engine's source defines: argparse calls, annotated fields and config classes, never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from extraction.trees import Release, name_of, parse

SWITCH_ACTIONS = {
    "store_true",
    "store_false",
    "store_const",
    "BooleanOptionalAction",
    "DeprecatedStoreTrueAction",
    "DeprecatedAction",
    "DeprecatedStoreConstAction",
    "EnableDisableAction",
}


@dataclass(frozen=True)
class Definition:
    """One flag as one release defines it."""

    names: tuple[str, ...]
    kind: str
    negatable: bool = False


def flags(engine: str, release: Release) -> list[Definition]:
    """Every flag a release defines, in the order its parser meets them."""
    return list((sglang_flags if engine == "sglang" else vllm_flags)(release.package))


def trees(*paths: Path) -> Iterator[ast.Module]:
    for path in paths:
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file():
            yield parse(file)


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def kind_of(options: dict[str, ast.expr], default: str = "value") -> str:
    """What an argparse call's own keywords say about how many words follow the flag."""
    nargs = options.get("nargs")
    takes_one = isinstance(nargs, ast.Constant) and nargs.value is None
    if name_of(options.get("action")) in SWITCH_ACTIONS and not takes_one:
        return "switch"
    if isinstance(nargs, ast.Constant):
        kinds = {"?": "optional-value", "*": "many-values", "+": "many-values", 0: "switch"}
        return kinds.get(nargs.value, default)
    if "type" in options and "loads" in ast.unparse(options["type"]):
        return "json"
    return default


def long_flags(call: ast.Call) -> tuple[str, ...]:
    words = [name_of(argument) for argument in call.args if isinstance(argument, ast.Constant)]
    return tuple(word for word in words if word.startswith("-"))


def argparse_calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            yield node


# ---- sglang: argparse calls in server_args.py, and from 0.5.14 on fields annotated with A[type, Arg(...)] -----------


def sglang_flags(package: Path) -> Iterator[Definition]:
    srt = package / "srt"
    for tree in trees(srt / "server_args.py", srt / "arg_groups" / "fields"):
        for call in argparse_calls(tree):
            if names := long_flags(call):
                options = keywords(call)
                yield Definition(names, kind_of(options), name_of(options.get("action")) == "BooleanOptionalAction")
        for owner in ast.walk(tree):
            if isinstance(owner, ast.ClassDef):
                for node in owner.body:
                    if isinstance(node, ast.AnnAssign) and (found := annotated_field(node)):
                        yield found


def annotated_field(node: ast.AnnAssign) -> Definition | None:
    note = node.annotation
    if not (isinstance(note, ast.Subscript) and name_of(note.value) in {"A", "Annotated"}):
        return None
    if not isinstance(note.slice, ast.Tuple):
        return None
    kind, *metas = note.slice.elts
    meta = next((m for m in metas if name_of(m) == "Arg"), None)
    options = keywords(meta) if isinstance(meta, ast.Call) else {}
    if "no_cli" in options or not (meta or any(isinstance(m, ast.Constant | ast.JoinedStr | ast.BinOp) for m in metas)):
        return None
    name = name_of(options.get("cli_name")) or "--" + name_of(node.target).replace("_", "-")
    aliases = [name_of(item) for item in getattr(options.get("aliases"), "elts", [])]
    types = leaves(kind, {})
    default = "value"
    if "list" in types and "type_parser" not in options:
        default = "many-values"
    elif types == {"bool"}:
        default = "switch"
    if "type_parser" in options and "json" in ast.unparse(options["type_parser"]):
        default = "json"
    return Definition((name, *aliases), kind_of(options, default), name_of(options.get("action")).startswith("Boolean"))


def leaves(node: ast.expr, aliases: dict[str, ast.expr]) -> set[str]:
    """The names of the types a union holds, without None; containers by their own name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return leaves(ast.parse(node.value, mode="eval").body, aliases)
    if isinstance(node, ast.BinOp):
        return leaves(node.left, aliases) | leaves(node.right, aliases)
    if isinstance(node, ast.Subscript):
        base = name_of(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base in {"Optional", "Union"}:
            return set().union(*(leaves(item, aliases) for item in inner))
        if base in {"Annotated", "SkipValidation", "InitVar"}:
            return leaves(inner[0], aliases)
        return {base.lower() if base in {"List", "Dict", "Tuple", "Set"} else base}
    name = name_of(node)
    if name and name in aliases:
        return leaves(aliases.pop(name), aliases)
    return {name} - {"", "None"}


# ---- vllm: argparse calls whose keywords come from a config class, and front-end classes turned into flags ----------


def vllm_flags(root: Path) -> Iterator[Definition]:
    sources = [root / "engine" / "arg_utils.py", root / "entrypoints" / "cli" / "serve.py"]
    sources += sorted((root / "entrypoints").glob("*/cli_args.py"))
    parsed = list(trees(*sources))
    known = Classes(list(trees(root / "config.py", root / "config")) + parsed)
    for tree in parsed:
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                yield from function_flags(function, known)
    special = [line for tree in parsed for line in ast.unparse(tree).splitlines() if "frontend_kwargs[" in line]
    for owner in known.fields:
        if owner.endswith("FrontendArgs") or owner == "FrontendArgs":
            for name in known.fields[owner]:
                yield frontend_flag(name, known.definition(owner, name, ()), special)


def frontend_flag(name: str, found: Definition, special: list[str]) -> Definition:
    mine = [line for line in special if f"frontend_kwargs['{name}']" in line]
    kind = found.kind
    if any("del" in line for line in mine):
        kind = "value"
    if any("json.loads" in line for line in mine):
        kind = "json"
    return Definition(("--" + name.replace("_", "-"),), kind, found.negatable)


def function_flags(function: ast.FunctionDef, known: Classes) -> Iterator[Definition]:
    owners: dict[str, str] = {}
    forced_json: set[tuple[str, str]] = set()
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        goal = node.targets[0]
        if isinstance(goal, ast.Name) and name_of(node.value) == "get_kwargs" and isinstance(node.value, ast.Call):
            owners[goal.id] = name_of(node.value.args[0])
        spelled = re.fullmatch(r"(\w+)\['(\w+)'\]\['type'\]", ast.unparse(goal))
        if spelled and "json.loads" in ast.unparse(node.value):
            forced_json.add((spelled[1], spelled[2]))
    for call in argparse_calls(function):
        if names := long_flags(call):
            yield call_definition(call, names, known=known, owners=owners, forced_json=forced_json)


def call_definition(
    call: ast.Call,
    names: tuple[str, ...],
    *,
    known: Classes,
    owners: dict[str, str],
    forced_json: set[tuple[str, str]],
) -> Definition:
    """What one call defines: its own keywords before those of the config field it spreads."""
    options = keywords(call)
    found = Definition(names, "value")
    for item in [keyword.value for keyword in call.keywords if keyword.arg is None]:
        spelled = re.search(r"(\w+)\['(\w+)'\]", ast.unparse(item))
        if spelled and spelled[1] in owners:
            found = known.definition(owners[spelled[1]], spelled[2], names)
            if (spelled[1], spelled[2]) in forced_json:
                found = Definition(names, "json")
    if "action" in options or "nargs" in options or "type" in options:
        negatable = name_of(options.get("action")) == "BooleanOptionalAction"
        found = Definition(names, kind_of(options, found.kind if found.kind == "json" else "value"), negatable)
    return found


class Classes:
    """The annotated fields of every class in some modules, inherited ones included."""

    def __init__(self, modules: list[ast.Module]) -> None:
        self.aliases: dict[str, ast.expr] = {}
        self.fields: dict[str, dict[str, ast.expr]] = {}
        bases: dict[str, list[str]] = {}
        for node in (node for module in modules for node in ast.walk(module)):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Subscript):
                self.aliases.setdefault(name_of(node.targets[0]), node.value)
            elif isinstance(node, ast.AnnAssign) and name_of(node.annotation) == "TypeAlias" and node.value:
                self.aliases.setdefault(name_of(node.target), node.value)
            elif isinstance(node, ast.ClassDef):
                rows = [item for item in node.body if isinstance(item, ast.AnnAssign)]
                self.fields[node.name] = {name_of(row.target): row.annotation for row in rows}
                bases[node.name] = [name_of(base) for base in node.bases]
        for owner, parents in bases.items():
            for parent in parents:
                self.fields[owner] = {**self.fields.get(parent, {}), **self.fields[owner]}

    def definition(self, owner: str, name: str, flags: tuple[str, ...]) -> Definition:
        note = self.fields.get(owner, {}).get(name)
        if note is None:
            return Definition(flags, "value")
        types = leaves(note, dict(self.aliases))
        if types == {"bool", "str"}:
            return Definition(flags, "optional-value")
        if any(kind in self.fields and kind.endswith("Config") for kind in types):
            return Definition(flags, "json")
        if "bool" in types:
            return Definition(flags, "switch", negatable=True)
        if types & {"list", "tuple", "set"} and "Literal" not in types:
            return Definition(flags, "many-values")
        return Definition(flags, "json" if types & {"dict", "Mapping"} else "value")
