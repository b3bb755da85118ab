"""Read unpacked sglang releases without importing them: registered classes, what speculation asks of them, rewrites.

``extract_sglang.py read FOLDER`` prints one release as JSON; FOLDER holds ``srt/`` or ``sglang/srt/``.
``extract_sglang.py merge 0.5.22=A.json 0.5.23=B.json`` prints the tables of schemas/engines/sglang.toml.
"""

from __future__ import annotations

import ast
import json
import sys
from functools import cache
from pathlib import Path

#: Wrappers whose hook hands the ids to the language model inside.
DELEGATES = {"KimiK25ForConditionalGeneration": "DeepseekV3ForCausalLM"}
#: What the source of a hook says of the rule it follows; the default is that every id gets one added.
RULES = {
    "layer_ids[0] == 1": "plus-one-if-first-is-one",
    "max(layer_ids) == num_layers": "plus-one-unless-last",
    "layer_ids = [2, num_layers // 2, num_layers - 3]": "plus-one-on-default",
}
METHODS = (
    "set_eagle3_layers_to_capture",
    "set_dflash_layers_to_capture",
    "set_dspark_layers_to_capture",
    "get_embed_and_head",
    "set_embed_and_head",
)


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text("utf-8-sig"))


def classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Every class defined at module level, also under ``if`` and ``try``."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def imports(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Local name to (module, name) for every ``from sglang… import``."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sglang."):
            for alias in node.names:
                found[alias.asname or alias.name] = (node.module, alias.name)
    return found


class Package:
    """The models of one release."""

    def __init__(self, root: Path) -> None:
        self.srt = next(path for path in (root / "srt", root / "sglang" / "srt") if path.is_dir())

    def module(self, dotted: str) -> Path | None:
        """The file of ``sglang.srt.…``."""
        base = self.srt.joinpath(*dotted.removeprefix("sglang.srt.").split("."))
        return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)

    def owner(self, path: Path, name: str, member: str, depth: int = 0) -> tuple[Path, ast.ClassDef] | None:
        """The class in the inheritance of ``name`` that defines a method, or assigns ``self.member``."""
        if depth > 9:
            return None
        tree = parse(path)
        node = classes(tree).get(name)
        if node is None:
            moved = imports(tree).get(name)
            target = self.module(moved[0]) if moved else None
            return self.owner(target, moved[1], member, depth + 1) if moved and target else None
        if _defines(node, member):
            return path, node
        for base in node.bases:
            if not isinstance(base, ast.Name):
                continue
            moved = imports(tree).get(base.id)
            if base.id == name and moved is None:
                continue
            target = self.module(moved[0]) if moved else path
            found = self.owner(target, moved[1] if moved else base.id, member, depth + 1) if target else None
            if found:
                return found
        return None

    def entries(self) -> dict[str, Path]:
        """Registered class name to its module: what ``EntryClass`` lists."""
        found: dict[str, Path] = {}
        for path in sorted((self.srt / "models").glob("**/*.py")):
            for node in ast.walk(parse(path)):
                for name in _entry_names(node):
                    found[name] = path
        return found


def _entry_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "EntryClass" for t in node.targets):
        return [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == "EntryClass":
        return [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"EntryClass.append", "EntryClass.extend"}:
        return [n.id for argument in node.args for n in ast.walk(argument) if isinstance(n, ast.Name)]
    return []


def _defines(node: ast.ClassDef, member: str) -> bool:
    for item in ast.walk(node):
        if isinstance(item, ast.FunctionDef) and item.name == member:
            return True
        targets = (
            item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Attribute) and ast.unparse(target) == f"self.{member}":
                return True
            if isinstance(target, ast.Name) and target.id == member and item in node.body:
                return True
    return False


def rewrites(srt: Path) -> dict[str, str]:
    """Architecture to architecture, when a checkpoint is opened as a drafter."""
    tree = parse(srt / "configs" / "model_config.py")
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.If) or "is_draft_model" not in ast.unparse(node.test):
            continue
        after = [name for item in ast.walk(node) if isinstance(item, ast.Assign) for name in _assigned(item)]
        for before in _compared(node.test, constants):
            if after:
                found.setdefault(before, after[-1])
    return found


