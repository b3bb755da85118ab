"""One page of the site for every rule, from its module's docstring and its cases; a hook of mkdocs.

The pages are made when the site is built and are not kept: a rule's module and its cases are the only places to edit.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import test_cases
from drafter_lint.pages import FAMILIES, looks_at
from drafter_lint.renderers import render
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Cost, Report, Subject
from drafter_lint.rule import Rule
from drafter_lint.rules import all_rules

WIDTH = 92
_NOTHING = Cost(requests=0, bytes=0, seconds=0.0)


class Files(Protocol):
    """The files mkdocs is about to build."""

    def append(self, file: object) -> None:
        """Add one."""


class Page(Protocol):
    """The page mkdocs is building."""

    @property
    def file(self) -> Place:
        """Its file."""


class Place(Protocol):
    """A file of the site."""

    src_uri: str


def pages() -> Mapping[str, str]:
    """The page of every rule, by its place in ``docs/``."""
    return {f"rules/{rule.code}.md": page(rule) for rule in all_rules()}


def page(rule: Rule[object]) -> str:
    """What the rule is, as its module says it, and what its cases show."""
    title, _, body = rule.page.partition("\n")
    facts = f"| {rule.outcome.value} | {looks_at(rule)} | {FAMILIES[rule.family]} | `{rule.name}` |\n"
    table = f"| outcome | looks at | family | by name |\n| --- | --- | --- | --- |\n{facts}"
    parts = [
        f"# {rule.code} {rule.name}\n\n{title.strip()}\n\n{table}",
        re.sub(r"(?m)^(## .*)\n(?=\S)", r"\1\n\n", body.strip()) + "\n",
        f"## Cases\n\nFrom `fixtures/cases/{rule.code}/`; each is checked with every rule whenever the tests run.\n",
    ]
    paths = [path for path in test_cases.CASES if path.parent.name == rule.code]
    for heading, start in (("Found", "bad-"), ("Not found", "good-")):
        shown = ["\n".join(_case(path)) for path in paths if path.name.startswith(start)]
        if shown:
            parts += [f"### {heading}\n", *shown]
    return "\n".join(parts)


def _case(path: Path) -> Iterator[str]:
    case = test_cases.read(path)
    text = path.read_text("utf-8").strip()
    about = re.sub(r'\Aabout = "(.*)"\n', "", text)
    engine = f" (`{case.engine}`)" if case.engine else ""
    yield f"**{_about(text)}**{engine}\n"
    if case.bad:
        yield from _said(case)
    yield f'??? example "{path.name}"\n'
    yield from ("    " + line if line else "" for line in ["```toml", *about.split("\n"), "```"])
    yield ""


def _about(text: str) -> str:
    found = re.match(r'about = "(.*)"\n', text)
    if not found:
        raise ValueError(f"a case begins with what it is about: {text[:80]!r}")
    return found[1]


def _said(case: test_cases.Case) -> Iterator[str]:
    """What the rule says of a case, as the text report has it."""
    result = test_cases.run(case)
    own = tuple(item for item in result.findings if item.code == case.code)
    if own:
        check = Check(
            drafter=Subject(role="drafter", spelling="", name=""),
            target=None,
            engine=None,
            request=test_cases.request(case),
            recognition=None,
            target_read=None,
            plans=(),
            findings=own,
            not_checked=(),
            checked=1,
        )
        said = render(Report(checks=(check,), cost=_NOTHING), "text", Style(width=WIDTH, quiet=True))
        yield f"```text\n{said.strip()}\n```\n".replace("\n\n```", "\n```")
    for skip in result.skips:
        if skip.code == case.code:
            yield f"Not checked: {skip.reason}.\n"


def on_config(config: dict[str, object]) -> dict[str, object]:
    """Put the pages of the rules behind the list of rules, by family."""
    nav = config["nav"]
    if isinstance(nav, list):
        section = next(entry["Rules"] for entry in nav if isinstance(entry, dict) and "Rules" in entry)
        for family, rules in groupby(all_rules(), key=lambda rule: rule.family):
            listed = [{f"{rule.code} {rule.name}": f"rules/{rule.code}.md"} for rule in rules]
            section.append({f"{family}xx {FAMILIES[family]}": listed})
    return config


def on_files(files: Files, config: object) -> Files:
    """Hand the pages of the rules to mkdocs."""
    make = import_module("mkdocs.structure.files").File.generated
    for place, text in pages().items():
        files.append(make(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: object, files: object) -> str:  # noqa: ARG001 - as mkdocs calls it
    """Link every code in the list of rules to its page, and name what a page links to outside the site."""
    deep = page.file.src_uri.count("/") + 1
    markdown = re.sub(rf"\[[^\]]*\]\((?:\.\./){{{deep}}}([^)]*)\)", r"`\1`", markdown)
    if page.file.src_uri != "rules.md":
        return markdown
    return re.sub(r"(?m)^\| (DFL\d{3}) \|", r"| [\1](rules/\1.md) |", markdown)
