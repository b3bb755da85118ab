"""What a vLLM release shows without being imported: fact keys of schemas/engines/vllm.toml and how each is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from extraction.rewrites import candidates, rewritten
from extraction.trees import Release, name_of, parse, strings
from extraction.vllm_models import HOOK, general, models, registry

Shown = list[str] | dict[str, str] | str | bool | None
#: Where SpeculativeConfig has lived, the newest place first.
CONFIGS = ("config/speculative.py", "config/__init__.py", "config.py")
PROPOSERS = ("v1/spec_decode/llm_base_proposer.py", "v1/spec_decode/eagle.py")
ALGOS = "transformers_utils/configs/speculators/algos.py"


def config_tree(release: Release) -> ast.Module:
    """The module that defines SpeculativeConfig.

    Raises:
        SystemExit: there is none.
    """
    for name in CONFIGS:
        path = release.place(name)
        if path.is_file() and any(_is(node, "SpeculativeConfig") for node in parse(path).body):
            return parse(path)
    raise SystemExit(f"vllm {release.version}: no SpeculativeConfig")


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name


def config_class(release: Release) -> ast.ClassDef:
    """SpeculativeConfig itself."""
    tree = config_tree(release)
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "SpeculativeConfig")


def method(release: Release, name: str) -> ast.FunctionDef | None:
    """A method of SpeculativeConfig."""
    for node in config_class(release).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


def literals(release: Release) -> dict[str, list[str]]:
    """Every module-level ``X = Literal[...]`` beside SpeculativeConfig, nested aliases resolved."""
    found: dict[str, list[str]] = {}
    for node in config_tree(release).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and "Literal" in ast.unparse(node):
            found[node.targets[0].id] = _words(node.value, found)
    return found


def _words(node: ast.expr, known: dict[str, list[str]]) -> list[str]:
    """The words a Literal, or an alias of one, stands for, as they are written."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.Name):
        return known.get(node.id, [])
    if isinstance(node, ast.BinOp):
        return _words(node.left, known) + _words(node.right, known)
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [word for item in inner for word in _words(item, known)]
    return []


def fields(release: Release) -> dict[str, ast.expr]:
    """The fields of SpeculativeConfig that a user may set, with their annotations."""
    return {
        item.target.id: item.annotation
        for item in config_class(release).body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        if "init=False" not in ast.unparse(item) and not item.target.id.startswith("_")
    }


def keys(release: Release) -> Shown:
    """Every key --speculative-config takes; what the engine itself fills in begins with target_ or draft_."""
    given = {"target_model_config", "target_parallel_config", "draft_model_config", "draft_parallel_config"}
    return dict.fromkeys(sorted(set(fields(release)) - given), "")


def values(release: Release) -> Shown:
    """Keys that take only some words; the method has facts of its own."""
    known = literals(release)
    words = {key: _words(note, known) for key, note in fields(release).items() if key != "method"}
    return {key: ",".join(dict.fromkeys(found)) for key, found in words.items() if found}


def methods(release: Release) -> Shown:
    """The declared methods, and eagle3, which 0.8.5 runs without declaring it."""
    run = {
        word
        for node in _tests(method(release, "_verify_args"))
        if isinstance(node, ast.Compare)
        for word in strings(node)
    }
    return dict.fromkeys(sorted({*literals(release).get("SpeculativeMethod", []), *(run & {"eagle3"})}), "")


def mtp_aliases(release: Release) -> Shown:
    """The names that become mtp."""
    return dict.fromkeys(sorted(set(literals(release).get("MTPModelTypes", [])) - {"mtp"}), "")


def speculative(release: Release) -> Shown:
    """The drafters' table of the registry."""
    rows = registry(release.package).get("_SPECULATIVE_DECODING_MODELS", {})
    return {name: f"{module}.{owner}" for name, (module, owner) in sorted(rows.items())}


def registered(release: Release) -> Shown:
    """Every other architecture."""
    return dict.fromkeys(sorted(general(release.package)), "")


def aux_targets(release: Release) -> Shown:
    """Architectures whose class hands over auxiliary states."""
    known = models(release.package)
    rows = general(release.package).items()
    return {name: "" for name, place in sorted(rows) if known.inherits(place, frozenset({"SupportsEagle3"}), HOOK)}