def _assigned(item: ast.Assign) -> list[str]:
    """The architecture an assignment to ``self.hf_config.architectures`` puts in place."""
    if not ast.unparse(item.targets[0]).startswith("self.hf_config.architectures"):
        return []
    value = item.value.elts[0] if isinstance(item.value, ast.List) else item.value
    return [value.value] if isinstance(value, ast.Constant) and isinstance(value.value, str) else []


def _compared(test: ast.expr, constants: dict[str, ast.expr]) -> list[str]:
    names: list[str] = []
    for item in ast.walk(test):
        if isinstance(item, ast.Compare) and "architectures" in ast.unparse(item.left):
            for side in item.comparators:
                value = constants.get(side.id, side) if isinstance(side, ast.Name) else side
                names += [c.value for c in ast.walk(value) if isinstance(c, ast.Constant) and isinstance(c.value, str)]
    return names


def self_filled(srt: Path) -> list[str]:
    """Target architectures whose own folder becomes the draft path when none is given."""
    paths = [srt / "server_args.py", srt / "arg_groups" / "speculative_hook.py"]
    for path in (p for p in paths if p.is_file()):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.If) and "model_arch" in ast.unparse(node.test):
                inner = [i for i in node.body if isinstance(i, ast.If)]
                if any(ast.unparse(i.test).endswith("speculative_draft_model_path is None") for i in inner):
                    return [
                        c.value for c in ast.walk(node.test) if isinstance(c, ast.Constant) and isinstance(c.value, str)
                    ]
    return []


def algorithms(srt: Path) -> list[str]:
    """The names the algorithm flag takes."""
    server_args = parse(srt / "server_args.py")
    for node in ast.walk(server_args):
        if (
            isinstance(node, ast.Call)
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == "--speculative-algorithm"
        ):
            for keyword in node.keywords:
                if keyword.arg == "choices":
                    return sorted(ast.literal_eval(keyword.value))
    enum = classes(parse(srt / "speculative" / "spec_info.py"))["SpeculativeAlgorithm"]
    names = [t.id for n in enum.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    return sorted([*names, "NEXTN"])


def model_types(package: Package) -> list[str]:
    """``model_type`` of the configuration classes this release adds to AutoConfig."""
    found: set[str] = set()
    for path in sorted((package.srt / "configs").glob("*.py")):
        for node in classes(parse(path)).values():
            for item in node.body:
                named = isinstance(item, ast.Assign) and any(
                    isinstance(target, ast.Name) and target.id == "model_type" for target in item.targets
                )
                if named and isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant):
                    found.add(str(item.value.value))
    return sorted(found)


def capture_rules(package: Package, entries: dict[str, Path]) -> dict[str, str]:
    """How a target's hook turns configured ids into layers, where it does not simply add one."""
    found: dict[str, str] = {}
    for name, path in entries.items():
        owner = package.owner(path, name, "set_eagle3_layers_to_capture")
        if owner is None:
            continue
        hooks = [
            n for n in owner[1].body if isinstance(n, ast.FunctionDef) and n.name == "set_eagle3_layers_to_capture"
        ]
        text = ast.unparse(hooks[0]) if hooks else ""
        for sign, rule in RULES.items():
            if sign in text:
                found[name] = rule
    return found | {name: found[inner] for name, inner in DELEGATES.items() if inner in found and name in entries}


def read(folder: Path) -> dict[str, object]:
    """What one release says."""
    package = Package(folder)
    entries = package.entries()
    report: dict[str, object] = {
        "classes": dict.fromkeys(sorted(entries), ""),
        "rewrites": rewrites(package.srt),
        "self_filled": dict.fromkeys(self_filled(package.srt), ""),
        "algorithms": dict.fromkeys(algorithms(package.srt), ""),
        "model_types": dict.fromkeys(model_types(package), ""),
        "capture_rules": capture_rules(package, entries),
    }
    for member in METHODS:
        owners = {name: package.owner(path, name, member) for name, path in entries.items()}
        report[member] = {name: "" for name, owner in sorted(owners.items()) if owner}
    return report


