"""What an SGLang release shows without being imported: keys of schemas/engines/sglang.toml and how each is read."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from pathlib import Path

from extraction.trees import Release, name_of, parse, strings

Shown = list[str] | dict[str, str] | str | bool | None
#: Wrappers whose hook hands the ids to the language model inside.
DELEGATES = {"KimiK25ForConditionalGeneration": "DeepseekV3ForCausalLM"}
#: What the source of a hook says of the rule it follows; the default is that every id gets one added.
RULES = {
    "layer_ids[0] == 1": "plus-one-if-first-is-one",
    "max(layer_ids) == num_layers": "plus-one-unless-last",
    "layer_ids = [2, num_layers // 2, num_layers - 3]": "plus-one-on-default",
}
HOOK = "set_eagle3_layers_to_capture"


@cache
def classes(tree: ast.Module) -> dict[str, ast.ClassDef]:
    """Every class defined at module level, also under ``if`` and ``try``."""
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


@cache
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

    def __init__(self, srt: Path) -> None:
        self.srt = srt
        self._entries: dict[str, Path] = {}

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
        if not self._entries:
            for path in sorted((self.srt / "models").glob("**/*.py")):
                for node in ast.walk(parse(path)):
                    self._entries |= dict.fromkeys(_entry_names(node), path)
        return self._entries


def _entry_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "EntryClass" for t in node.targets):
        return [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == "EntryClass":
        return [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"EntryClass.append", "EntryClass.extend"}:
        return [n.id for argument in node.args for n in ast.walk(argument) if isinstance(n, ast.Name)]
    return []


@cache
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
        owner = package.owner(path, name, HOOK)
        if owner is None:
            continue
        hooks = [n for n in owner[1].body if isinstance(n, ast.FunctionDef) and n.name == HOOK]
        text = ast.unparse(hooks[0]) if hooks else ""
        for sign, rule in RULES.items():
            if sign in text:
                found[name] = rule
    return found | {name: found[inner] for name, inner in DELEGATES.items() if inner in found and name in entries}


@cache
def package(srt: Path) -> Package:
    """The models of a release, its trees parsed once."""
    return Package(srt)


def _of(release: Release) -> Package:
    return package(release.package / "srt")


def registered(release: Release) -> Shown:
    """Every class some module lists as its entry."""
    return dict.fromkeys(sorted(_of(release).entries()), "")


def having(member: str) -> Callable[[Release], Shown]:
    """Registered classes that have a method, their own or a base's."""

    def read(release: Release) -> Shown:
        known = _of(release)
        return {name: "" for name, path in sorted(known.entries().items()) if known.owner(path, name, member)}

    return read


def flagged(release: Release) -> Shown:
    """Targets whose hook marks the layers one by one, itself or in the model it hands the ids to."""
    known = _of(release)
    drafters = set(rewrites(release.package / "srt").values())
    found: list[str] = []
    for name, path in known.entries().items():
        owner = known.owner(path, name, HOOK)
        if owner is None or name in drafters:
            continue
        text = _hook(owner[1])
        if f"self.model.{HOOK}" in text:
            made = [node.value for node in ast.walk(owner[1]) if isinstance(node, ast.Assign) and _model(node)]
            inner = [known.owner(owner[0], other, HOOK) for call in made for other in _called(call, owner[1])]
            text = "".join(_hook(model[1]) for model in inner if model)
        if "self.layers[" in text:
            found.append(name)
    return sorted(found)


def _model(node: ast.Assign) -> bool:
    return ast.unparse(node.targets[0]) == "self.model"


def _called(node: ast.expr, owner: ast.ClassDef) -> list[str]:
    """The classes an expression makes one of: by name, or by what a class says of itself (``body_cls = …``)."""
    own = {name_of(item.targets[0]): name_of(item.value) for item in owner.body if isinstance(item, ast.Assign)}
    called = [name_of(call) for call in ast.walk(node) if isinstance(call, ast.Call)]
    return [own.get(name, name) for name in called]


def _hook(owner: ast.ClassDef) -> str:
    return "".join(ast.unparse(node) for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == HOOK)


def rope_types(release: Release) -> Shown:
    """The types get_rope compares with."""
    for name in ("rotary_embedding/factory.py", "rotary_embedding.py"):
        path = release.package / "srt" / "layers" / name
        for owner in parse(path).body if path.is_file() else []:
            if isinstance(owner, ast.FunctionDef) and owner.name == "get_rope":
                sides = [node for node in ast.walk(owner) if isinstance(node, ast.Compare)]
                return sorted({w for node in sides if name_of(node.left) == "scaling_type" for w in strings(node)})
    return None


def chosen(steps: str) -> Callable[[Release], Shown]:
    """Target architectures that get some steps where none are given: ``*`` where everybody else gets them too."""

    def read(release: Release) -> Shown:
        function = _choosing(release)
        branches = [node for node in ast.walk(function or ast.Module([], [])) if isinstance(node, ast.If)]
        lines = [node for node in branches if "arch in" in ast.unparse(node.test)]
        if not lines:
            return None
        found = [w for node in lines if ast.unparse(node.body[-1]) == f"return {steps}" for w in strings(node.test)]
        return ["*"] if [ast.unparse(item) for item in lines[-1].orelse] == [f"return {steps}"] else found

    return read


def names(shown: Shown) -> list[str]:
    """A list of names, whatever was shown."""
    return shown if isinstance(shown, list) else []


def _choosing(release: Release) -> ast.FunctionDef | None:
    srt = release.package / "srt"
    for path in (srt / "server_args.py", *sorted((srt / "arg_groups").glob("*.py"))):
        for node in parse(path).body if path.is_file() else []:
            if isinstance(node, ast.FunctionDef) and node.name.endswith("auto_choose_speculative_params"):
                return node
    return None


#: How each fact key is read.
READERS: dict[str, Callable[[Release], Shown]] = {
    "algorithm.names": lambda release: algorithms(release.package / "srt"),
    "rope.types": rope_types,
    "eagle.chain-targets": chosen("(3, 1, 4)"),
    "eagle.tree-targets": lambda release: [name for name in names(chosen("(5, 4, 8)")(release)) if name != "*"],
    "capture.by-flag": flagged,
    "models.registered": registered,
    "draft.rewrites": lambda release: rewrites(release.package / "srt"),
    "draft.self-filled": lambda release: dict.fromkeys(self_filled(release.package / "srt"), ""),
    "config.own-model-types": lambda release: dict.fromkeys(model_types(_of(release)), ""),
    "models.capture-hook": having(HOOK),
    "models.dflash-hook": having("set_dflash_layers_to_capture"),
    "models.dspark-hook": having("set_dspark_layers_to_capture"),
    "models.capture-rule": lambda release: capture_rules(_of(release), _of(release).entries()),
    "models.get-embed-and-head": having("get_embed_and_head"),
    "models.set-embed-and-head": having("set_embed_and_head"),
}
