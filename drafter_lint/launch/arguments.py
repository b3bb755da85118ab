"""A command's flags read as argparse reads them: which flag a word means, and which words are its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from drafter_lint.findings import Located, Location
from drafter_lint.launch.flags import FlagInfo, understood
from drafter_lint.launch.words import Line, Span

# Words argparse takes for values although they start with a dash (argparse.ArgumentParser._negative_number_matcher).
_NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One flag as given.

    Attributes:
        flag: what it means.
        keys: the dotted part ("--speculative-config.method" has ("method",)).
        spelling: as typed, without a value.
        place: the flag's own characters.
        values: what follows it, in the same word or the next ones.
    """

    flag: FlagInfo
    keys: tuple[str, ...] = ()
    spelling: str
    place: Span
    values: tuple[Span, ...] = ()

    @property
    def name(self) -> str:
        """The canonical spelling, dotted part included."""
        return ".".join((self.flag.name, *self.keys))


@dataclass(slots=True)
class Arguments:
    """What a walk over the words found."""

    given: list[Given] = field(default_factory=list)
    positional: list[Span] = field(default_factory=list)
    unknown: list[Located[str]] = field(default_factory=list)
    problems: list[tuple[Location, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Flag:
    """A word that is a flag: the candidates it can mean, none when no table knows it."""

    candidates: tuple[FlagInfo, ...]
    spelling: str
    keys: tuple[str, ...] = ()
    inline: int | None = None  # where the value starts inside the word


def walk(line: Line, *, engine: str, start: int) -> Arguments:
    """Read the words from ``start`` on. Every word ends up in exactly one place; nothing is judged by version."""
    found = Arguments()
    words = line.words
    index = start
    loose = False  # words here may belong to a flag that is not known
    while index < len(words):
        if words[index] == "--":
            found.positional += [line.whole(rest) for rest in range(index + 1, len(words))]
            break
        flag = _flag(words[index], engine, words[index + 1] if index + 1 < len(words) else "")
        if flag is None:
            if not loose:
                found.positional.append(line.whole(index))
            index += 1
            continue
        ahead = index + 1
        while ahead < len(words) and words[ahead] != "--" and _flag(words[ahead], engine, "") is None:
            ahead += 1
        loose = len(flag.candidates) != 1 and flag.inline is None
        index += 1 + _take(found, line, index=index, flag=flag, free=ahead - index - 1)
    return found


def _take(found: Arguments, line: Line, *, index: int, flag: _Flag, free: int) -> int:
    """Put one flag where it belongs; returns how many of the ``free`` words after it are its values."""
    place = Span(index, 0, len(flag.spelling))
    if not flag.candidates:
        found.unknown.append(line.located(place))
        return 0 if flag.inline is not None else min(free, 1)
    if len(flag.candidates) > 1:
        names = ", ".join(info.name for info in flag.candidates)
        found.problems.append((line.at(place), f"one flag; {flag.spelling} abbreviates {names}"))
        takes_one = all(info.kind != "switch" for info in flag.candidates)
        return min(free, 1) if takes_one and flag.inline is None else 0
    info = flag.candidates[0]
    inline = () if flag.inline is None else (Span(index, flag.inline, len(line.words[index])),)
    count, values = _values(line, info=info, flag=flag, index=index, free=free)
    if inline and info.kind == "switch":
        found.problems.append((line.at(inline[0]), f"no value: {info.name} is a switch"))
    elif not (inline or values) and info.kind not in {"switch", "optional-value"}:
        found.problems.append((line.at(place), f"a value after {flag.spelling}"))
    else:
        found.given.append(
            Given(flag=info, keys=flag.keys, spelling=flag.spelling, place=place, values=inline or values)
        )
    return count


def _values(line: Line, *, info: FlagInfo, flag: _Flag, index: int, free: int) -> tuple[int, tuple[Span, ...]]:
    if flag.inline is not None or info.kind == "switch":
        return 0, ()
    many = info.kind == "many-values" and not flag.keys
    # Behind a dotted flag vLLM takes the next word whatever it looks like (vllm 0.33.0, utils/argparse_utils.py,
    # FlexibleArgumentParser.parse_args).
    room = len(line.words) - index - 1 if flag.keys else free
    count = room if many else min(room, 1)
    return count, tuple(line.whole(index + 1 + step) for step in range(count))


def _flag(word: str, engine: str, following: str) -> _Flag | None:
    """What a word is as a flag; None for a word that is a value.

    The order is that of argparse.ArgumentParser._parse_optional: exact, ``=``, prefix, number, blank, unknown.
    """
    if not word.startswith("-") or len(word) == 1:
        return None
    if engine == "vllm" and word.startswith("-O"):
        return _optimisation(word, following)
    name, equals, _ = word.partition("=")
    inline = len(name) + 1 if equals else None
    head, *keys = name.split(".") if engine == "vllm" else [name]
    candidates = understood(engine, head)
    if candidates and not keys:
        return _Flag(candidates, name, (), inline)
    if len(candidates) == 1:
        return _Flag(candidates, name, tuple(keys), inline)
    short = understood(engine, word[:2]) if not word.startswith("--") else ()
    if len(short) == 1 and word[:2] in (short[0].name, *short[0].aliases):
        return _Flag(short, word[:2], (), 2)  # -n4
    if _NEGATIVE_NUMBER.fullmatch(word) or " " in word:
        return None
    return _Flag((), name, (), inline)


def _optimisation(word: str, following: str) -> _Flag | None:
    """Read vLLM's -O: a level in the same word or the next one, or JSON keys (vllm 0.33.0, FlexibleArgumentParser)."""
    level, config = understood("vllm", "--optimization-level"), understood("vllm", "--compilation-config")
    if word == "-O":
        return _Flag(level if following in {"0", "1", "2", "3"} else config, word)
    if word[2] == ".":
        name, equals, _ = word.partition("=")
        return _Flag(config, name, tuple(name.split(".")[1:]), len(name) + 1 if equals else None)
    return _Flag(level, "-O", (), 3 if word[2] == "=" else 2)
