"""An engine's flags written as keys: configuration files, keyword arguments, benchmark parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from drafter_lint.launch.files.data import Items, Leaf, Table, Value, is_true, to_json
from drafter_lint.launch.files.traced import Traced, joined
from drafter_lint.launch.flags import FlagInfo, understood

_SPECULATIVE = re.compile(r"speculative-\w|spec-(?:method|model|tokens)$")
# Words of other tools' speculative sections: TensorRT-LLM, gpustack.
_FOREIGN = {"decoding_type", "max_draft_len", "speculative_model_dir", "enabled", "algorithm", "num_draft_tokens"}
_SGLANG = {"speculative-algorithm", "speculative-draft-model-path", "speculative-eagle-topk", "speculative-num-steps"}
_VLLM = {"speculative-config", "spec-method", "spec-model", "spec-tokens", "speculative-model"}


def speculative_engine(table: Table) -> str | None:
    """The engine whose speculative flags are keys of a table, None if no engine's are."""
    keys = {key.text.replace("_", "-").lstrip("-") for key, _ in table.entries}
    if keys & _SGLANG:
        return "sglang"
    return "vllm" if keys & _VLLM and not foreign(table) else None


def foreign(table: Table) -> bool:
    """True if the speculative section is written in another tool's words."""
    section = table.get("speculative_config", "speculative-config")
    return isinstance(section, Table) and any(key.text in _FOREIGN for key, _ in section.entries)


def words(table: Table, *, engine: str, names: Mapping[str, str] | None = None) -> list[Traced]:
    """The keys as a command's words. Keys that are no flag of the engine are the file's own and left out.

    Args:
        table: flag names, with dashes or underscores, and their values.
        engine: whose flags they are.
        names: what some keys are called as flags.
    """
    return [word for key, value in table.entries for word in _flag(key, value, engine, names or {})]


def _flag(key: Traced, value: Value, engine: str, names: Mapping[str, str]) -> Iterator[Traced]:
    name = names.get(key.text, key.text).lstrip("-").replace("_", "-")
    info = understood(engine, f"--{name.partition('.')[0]}")
    exact = [item for item in info if f"--{name.partition('.')[0]}" in (item.name, *item.aliases)]
    if not exact and not _SPECULATIVE.match(name):
        return
    stem = key.text.lstrip("-")
    shown = key.cut(len(key) - len(stem), len(key))
    shown = shown.retyped(name) if len(shown) == len(name) else Traced.stand_in(name, key.extent())
    flag = joined([Traced.stand_in("--"), shown])
    kind = exact[0].kind if exact else "value"
    if isinstance(value, Leaf) and value.kind == "null":
        return
    if isinstance(value, Leaf) and value.kind == "boolean":
        yield from _switch(flag, value, engine=engine, name=name, kind=kind, exact=exact)
        return
    if isinstance(value, Items) and kind not in {"many-values", "json"}:
        return  # one value for each run of a sweep
    yield flag
    if isinstance(value, Leaf) and not value.text.text and kind == "switch":
        return  # a benchmark's "disable_log_stats": ""
    if isinstance(value, Items) and kind == "many-values":
        yield from (item.text if isinstance(item, Leaf) else to_json(item) for item in value.items)
    else:
        yield value.text if isinstance(value, Leaf) else to_json(value)


def _switch(flag: Traced, value: Leaf, *, engine: str, name: str, kind: str, exact: list[FlagInfo]) -> Iterator[Traced]:
    if is_true(value):
        yield flag
        if kind not in {"switch", "optional-value"} and exact:
            yield value.text
    elif any(f"--no-{name}" in item.aliases for item in understood(engine, f"--{name}")):
        yield Traced.stand_in(f"--no-{name}", flag.extent())