def merge(releases: dict[str, dict[str, dict[str, str]]]) -> str:
    """Tables of names, each with the releases that have it: ``Name = "first..last"``, ``value@first..last``."""
    versions = list(releases)
    lines: list[str] = []
    for key, (file, symbol, title) in TABLES.items():
        lines += ["", f'[fact."{title}"]', f'file = "{file}"', f'symbol = "{symbol}"']
        lines += [f'[[fact."{title}".observed]]', f'first = "{versions[0]}"', f'last = "{versions[-1]}"']
        lines.append(f'[fact."{title}".observed.value]')
        names = sorted({name for report in releases.values() for name in report[key]})
        lines += [
            f"{name if name.isidentifier() else json.dumps(name)} = {json.dumps(_spans(releases, key, name))}"
            for name in names
        ]
    return "\n".join(lines) + "\n" + _changes(releases)


def _spans(releases: dict[str, dict[str, dict[str, str]]], key: str, name: str) -> str:
    runs: list[tuple[str | None, str, str]] = []
    for version, report in releases.items():
        value = report[key].get(name)
        if runs and runs[-1][0] == value:
            runs[-1] = (value, runs[-1][1], version)
        else:
            runs.append((value, version, version))
    return " ".join(f"{value}@{first}..{last}".lstrip("@") for value, first, last in runs if value is not None)


def _changes(releases: dict[str, dict[str, dict[str, str]]]) -> str:
    """The releases at which any table changes, so that a release between two that differ is seen to be ambiguous."""
    runs: list[tuple[str, str, str]] = []
    for version, report in releases.items():
        now = json.dumps({key: report[key] for key in TABLES}, sort_keys=True)
        if runs and runs[-1][0] == now:
            runs[-1] = (now, runs[-1][1], version)
        else:
            runs.append((now, version, version))
    rows = [f'  {{ first = "{first}", last = "{last}", value = "{first}" }},' for _, first, last in runs]
    head = ["", '[fact."tables.as-of"]', 'file = "srt/models/registry.py"', 'symbol = "ModelRegistry"', "observed = ["]
    return "\n".join([*head, *rows, "]"]) + "\n"


#: Key of a release's report: file, symbol and fact key of the table it becomes.
TABLES = {
    "classes": ("srt/models/registry.py", "ModelRegistry", "models.registered"),
    "rewrites": ("srt/configs/model_config.py", "ModelConfig._config_draft_model", "draft.rewrites"),
    "self_filled": ("srt/server_args.py", "ServerArgs._handle_speculative_decoding", "draft.self-filled"),
    "model_types": ("srt/configs", "model_type", "config.own-model-types"),
    "set_eagle3_layers_to_capture": ("srt/models", "set_eagle3_layers_to_capture", "models.capture-hook"),
    "set_dflash_layers_to_capture": ("srt/models", "set_dflash_layers_to_capture", "models.dflash-hook"),
    "set_dspark_layers_to_capture": ("srt/models", "set_dspark_layers_to_capture", "models.dspark-hook"),
    "capture_rules": ("srt/models", "set_eagle3_layers_to_capture", "models.capture-rule"),
    "get_embed_and_head": ("srt/models", "get_embed_and_head", "models.get-embed-and-head"),
    "set_embed_and_head": ("srt/models", "set_embed_and_head", "models.set-embed-and-head"),
}


def main() -> None:
    """Read one release, or merge several."""
    if sys.argv[1] == "read":
        json.dump(read(Path(sys.argv[2])), sys.stdout, indent=1, sort_keys=True)
        return
    pairs = [argument.partition("=") for argument in sys.argv[2:]]
    sys.stdout.write(merge({version: json.loads(Path(path).read_text("utf-8")) for version, _, path in pairs}))


if __name__ == "__main__":
    main()
