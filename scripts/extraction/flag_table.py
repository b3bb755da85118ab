"""The table of an engine's flags over the releases read: schemas/flags, as rows and as text."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from packaging.version import Version

from extraction.flags import Definition

# What the launch parser reads from a flag, by the flag's newest canonical name. Everything else is only recognised.
FIELDS = {
    "sglang": {
        "--model-path": "target",
        "--speculative-algorithm": "method",
        "--speculative-draft-model-path": "drafter",
        "--speculative-num-steps": "num_steps",
        "--speculative-eagle-topk": "topk",
        "--speculative-num-draft-tokens": "num_draft_tokens",
        "--tensor-parallel-size": "tensor_parallel",
        "--tp-size": "tensor_parallel",
        "--quantization": "quantization",
        "--speculative-draft-model-quantization": "draft_quantization",
        "--dtype": "dtype",
        "--context-length": "context_length",
        "--revision": "revision",
        "--speculative-draft-model-revision": "draft_revision",
    },
    "vllm": {
        "--model": "target",
        "--spec-method": "method",
        "--spec-model": "drafter",
        "--spec-tokens": "num_speculative_tokens",
        "--tensor-parallel-size": "tensor_parallel",
        "--quantization": "quantization",
        "--dtype": "dtype",
        "--max-model-len": "context_length",
        "--revision": "revision",
    },
}


@dataclass
class Row:
    """One flag over the releases read."""

    kind: str
    negatable: bool
    seen: dict[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class FlagTable:
    """What every release read defines, oldest first."""

    engine: str
    releases: dict[str, list[Definition]]

    @classmethod
    def parsed(cls, text: str) -> FlagTable:
        """The table back from its TOML: of each flag, what every release that has it calls it."""
        raw = tomllib.loads(text)
        versions: list[str] = raw["read"]
        releases: dict[str, list[Definition]] = {version: [] for version in versions}
        for name, row in raw["flag"].items():
            own = _released(row.get("seen", ""), versions)
            seen = {name: own} | {
                alias: _released(span, versions) if span else own for alias, span in row.get("aliases", {}).items()
            }
            for version in versions:
                if names := tuple(spelling for spelling, when in seen.items() if version in when):
                    releases[version].append(Definition(names, row["kind"], row.get("negatable", False)))
        return cls(raw["engine"], releases)

    def beside(self, version: str, defined: Sequence[Definition]) -> FlagTable:
        """The table with one more release, or with that release read again."""
        releases = {**self.releases, version: list(defined)}
        return FlagTable(self.engine, dict(sorted(releases.items(), key=lambda item: Version(item[0]))))

    def spellings(self, version: str) -> set[str]:
        """Every spelling a release has."""
        return {name for found in self.releases[version] for name in found.names}

    def text(self) -> str:
        """The TOML."""
        return render(self.engine, list(self.releases), merge(list(self.releases.values())))


def _released(text: str, versions: list[str]) -> set[str]:
    return set(_runs(text, versions)) if text else set(versions)


def _runs(text: str, versions: list[str]) -> Iterator[str]:
    for run in text.split():
        first, _, last = run.partition("..")
        yield from versions[versions.index(first) : versions.index(last) + 1]


def merge(releases: list[list[Definition]]) -> dict[str, Row]:
    """One row a flag, named as the newest release that has it names it."""
    rows: dict[str, Row] = {}
    home: dict[str, str] = {}
    for index in reversed(range(len(releases))):
        for found in releases[index]:
            main_name = next((name for name in found.names if name.startswith("--")), found.names[0])
            owner = main_name if main_name in rows else home.get(main_name, main_name)
            row = rows.setdefault(owner, Row(found.kind, found.negatable))
            for name in (main_name, *found.names):
                row.seen.setdefault(name, set()).add(index)
                home.setdefault(name, owner)
    return dict(sorted(rows.items()))


def spans(seen: set[int], versions: list[str]) -> str:
    """The runs of releases a spelling was seen in: "0.5.2..0.5.9 0.5.12..0.5.23"."""
    runs: list[list[int]] = []
    for index in sorted(seen):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return " ".join(f"{versions[run[0]]}..{versions[run[-1]]}" for run in runs)


def render(engine: str, versions: list[str], rows: dict[str, Row]) -> str:
    head = f'# Written by scripts/release.py from the argparse definitions of {engine}; "seen" is left out where\n'
    head += f"# every release read has the spelling.\nengine = {json.dumps(engine)}\n"
    head += f"read = {json.dumps(versions)}\n\n[flag]\n"
    lines = []
    for name, row in rows.items():
        parts = [f"kind = {json.dumps(row.kind)}"]
        if row.negatable:
            parts.append("negatable = true")
        if name in FIELDS[engine]:
            parts.append(f"field = {json.dumps(FIELDS[engine][name])}")
        if len(row.seen[name]) < len(versions):
            parts.append(f"seen = {json.dumps(spans(row.seen[name], versions))}")
        others = {
            alias: "" if seen == row.seen[name] else spans(seen, versions)
            for alias, seen in sorted(row.seen.items())
            if alias != name
        }
        if others:
            table = ", ".join(f"{json.dumps(alias)} = {json.dumps(span)}" for alias, span in others.items())
            parts.append(f"aliases = {{ {table} }}")
        lines.append(f"{json.dumps(name)} = {{ {', '.join(parts)} }}\n")
    return head + "".join(lines)
