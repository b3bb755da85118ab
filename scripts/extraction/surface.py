"""What a release offers speculation whether or not a fact asks about it: fields, defaults, choices, environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from extraction import vllm
from extraction.trees import Release, name_of, parse, strings

WORDS = ("spec", "draft", "eagle", "mtp", "dflash", "dspark", "ngram", "model_runner")


def surface(engine: str, release: Release) -> dict[str, str]:
    """Name to what the release says of it, each on one line."""
    found = dict(_vllm(release) if engine == "vllm" else _sglang(release))
    return dict(sorted(found.items()))


def _vllm(release: Release) -> Iterator[tuple[str, str]]:
    for node in vllm.config_class(release).body:
        if isinstance(node, ast.AnnAssign):
            yield f"SpeculativeConfig.{name_of(node.target)}", _line(node)
    yield from _environment(release.place("envs.py"))
    for layout, function in vllm.speculators_of(release).items():
        yield f"speculators layout {layout}", ", ".join(strings(function)[1:])


def _sglang(release: Release) -> Iterator[tuple[str, str]]:
    srt = release.package / "srt"
    for path in (srt / "server_args.py", *sorted((srt / "arg_groups").rglob("*.py"))):
        for node in ast.walk(parse(path)) if path.is_file() else ():
            if isinstance(node, ast.AnnAssign) and _concerns(name_of(node.target)):
                yield f"ServerArgs.{name_of(node.target)}", _line(node)
            elif isinstance(node, ast.Call) and name_of(node.func) == "add_argument":
                flags = [item for item in strings(node) if item.startswith("--")]
                if flags and _concerns(flags[0]):
                    kept = [item for item in node.keywords if item.arg in {"choices", "type", "default", "action"}]
                    yield flags[0], ", ".join(f"{item.arg}={ast.unparse(item.value)}" for item in kept)
    yield from _environment(srt / "environ.py")


def _environment(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(parse(path)) if path.is_file() else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if name_of(target).isupper() and _concerns(name_of(target)):
                yield name_of(target), ast.unparse(node.value)


def _concerns(name: str) -> bool:
    return any(word in name.lower() for word in WORDS)


def _line(node: ast.AnnAssign) -> str:
    default = f" = {ast.unparse(node.value)}" if node.value else ""
    return f"{ast.unparse(node.annotation)}{default}"
