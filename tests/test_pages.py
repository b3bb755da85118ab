"""Manual pages, the list of rules and what is known of engines: taken from the modules and the facts themselves."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from drafter_lint import cli, pages
from drafter_lint.errors import UsageError
from drafter_lint.facts import Profile, parse_profile
from drafter_lint.renderers import RENDERERS
from drafter_lint.renderers.style import Style
from drafter_lint.rule import Rule
from drafter_lint.rules import all_rules

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROFILE = """
read = ["1.0", "1.1", "2.0"]
run = ["2.0"]
[fact."eagle3.fc-width"]
file = "models/eagle3.py"
symbol = "Model"
observed = [
  { first = "1.0", last = "1.1", value = "hidden" },
  { first = "2.0", last = "2.0", value = "target", how = "run" },
]
[fact.methods]
observed = [{ first = "1.0", last = "2.0", value = ["EAGLE"], file = "a.py", symbol = "b", how = "inferred" }]
"""


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Profile:
    """An engine of our own making, the only one."""
    known = parse_profile("acme", PROFILE)
    monkeypatch.setattr(pages, "engines", lambda: ("acme",))
    monkeypatch.setattr(pages, "profile", lambda _: known)
    return known


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
@pytest.mark.parametrize("width", [72, 140])
def test_every_rule_has_a_page_that_fits(rule: Rule[object], width: int) -> None:
    lines = pages.page(rule.code, Style(width=width)).splitlines()
    assert lines[0] == f"{rule.code} {rule.name}"
    assert lines[1].strip() == rule.page.partition("\n")[0] or len(lines[1]) <= width
    for heading in ("What it checks", "Why it bites", "Fix"):
        assert heading in lines
        assert lines[lines.index(heading) - 1] == ""
        assert lines[lines.index(heading) + 1].startswith("  ")
    kept = ("|", "-", "    ", "`")
    assert [line for line in lines if len(line) > width and not line.strip().startswith(kept)] == []
    said = " ".join(" ".join(lines).split())
    for word in rule.page.split():
        assert word in said or word == "##"


def test_codes_and_names_are_the_same_in_any_case() -> None:
    assert pages.page("dfl401", Style()) == pages.page("eagle3-run-as-EAGLE", Style())


def test_lists_and_code_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Title.\n\n## What it checks\none\ntwo\n\n- a\n- b\n\n    code x\n\n## Fix\n| a | b |\n| - | - |\n"
    rule = all_rules()[0]
    made = Rule(
        code="DFL998",
        name="made-up",
        outcome=rule.outcome,
        scope=rule.scope,
        drafters=rule.drafters,
        check=rule.check,
        page=text,
    )
    monkeypatch.setattr(pages, "all_rules", lambda: (made,))
    said = pages.page("made-up", Style())
    assert "\nWhat it checks\n  one two\n\n  - a\n  - b\n\n      code x\n\nFix\n  | a | b |\n  | - | - |\n" in said


def test_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no rule called 'eagle3-as-eagle'; nearest: eagle3-run-as-eagle"):
        pages.find_rule("eagle3-as-eagle")
    with pytest.raises(UsageError, match="drafter-lint rules lists them"):
        pages.find_rule("zzzzzzzzzzzz")


@pytest.mark.parametrize("word", ["DFL401", "dfl401", "DFL4", "DFL", "eagle3-run-as-eagle"])
def test_a_selection_of_something_is_fine(word: str) -> None:
    pages.check_selection((word,))


@pytest.mark.parametrize("word", ["DFL9999", "eagle3-run-as-eagl", "X401"])
def test_a_selection_of_nothing_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="no rule called"):
        pages.check_selection(("DFL401", word))


@pytest.mark.parametrize("width", [80, 140])
def test_the_list_holds_every_rule_once(width: int) -> None:
    said = pages.rule_list("text", Style(width=width))
    assert [line for line in said.splitlines() if len(line) > width] == []
    for rule in all_rules():
        assert said.count(f"  {rule.code}  {rule.name} ") == 1
    for family in {rule.family for rule in all_rules()}:
        assert f"{family}xx {pages.FAMILIES[family]}\n" in said


def test_the_list_as_json() -> None:
    rows = json.loads(pages.rule_list("json", Style()))
    assert [row["code"] for row in rows] == [rule.code for rule in all_rules()]
    assert set(rows[0]) == {"code", "name", "family", "outcome", "scope", "title"}


@pytest.mark.usefixtures("acme")
def test_what_is_known_of_an_engine() -> None:
    assert pages.engine_list("text", Style()).splitlines() == [
        "acme 1.0 to 2.0",
        "  read   1.0, 1.1, 2.0",
        "  run    2.0",
        "  facts  2 in 3 observations: 1 run, 1 read, 1 inferred",
    ]


@pytest.mark.usefixtures("acme")
def test_what_is_known_of_an_engine_as_json() -> None:
    assert json.loads(pages.engine_list("json", Style())) == [
        {
            "engine": "acme",
            "oldest": "1.0",
            "newest": "2.0",
            "read": ["1.0", "1.1", "2.0"],
            "run": ["2.0"],
            "facts": 2,
            "observations": 3,
            "by": {"run": 1, "read": 1, "inferred": 1},
        }
    ]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The script that writes the generated documents."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "scripts" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_documents_are_current(generate: ModuleType) -> None:
    stale = [path.name for path, text in generate.documents().items() if path.read_text("utf-8") != text]
    assert stale == [], "run scripts/generate.py"


def test_a_marker_without_an_end_is_a_mistake(generate: ModuleType) -> None:
    with pytest.raises(ValueError, match="has no end"):
        generate.refreshed("a\n<!-- generated: rules -->\nb\n")


def test_the_readme_shows_the_founding_mistake() -> None:
    shown = (ROOT / "README.md").read_text("utf-8").partition("<!-- generated: check -->")[2]
    shown = shown.partition("<!-- end: check -->")[0]
    assert "error[DFL401] eagle3-run-as-eagle: " in shown
    assert " = fix: " in shown.replace("  ", " ")
    assert str(ROOT) not in shown


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_speak_of_what_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    commands = set(re.findall(r"[`$|] ?drafter-lint ([a-z]+)\b", text))
    assert commands <= set(cli.cli.commands)
    for target in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (path.parent / target).exists(), target
    for target in re.findall(r"`((?:drafter_lint|fixtures|schemas|scripts|docs)/[\w./-]*)`", text):
        assert (ROOT / target).exists(), target
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        ast.parse(block)


def test_the_readme_gives_every_format_and_exit_code() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in RENDERERS if f"`{name}`" not in text] == []
    codes = (0, 1, cli.EXIT_USAGE, cli.EXIT_UNKNOWN, cli.EXIT_INTERNAL, cli.EXIT_INTERRUPTED)
    assert [int(code) for code in re.findall(r"^\| (\d+) \| ", text, re.MULTILINE)] == list(codes)