def own_types(release: Release) -> Shown:
    """The model_types with a config class in the package."""
    tree = parse(release.place("transformers_utils/config.py"))
    tables = {"_CONFIG_REGISTRY", "_CONFIG_REGISTRY_OVERRIDE_HF"}
    found: set[str] = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not tables & {name_of(target) for target in targets}:
            continue
        for item in ast.walk(node):
            if isinstance(item, ast.Dict):
                found |= {str(key.value) for key in item.keys if isinstance(key, ast.Constant)}
            elif isinstance(item, ast.Call):
                found |= {keyword.arg for keyword in item.keywords if keyword.arg}
    return dict.fromkeys(sorted(found), "")


def v2_architectures(release: Release) -> Shown:
    """The list of targets that run on V2."""
    path = release.place("config/vllm.py")
    for node in parse(path).body if path.is_file() else []:
        if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES":
            return sorted(strings(node.value))
    return []


def speculators(release: Release) -> Shown:
    """The layouts of speculators that are registered."""
    return sorted(speculators_of(release))


def speculators_of(release: Release) -> dict[str, ast.FunctionDef]:
    """Every registered layout of speculators and the function that reads it."""
    path = release.place(ALGOS)
    return {
        str(decorator.args[0].value): node
        for node in (ast.walk(parse(path)) if path.is_file() else ())
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant)
    }


def carried(layout: str) -> Callable[[Release], Shown]:
    """The keys a speculators layout hands on under their own names."""

    def read(release: Release) -> Shown:
        function = speculators_of(release).get(layout)
        found: list[str] = []
        filled = function.args.args[1].arg if function else ""
        for node in ast.walk(function) if function else ():
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith(f"{filled}["):
                found += [name for name in strings(node.targets[0]) if name in strings(node.value)]
        return sorted(found)

    return read


def architectures_of(layout: str) -> Callable[[Release], Shown]:
    """The class a speculators layout is run with, by the model_type of its layers; ``*`` where it does not matter."""

    def read(release: Release) -> Shown:
        function = speculators_of(release).get(layout)
        for node in ast.walk(function) if function else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and "arch" in name_of(node.targets[0]):
                pairs = zip(node.value.keys, node.value.values, strict=True)
                return {name_of(key): name_of(value) for key, value in pairs}
            plain = strings(node.value) if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.Assign) and "'architectures'" in ast.unparse(node.targets[0]) and plain:
                return {"*": plain[0]}
        return {}

    return read


def rope_types(release: Release) -> Shown:
    """The types get_rope compares with."""
    folder = "model_executor/layers/rotary_embedding"
    for path in (release.place(f"{folder}/__init__.py"), release.place(f"{folder}.py")):
        if path.is_file():
            return sorted(compared_words(parse(path), "get_rope", ("scaling_type", "rope_type")))
    return None


def compared_words(tree: ast.Module, function: str, subjects: tuple[str, ...]) -> set[str]:
    """The words a function holds one of its names against."""
    found: set[str] = set()
    for owner in ast.walk(tree):
        if _is(owner, function):
            for node in ast.walk(owner):
                if isinstance(node, ast.Compare) and name_of(node.left) in subjects:
                    found |= {word for side in node.comparators for word in strings(side)}
    return found


def _rewriting(release: Release) -> ast.FunctionDef:
    found = method(release, "hf_config_override")
    if found is None:
        raise SystemExit(f"vllm {release.version}: no SpeculativeConfig.hf_config_override")
    return found


def mtp_types(release: Release) -> Shown:
    """model_type to the new model_type and architecture, ``=`` where that stays."""
    function = _rewriting(release)
    found: dict[str, str] = {}
    for name in candidates(function)[0]:
        after = rewritten(function, model_type=name)
        if after.model_type != name:
            found[name] = f"{after.model_type} {after.architecture or '='}"
    return dict(sorted(found.items()))


def mtp_architectures(release: Release) -> Shown:
    """Architecture to the new model_type and architecture."""
    function = _rewriting(release)
    found: dict[str, str] = {}
    for name in candidates(function)[1]:
        after = rewritten(function, architecture=name)
        if after.architecture != name or after.model_type:
            found[name] = f"{after.model_type or 'llama'} {after.architecture}"
    return dict(sorted(found.items()))


