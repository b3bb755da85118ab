"""The flags of the engines: what each is called, how many words follow it, and which releases have it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypedDict

from drafter_lint.facts import schemas

Kind = Literal["value", "switch", "json", "optional-value", "many-values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagInfo:
    """One flag over the releases read.

    Attributes:
        name: the spelling the newest release that has it puts first ("--tp-size").
        aliases: its other spellings, from every release; negated ones ("--no-enable-lora") included.
        kind: what follows it on the command line.
        field: the field of ``LaunchRequest`` it fills, "" if none.
        first: the oldest release read that has it under its name or an alias.
        last: the newest one; older than the newest release read when the flag was removed.
        seen: the releases that have each spelling.
    """

    name: str
    aliases: tuple[str, ...]
    kind: Kind
    field: str
    first: str
    last: str
    seen: Mapping[str, frozenset[str]]


class _Row(TypedDict, total=False):
    kind: Kind
    negatable: bool
    field: str
    seen: str
    aliases: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Table:
    releases: tuple[str, ...]
    flags: Mapping[str, FlagInfo]
    spellings: Mapping[str, FlagInfo]


def flag_table(engine: str) -> Mapping[str, FlagInfo]:
    """Every flag some release of an engine has, by its newest name."""
    return _table(engine).flags


def flag_releases(engine: str) -> tuple[str, ...]:
    """The releases whose flags were read, oldest first."""
    return _table(engine).releases


def spelled(engine: str, spelling: str, *, release: str) -> tuple[str, ...]:
    """The names of the flags that one release reads in a spelling: none, one, or several.

    A release reads what its own argparse does: an exact spelling, or a prefix. Several names mean that it stops with
    "ambiguous option". vLLM turns underscores into dashes first (vllm 0.8.5 to 0.33.0, FlexibleArgumentParser.
    parse_args); SGLang has argparse alone, where ``--speculative_algorithm`` is unknown.

    Args:
        engine: "sglang" or "vllm".
        spelling: as typed, without a value and without the dotted part ("--speculative-algo").
        release: one of :func:`flag_releases`.

    Raises:
        ValueError: the release was not read.
    """
    table = _table(engine)
    if release not in table.releases:
        raise ValueError(f"the flags of {engine} {release} were not read")
    present = _present(engine)[release]
    word = dashed(spelling) if engine == "vllm" else spelling
    if word in present:
        return (present[word],)
    return tuple(sorted({name for known, name in present.items() if _starts(known, word)}))


@lru_cache(maxsize=4096)
def understood(engine: str, spelling: str) -> tuple[FlagInfo, ...]:
    """The flags a spelling can mean to any release read: none, the one, or the candidates of an ambiguous prefix.

    A prefix means the one flag that some release reads in it, as long as no other release reads another one:
    ``--speculative-draft`` is ``--speculative-draft-model-path`` up to sglang 0.5.1.post3 and ambiguous after.
    """
    table = _table(engine)
    word = dashed(spelling)
    if word in table.spellings:
        return (table.spellings[word],)
    candidates = {info.name: info for known, info in table.spellings.items() if _starts(known, word)}
    if len(candidates) > 1:
        readings = {spelled(engine, word, release=release) for release in table.releases}
        certain = {reading for reading in readings if len(reading) == 1}
        if len(certain) == 1:
            return (table.flags[certain.pop()[0]],)
    return tuple(candidates[name] for name in sorted(candidates))


def dashed(spelling: str) -> str:
    """A spelling with dashes for underscores, the dotted part left alone."""
    head, dot, keys = spelling.partition(".")
    return (head.replace("_", "-") if head.startswith("--") else head) + dot + keys


def _starts(known: str, word: str) -> bool:
    return len(word) > (2 if word.startswith("--") else 1) and known.startswith(word)


@cache
def _present(engine: str) -> Mapping[str, Mapping[str, str]]:
    """By release: the spellings it has, and the names of their flags."""
    table = _table(engine)
    present: dict[str, dict[str, str]] = {release: {} for release in table.releases}
    for info in table.flags.values():
        for spelling, releases in info.seen.items():
            for release in releases:
                present[release][spelling] = info.name
    return present


@cache
def _table(engine: str) -> _Table:
    raw = tomllib.loads((schemas() / "flags" / f"{engine}.toml").read_text("utf-8"))
    releases = tuple(str(release) for release in raw["read"])
    rows: dict[str, _Row] = raw["flag"]
    flags = {name: _info(name, row, releases) for name, row in rows.items()}
    spellings: dict[str, FlagInfo] = {}
    # Where two flags had one spelling (vLLM's -O) the one that had it last keeps it, and a name beats an alias.
    for info in flags.values():
        for alias in info.aliases:
            held = spellings.get(alias)
            if held is None or _latest(held, alias, releases) < _latest(info, alias, releases):
                spellings[alias] = info
    return _Table(releases, flags, {**spellings, **flags})


def _latest(info: FlagInfo, spelling: str, releases: tuple[str, ...]) -> int:
    return max(releases.index(release) for release in info.seen[spelling])


def _info(name: str, row: _Row, releases: tuple[str, ...]) -> FlagInfo:
    own = _span(row.get("seen", ""), releases)
    seen = {name: own}
    for alias, span in row.get("aliases", {}).items():
        seen[alias] = _span(span, releases) if span else own
    if row.get("negatable", False):
        seen |= {f"--no-{known[2:]}": when for known, when in seen.items() if known.startswith("--")}
    ever = sorted(releases.index(release) for release in frozenset[str]().union(*seen.values()))
    return FlagInfo(
        name=name,
        aliases=tuple(spelling for spelling in seen if spelling != name),
        kind=row["kind"],
        field=row.get("field", ""),
        first=releases[ever[0]],
        last=releases[ever[-1]],
        seen=seen,
    )


@lru_cache(maxsize=1024)
def _span(text: str, releases: tuple[str, ...]) -> frozenset[str]:
    """The releases of "0.5.2..0.5.9 0.5.12..0.5.23"; all of them for ""."""
    if not text:
        return frozenset(releases)
    found: set[str] = set()
    for run in text.split():
        first, _, last = run.partition("..")
        found.update(releases[releases.index(first) : releases.index(last) + 1])
    return frozenset(found)
