"""A rule's manual page, the list of rules, and what is known of engines: from the modules and the facts themselves."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from drafter_lint.errors import UsageError
from drafter_lint.facts import Profile, engines, profile
from drafter_lint.findings import How
from drafter_lint.renderers.ink import paint, plain, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.rule import Rule
from drafter_lint.rules import all_rules

FAMILIES = {
    "0": "access",
    "1": "the drafter's own files",
    "2": "drafter against target",
    "3": "vocabulary",
    "4": "method and flags",
    "5": "weights in that engine",
    "6": "captured states",
    "7": "speed",
    "8": "provenance",
    "9": "settings",
}
SCOPES = {
    "reading": "a part that could not be read",
    "alone": "the drafter's own files",
    "pair": "drafter and target",
    "deployment": "the pair in one engine, at one version, with one set of flags",
    "stated": "a launch command as a document states it",
    "suppressing": "a suppression, and what it took away",
    "locked": "a checkpoint and what the lock file says of it",
}
_WIDER = {"pair": "the target", "deployment": "what the engine will do"}
HOWS: tuple[How, ...] = ("run", "read", "inferred")
_LITERAL = re.compile(r"^(\s*[-*|>] |\s*\d+\. |    |```)")


def find_rule(text: str) -> Rule[object]:
    """A rule by code or name.

    Raises:
        UsageError: nobody answers to it; names the nearest.
    """
    for rule in all_rules():
        if text.upper() == rule.code or text.lower() == rule.name:
            return rule
    raise UsageError(f"no rule called {text!r}{nearest_rules(text)}")


def check_selection(words: tuple[str, ...]) -> None:
    """Refuse a code, prefix or name that selects nothing: a check that runs no rule would look like a pass.

    Raises:
        UsageError: nobody answers to one of them.
    """
    for word in words:
        if not any(rule.code.startswith(word.upper()) or rule.name == word for rule in all_rules()):
            raise UsageError(f"no rule called {word!r}{nearest_rules(word)}")


def nearest_rules(text: str) -> str:
    """``; nearest: …`` for a word that names no rule."""
    names = {name.lower(): name for rule in all_rules() for name in (rule.code, rule.name)}
    near = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.6)
    return f"; nearest: {', '.join(names[name] for name in near)}" if near else "; drafter-lint rules lists them"


def page(text: str, style: Style) -> str:
    """A rule's manual page for a terminal."""
    rule = find_rule(text)
    title, _, body = rule.page.partition("\n")
    lines = [paint(f"{rule.code} {rule.name}", style, "bold"), *wrapped(title, style, first="  ", rest="  "), ""]
    facts = {"outcome": rule.outcome.value, "looks at": looks_at(rule), "family": FAMILIES[rule.family]}
    for word, said in facts.items():
        lines += wrapped(said, style, first=f"  {word:<10}", rest=" " * 12)
    for block in re.split(r"\n\s*\n|\n(?=## )", body.strip()):
        heading, _, rest = block.partition("\n") if block.startswith("## ") else ("", "", block)
        lines += ["", paint(heading.removeprefix("## "), style, "bold")] if heading else [""]
        lines += _paragraph(rest, style)
    return plain(lines, style)


def looks_at(rule: Rule[object]) -> str:
    """What a rule looks at, and what else where it is known."""
    wider = " and ".join(_WIDER[name] for name in rule.wider)
    return SCOPES[rule.scope] + (f"; {wider} where known" if wider else "")


def _paragraph(text: str, style: Style) -> Iterator[str]:
    """Prose is wrapped; lists, tables and code keep their lines."""
    lines = text.splitlines()
    if any(_LITERAL.match(line) for line in lines):
        yield from (f"  {line}" for line in lines)
    elif lines:
        yield from wrapped(" ".join(text.split()), style, first="  ", rest="  ")


def rule_list(format_: str, style: Style) -> str:
    """Every rule with its family, outcome and title."""
    if format_ == "json":
        rows = [
            {
                "code": rule.code,
                "name": rule.name,
                "family": FAMILIES[rule.family],
                "outcome": rule.outcome.value,
                "scope": rule.scope,
                "title": rule.title,
            }
            for rule in all_rules()
        ]
        return json.dumps(rows, indent=2) + "\n"
    width = max((len(rule.name) for rule in all_rules()), default=0)
    lines: list[str] = []
    for family, rules in groupby(all_rules(), key=lambda rule: rule.family):
        lines += ["", paint(f"{family}xx {FAMILIES[family]}", style, "bold")]
        for rule in rules:
            head = f"  {rule.code}  {rule.name:<{width}}  {rule.outcome.value:<8}"
            if style.width >= len(head) + 50:
                lines += wrapped(rule.title, style, first=f"{head}  ", rest=" " * (len(head) + 2))
            else:
                lines += [head, *wrapped(rule.title, style, first=" " * 10, rest=" " * 10)]
    if not style.quiet:
        lines += ["", f"{len(all_rules())} rules; drafter-lint explain CODE prints the page of one"]
    return plain(lines[1:], style)


def engine_facts(known: Profile) -> Mapping[str, object]:
    """What is known of an engine, counted."""
    rows = [row for entries in known.observations.values() for row in entries]
    hows = Counter(row.how for row in rows)
    return {
        "engine": known.engine,
        "oldest": str(known.oldest),
        "newest": str(known.newest),
        "read": [str(version) for version in known.read],
        "run": [str(version) for version in known.run],
        "facts": len(known.observations),
        "observations": len(rows),
        "by": {how: hows[how] for how in HOWS},
    }


def engine_list(format_: str, style: Style) -> str:
    """What is known of each engine."""
    known = [profile(name) for name in engines()]
    if format_ == "json":
        return json.dumps([engine_facts(item) for item in known], indent=2) + "\n"
    lines: list[str] = []
    for item in known:
        hows = Counter(row.how for entries in item.observations.values() for row in entries)
        lines += ["", paint(f"{item.engine} {item.oldest} to {item.newest}", style, "bold")]
        for word, versions in (("read", item.read), ("run", item.run)):
            said = ", ".join(map(str, versions)) or "none"
            lines += wrapped(said, style, first=f"  {word:<7}", rest=" " * 9)
        counts = ", ".join(f"{hows[how]} {how}" for how in HOWS)
        said = f"{len(item.observations)} in {sum(hows.values())} observations: {counts}"
        lines += wrapped(said, style, first="  facts  ", rest=" " * 9)
    return plain(lines[1:], style)