def allowed_targets(release: Release) -> Shown:
    """Parts of model_types among which EAGLE-3's target must be."""
    checks = method(release, "_verify_args")
    for node in ast.walk(checks) if checks else ():
        if isinstance(node, ast.Assign) and name_of(node.targets[0]).endswith("_supported"):
            return strings(node.value)
    for node in _tests(checks):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn) and "model_type" in ast.unparse(node):
            return strings(node.left)
    return []


def proposer_classes(release: Release) -> Shown:
    """The classes V1 asserts before it combines EAGLE-3's states; classes of DFlash left out."""
    for name in PROPOSERS:
        path = release.place(name)
        for node in ast.walk(parse(path)) if path.is_file() else ():
            if isinstance(node, ast.Assert) and "isinstance(" in ast.unparse(node.test):
                names = [item.id for item in ast.walk(node.test) if isinstance(item, ast.Name)]
                if found := [item for item in names if item.startswith("Eagle3")]:
                    return found
    return []


def rerun(release: Release) -> Shown:
    """Model types whose further layers draft the further tokens."""
    for node in _tests(method(release, "__post_init__")):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn) and "model_type" in ast.unparse(node):
            return strings(node.comparators[0])
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq) and "model_type" in ast.unparse(node):
            return strings(node.comparators[0])
    return []


def _tests(function: ast.FunctionDef | None) -> Iterator[ast.AST]:
    for node in ast.walk(function) if function else ():
        if isinstance(node, ast.If):
            yield from ast.walk(node.test)


def kept_methods(release: Release) -> Shown:
    """Methods that are kept as they were given: the branch that only passes."""
    for node in ast.walk(method(release, "__post_init__") or ast.Module([], [])):
        if (
            isinstance(node, ast.If)
            and isinstance(node.body[0], ast.Pass)
            and "self.method in" in ast.unparse(node.test)
        ):
            return strings(node.test)
    return None


def by_name(release: Release) -> Shown:
    """Parts of the path to the method they stand for."""
    found: dict[str, str] = {}
    for node in ast.walk(method(release, "__post_init__") or ast.Module([], [])):
        if not isinstance(node, ast.If):
            continue
        for part in ast.walk(node.test):
            if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.In) and ".lower()" in ast.unparse(part):
                chosen = [name for item in node.body if isinstance(item, ast.Assign) for name in strings(item.value)]
                found |= {name: chosen[0] for name in strings(part.left) if chosen}
    return found


def mask_keys(place: str, function: str) -> Callable[[Release], Shown]:
    """Where the mask token of parallel drafting is looked for, in this order."""

    def read(release: Release) -> Shown:
        found: list[str] = []
        for name in (place,) if place else PROPOSERS:
            path = release.place(name)
            for owner in ast.walk(parse(path)) if path.is_file() else ():
                if isinstance(owner, ast.FunctionDef) and owner.name == function:
                    found += _asked(owner)
            if found:
                return list(dict.fromkeys(found))
        return []

    return read


def _asked(function: ast.FunctionDef) -> list[str]:
    return [
        f"dflash_config.{name}" if "dflash_config" in ast.unparse(node.test) else name
        for node in ast.walk(function)
        if isinstance(node, ast.If)
        for name in strings(node.test)
        if name != "dflash_config"
    ]


READERS: dict[str, Callable[[Release], Shown]] = {
    "flags.keys": keys,
    "flags.values": values,
    "methods.known": methods,
    "methods.mtp-aliases": mtp_aliases,
    "method.kept": kept_methods,
    "method.by-name": by_name,
    "config.speculators-types": speculators,
    "config.speculators-eagle3-keys": carried("eagle3"),
    "config.speculators-peagle-keys": carried("peagle"),
    "config.speculators-eagle3-architectures": architectures_of("eagle3"),
    "config.speculators-peagle-architectures": architectures_of("peagle"),
    "config.mtp-model-types": mtp_types,
    "config.mtp-architectures": mtp_architectures,
    "config.own-model-types": own_types,
    "registry.speculative": speculative,
    "registry.aux-targets": aux_targets,
    "registry.general": registered,
    "targets.allowed": allowed_targets,
    "runner.v2-architectures": v2_architectures,
    "capture.proposer-classes": proposer_classes,
    "class.rope-types": rope_types,
    "mtp.rerun": rerun,
    "parallel.token-keys": mask_keys("", "_init_parallel_drafting_params"),
    "parallel.token-keys-v2": mask_keys("v1/worker/gpu/spec_decode/utils.py", "get_parallel_drafting_token_id"),
}
