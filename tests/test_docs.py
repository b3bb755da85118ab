"""The documents: every command and every line of Python in them runs, and the pictures and pages are current."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import documents
import test_cases
from documents import ROOT, Block, agrees, blocks, examples, run
from drafter_lint.rules import all_rules

#: What a fence may say: only the first two may hold what a reader would run.
KINDS = ("console", "python", "sh", "text", "toml", "json", "yaml", "")
CONSOLE, PYTHON, SHELL, DATA = (
    [block for document in documents.DOCUMENTS for block in blocks(document, *kinds)]
    for kinds in (("console",), ("python",), ("sh",), ("toml", "json"))
)
WORDS = (
    "drafter", "target", "accept length", "auxiliary hidden states", "boundary", "dialect", "layout", "d2t", "t2d",
    "draft vocabulary", "fc", "head", "hook", "runner", "observed", "bracketed", "extrapolated", "ambiguous", "outcome",
    "confidence", "verdict", "recipe", "case", "truth", "plan", "need", "deed",
)  # fmt: skip


def script(name: str) -> ModuleType:
    """A script of the repository."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def rule_pages() -> Mapping[str, str]:
    """The page of every rule, with its cases judged; made once."""
    made: Mapping[str, str] = script("rule_pages").pages()
    return made


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are typed into a POSIX shell")
@pytest.mark.parametrize("block", CONSOLE, ids=lambda block: block.name)
def test_a_command_prints_what_the_document_shows(block: Block, tmp_path: Path) -> None:
    given = examples(block)
    for example, printed in zip(given, run([item.command for item in given], tmp_path), strict=True):
        assert "internal error" not in printed
        if not agrees(example.output, printed):
            assert example.output == printed, "if the change is meant: python scripts/examples.py"


def test_console_blocks_hold_commands_of_ours() -> None:
    assert len(CONSOLE) > 10
    for block in CONSOLE:
        assert block.text.startswith("$ "), block.name
        assert "drafter-lint" in block.text, block.name


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.name)
def test_python_runs_and_prints_what_the_document_shows(block: Block, tmp_path: Path) -> None:
    span = documents.printed_span(block)
    shown = block.document.read_text("utf-8")[slice(*span)] if span else ""
    assert shown == documents.run_python(block, tmp_path)


def test_python_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    assert PYTHON
    for number, block in enumerate(PYTHON):
        named = f"{block.document.stem}_{number}".replace("-", "_").lower()
        (tmp_path / f"{named}.py").write_text(block.text, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout


def test_what_would_be_run_stands_where_it_is_run() -> None:
    """A command of ours outside a console block would be run by readers and by nobody else."""
    for document in documents.DOCUMENTS:
        for block in blocks(document):
            assert block.kind in KINDS, block.name
            if block.kind in ("sh", ""):
                assert not re.search(r"^\s*(\$ )?drafter-lint ", block.text, re.MULTILINE), block.name


def test_shell_blocks_name_targets_of_the_makefile() -> None:
    rules = (ROOT / "Makefile").read_text("utf-8")
    wanted = {word for block in SHELL for word in re.findall(r"^(?:\$ )?make (\w+)", block.text, re.MULTILINE)}
    assert {"demo", "test"} <= wanted
    assert [word for word in wanted if not re.search(rf"^{word}:", rules, re.MULTILINE)] == []


@pytest.mark.parametrize("block", DATA, ids=lambda block: block.name)
def test_data_can_be_read(block: Block) -> None:
    assert tomllib.loads(block.text) if block.kind == "toml" else json.loads(block.text)


def test_the_pictures_show_what_is_printed() -> None:
    pictures = script("pictures")
    stale = [path.name for path, text in pictures.pictures().items() if path.read_text("utf-8") != text]
    assert stale == [], "run scripts/pictures.py"


@pytest.mark.parametrize("document", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=lambda path: path.name)
def test_the_pictures_are_shown(document: Path) -> None:
    text = document.read_text("utf-8")
    assert [drawn.name for drawn in script("pictures").PICTURES if f"pictures/{drawn.name}" not in text] == []


def test_links_lead_somewhere() -> None:
    pages = {ROOT / "docs" / name for name in rule_pages()}
    for document in documents.DOCUMENTS:
        text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            place = (document.parent / target).resolve()
            assert place.exists() or place in pages, f"{document.name}: {target}"


def test_every_page_is_in_the_site() -> None:
    listed = (ROOT / "mkdocs.yml").read_text("utf-8")
    paths = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [path for path in paths if not re.search(rf"[ \[]{re.escape(path)}\b", listed)] == []


def test_a_page_for_every_rule() -> None:
    pages = rule_pages()
    assert list(pages) == [f"rules/{rule.code}.md" for rule in all_rules()]
    for rule in all_rules():
        page = pages[f"rules/{rule.code}.md"]
        assert page.startswith(f"# {rule.code} {rule.name}\n")
        for line in rule.page.splitlines():
            assert line in page
        for path in test_cases.CASES:
            if path.parent.name == rule.code:
                assert f'"{path.name}"' in page
                assert tomllib.loads(path.read_text("utf-8"))["about"] in page


def test_a_page_shows_what_is_said_of_its_cases() -> None:
    page = rule_pages()["rules/DFL401.md"]
    bad = page.partition("### Found")[2].partition("### Not found")[0]
    assert bad.count("error[DFL401] eagle3-run-as-eagle: ") == len(list((ROOT / "fixtures/cases/DFL401").glob("bad-*")))


def test_the_list_of_rules_leads_to_their_pages() -> None:
    pages = script("rule_pages")

    class Page:
        class file:  # noqa: N801 - as mkdocs names it
            src_uri = "rules.md"

    text = pages.on_page_markdown((ROOT / "docs" / "rules.md").read_text("utf-8"), Page, None, None)
    assert re.findall(r"\]\((rules/DFL\d{3}\.md)\)", text) == list(rule_pages())


def test_the_glossary_has_the_words() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    words = re.findall(r"^\| (.+?) \|", text, re.MULTILINE)[2:]
    assert [word for word in WORDS if word not in words] == []
    assert words == sorted(words, key=str.lower)


def test_an_abridged_example_shows_parts_in_order() -> None:
    printed = "a\nb\nc\nd\n"
    assert agrees("a\n...\nd\n", printed)
    assert agrees("...\nb\nc\n...\n", printed)
    assert agrees("a\nb\nc\nd\n", printed)
    assert not agrees("a\nd\n", printed)
    assert not agrees("...\nc\n...\nb\n...\n", printed)
    assert not agrees("b\n...\n", printed)
    assert not agrees("...\nc\n", printed)
    assert not agrees("...\n", printed)
