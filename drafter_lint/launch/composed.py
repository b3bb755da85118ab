"""A command that is being put together: its variables, flags and speculative keys, each with the reason for it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from drafter_lint.findings import Evidence, JsonValue, Location
from drafter_lint.launch.flags import FlagInfo, flag_releases, flag_table, spelled
from drafter_lint.launch.speculative import FLAG as SPECULATIVE

#: What a part is: set before the command, the model that stands behind vLLM's program, a flag, or a speculative key.
PartKind = Literal["variable", "model", "flag", "key"]
#: Where a part comes from: this engine asks for it, a finding goes away with it, or the user typed it.
Origin = Literal["needed", "mends", "given"]
_PROGRAMS = {"sglang": ("python3", "-m", "sglang.launch_server"), "vllm": ("vllm", "serve")}
_INDENT = "    "
_VARIABLE = re.compile(r"\$(?:\w|\{\w)")
_PLAIN_YAML = re.compile(r"[A-Za-z/][\w./-]*|0|-?[1-9]\d{0,14}", re.ASCII)
#: Words YAML reads as something else than themselves.
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing a command says.

    Attributes:
        kind: what it is.
        name: the canonical flag ("--tp-size"), the speculative key ("method"), or the variable.
        value: None for a switch.
        words: a flag as it is written, its values included; made from name and value if left out.
        why: what asks for it, one sentence.
        evidence: where the engine reads it or insists on it.
        at: the place in the drafter's or the target's files that asks for it.
        origin: who wants it.
        mends: codes of the findings that are there without it.
    """

    kind: PartKind
    name: str
    value: JsonValue = None
    words: tuple[str, ...] = ()
    why: str
    evidence: tuple[Evidence, ...] = ()
    at: Location | None = None
    origin: Origin = "needed"
    mends: tuple[str, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """The words of a flag or of the model."""
        if self.words:
            return self.words
        value = () if self.value is None else (str(self.value),)
        return value if self.kind == "model" else (self.name, *value)

    @property
    def shown(self) -> str:
        """As it is spoken of: ``--tp-size 8``, ``"method": "eagle3"``, ``VLLM_USE_V1=0``."""
        if self.kind == "variable":
            return f"{self.name}={self.value}"
        if self.kind == "key":
            return f"{json.dumps(self.name)}: {json.dumps(self.value)}"
        return " ".join(map(quoted, self.written))


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A whole command in parts.

    Attributes:
        engine: "sglang" or "vllm".
        release: the read release whose spellings it is written in.
        parts: in the order they are written; speculative keys stand together where the first of them does.
    """

    engine: str
    release: str
    parts: tuple[Part, ...] = field(default=())

    def part(self, name: str) -> Part | None:
        """The part of a name."""
        return next((part for part in self.parts if part.name == name), None)

    def having(self, more: Iterable[Part]) -> Command:
        """With some parts, each in the place of the one that has its name, else at the end; variables come first."""
        parts = list(self.parts)
        for part in more:
            index = next((i for i, held in enumerate(parts) if held.name == part.name), len(parts))
            parts[index : index + 1] = [part]
        return replace(self, parts=tuple(sorted(parts, key=lambda part: part.kind != "variable")))

    def without(self, names: Iterable[str]) -> Command:
        """Without the parts of some names."""
        gone = set(names)
        return replace(self, parts=tuple(part for part in self.parts if part.name not in gone))

    @property
    def variables(self) -> dict[str, str]:
        """What is set before the command."""
        return {part.name: str(part.value) for part in self.parts if part.kind == "variable"}

    @property
    def speculative(self) -> dict[str, JsonValue]:
        """The speculative keys."""
        return {part.name: part.value for part in self.parts if part.kind == "key"}

    @property
    def argv(self) -> tuple[str, ...]:
        """The command's words, without the variables before it."""
        return tuple(word for group in self._groups() for word in group)

    @property
    def text(self) -> str:
        """The command as it is pasted into a shell, a flag on each line."""
        first, *rest = (" ".join(map(quoted, group)) for group in self._groups())
        variables = [f"{name}={quoted(value)}" for name, value in self.variables.items()]
        return f" \\\n{_INDENT}".join([" ".join([*variables, first]), *rest])

    @property
    def config(self) -> str:
        """The flags as the YAML file that ``--config`` takes; how it is started stands in the first line."""
        start = [f"{name}={quoted(value)}" for name, value in self.variables.items()]
        start += map(quoted, self._program())
        lines = [f"# {' '.join(start)} --config FILE.yaml"]
        for flag, *values in self._groups()[1:]:
            head, equals, inline = flag.partition("=")
            lines += _yaml(self._long(head), [inline] if equals else values)
        return "".join(f"{line}\n" for line in lines)

    def _long(self, flag: str) -> str:
        """A flag as a key of a file: without dashes, and not in its short form."""
        if not flag.startswith("--"):
            known = next((info.name for info in flag_table(self.engine).values() if flag in info.aliases), flag)
            flag = spelling(self.engine, known, self.release)
        return flag.lstrip("-")

    @property
    def takes_config(self) -> bool:
        """True if this release reads a file of flags."""
        return self.release in flag_releases(self.engine) and bool(
            spelled(self.engine, "--config", release=self.release)
        )

    def _program(self) -> tuple[str, ...]:
        models = (word for part in self.parts if part.kind == "model" for word in part.written)
        return (*_PROGRAMS[self.engine], *models)

    def _groups(self) -> list[tuple[str, ...]]:
        """The program, then the words of every flag."""
        groups, keys = [self._program()], self.speculative
        for part in self.parts:
            if part.kind == "flag":
                groups.append(part.written)
            elif part.kind == "key" and keys:
                groups.append((SPECULATIVE, json.dumps(keys)))
                keys = {}
        return groups


def spelling(engine: str, name: str, release: str) -> str:
    """How a release spells a flag: its newest name, else another one that release has."""
    info: FlagInfo | None = flag_table(engine).get(name)
    if info is None or release in info.seen[name]:
        return name
    return next((alias for alias in info.aliases if alias.startswith("--") and release in info.seen[alias]), name)


def has_flag(engine: str, name: str, release: str) -> bool:
    """True if a release has a flag under any spelling."""
    info = flag_table(engine).get(name)
    return info is not None and any(release in releases for releases in info.seen.values())


def quoted(word: str) -> str:
    """A word as a shell wants it; a variable in it stays one."""
    if not _VARIABLE.search(word):
        return shlex.quote(word)
    escaped = re.sub(r'([\\"`])', r"\\\1", word)
    return f'"{escaped}"'


def _yaml(key: str, values: list[str]) -> list[str]:
    if not values:
        return [f"{key}: true"]
    if len(values) > 1:
        return [f"{key}:", *(f"  - {_scalar(value)}" for value in values)]
    return [f"{key}: {_scalar(values[0])}"]


def _scalar(value: str) -> str:
    if _PLAIN_YAML.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    if "\n" in value or not value.isprintable():
        return json.dumps(value)
    return "'" + value.replace("'", "''") + "'"
