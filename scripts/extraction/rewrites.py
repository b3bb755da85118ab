"""What vLLM's ``SpeculativeConfig.hf_config_override`` makes of a config: followed through its tree, never executed.

A config is followed by its model_type and its first architecture. Conditions on these two, and on names that were set
from them, are decided; anything else asks for a field that a config with prediction layers has, and is taken to hold
unless it is told apart below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from extraction.trees import strings

#: Parts of conditions that a plain config with prediction layers does not meet.
UNMET = ("text_config, 'model_type'", "RadioMBartPrefix", "transformers_mtp_overrides", "is None", "len(", "< 1")


@dataclass(slots=True)
class Config:
    """What is known of the config being followed: texts by attribute, and local names that were decided.

    Attributes:
        architecture: the first one, None where none was given.
        count: the expression the number of prediction layers came from, unparsed.
    """

    model_type: str
    architecture: str | None
    initial: str | None
    names: dict[str, bool | str | None] = field(default_factory=dict)
    count: str = ""
    returned: bool = False


def rewritten(function: ast.FunctionDef, *, model_type: str = "", architecture: str | None = None) -> Config:
    """The config after the function, for one of this model_type or this architecture."""
    config = Config(model_type, architecture, architecture)
    _run(function.body, config)
    return config


def candidates(function: ast.FunctionDef) -> tuple[list[str], list[str]]:
    """The model_types and the architectures that conditions of the function name."""
    types: dict[str, None] = {}
    architectures: dict[str, None] = {}
    for node in ast.walk(function):
        tests: list[ast.expr] = []
        if isinstance(node, ast.If):
            tests = [node.test]
        for test in tests:
            for part in _atoms(test):
                text = ast.unparse(part)
                goal = types if "model_type" in text else architectures if "architecture" in text else None
                if goal is not None:
                    goal.update(dict.fromkeys(name for name in strings(part) if name != "architectures"))
    return list(types), list(architectures)


def _atoms(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _atoms(value)
    else:
        yield test


def _run(body: list[ast.stmt], config: Config) -> None:
    for statement in body:
        if config.returned:
            return
        if isinstance(statement, ast.If):
            _run(statement.body if _true(statement.test, config) else statement.orelse, config)
        elif isinstance(statement, ast.Return):
            config.returned = True
        elif isinstance(statement, ast.Assign):
            _assign(statement, config)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            _update(statement.value, config)


def _assign(statement: ast.Assign, config: Config) -> None:
    goal, value = statement.targets[0], statement.value
    text = ast.unparse(goal)
    if text == "hf_config.model_type":
        config.model_type = str(_value(value, config) or config.model_type)
    elif text.startswith("hf_config.architectures") or text == "overrides['architectures']":
        config.architecture = _architecture(value, config)
    elif isinstance(goal, ast.Name):
        if goal.id in {"n_predict", "checkpoint_depths"}:
            config.count = ast.unparse(value)
        if isinstance(value, ast.Dict) and goal.id != "overrides":
            pairs = zip(value.keys, value.values, strict=True)
            config.names |= {
                f"{goal.id}[{key.value!s}]": item.value
                for key, item in pairs
                if isinstance(key, ast.Constant) and isinstance(item, ast.Constant) and isinstance(item.value, str)
            }
        elif isinstance(value, ast.Dict):
            _fields(value, config)
        elif isinstance(value, ast.Compare | ast.BoolOp):
            config.names[goal.id] = _true(value, config)
        elif isinstance(value, ast.IfExp | ast.Constant):
            config.names[goal.id] = _value(value, config)


def _update(call: ast.Call, config: Config) -> None:
    updates = isinstance(call.func, ast.Attribute) and call.func.attr == "update"
    if updates and call.args and isinstance(call.args[0], ast.Dict):
        _fields(call.args[0], config)


def _fields(table: ast.Dict, config: Config) -> None:
    for key, value in zip(table.keys, table.values, strict=True):
        name = key.value if isinstance(key, ast.Constant) else ""
        if name == "architectures":
            config.architecture = _architecture(value, config)
        elif name == "n_predict" and not isinstance(value, ast.Name):
            config.count = ast.unparse(value)


def _architecture(value: ast.expr, config: Config) -> str | None:
    inner = value.elts[0] if isinstance(value, ast.List) and value.elts else value
    found = _value(inner, config)
    return found if isinstance(found, str) else config.architecture


def _value(node: ast.expr, config: Config) -> bool | str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bool):
        return node.value
    if isinstance(node, ast.IfExp):
        return _value(node.body if _true(node.test, config) else node.orelse, config)
    if isinstance(node, ast.Name):
        return config.names.get(node.id)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and isinstance(node.value, ast.Name):
        return config.names.get(f"{node.value.id}[{config.architecture}]")
    return None


def _true(test: ast.expr, config: Config) -> bool:
    if isinstance(test, ast.BoolOp):
        values = (_true(value, config) for value in test.values)
        return all(values) if isinstance(test.op, ast.And) else any(values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return not _true(test.operand, config)
    if isinstance(test, ast.Name):
        return bool(config.names.get(test.id, True))
    text = ast.unparse(test)
    if any(sign in text for sign in UNMET):
        return False
    named = strings(test)
    if "initial_architecture" in text:
        return config.initial in named
    if "architecture" in text:
        return config.architecture in named
    if "model_type" in text:
        return _names_type(test, named, config.model_type)
    return True


def _names_type(test: ast.expr, named: list[str], model_type: str) -> bool:
    """Whether a comparison with model_type holds: equal, one of several, or (in a text) a part of it."""
    if not isinstance(test, ast.Compare):
        return True
    side = test.comparators[0]
    if isinstance(test.ops[0], ast.In) and isinstance(test.left, ast.Constant):
        return str(test.left.value) in model_type
    if isinstance(test.ops[0], ast.In) and isinstance(side, ast.Constant):
        return bool(model_type) and model_type in str(side.value)
    return model_type in named
