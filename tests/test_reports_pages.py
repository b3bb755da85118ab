"""What people read: Markdown that no name can break out of, and a page that needs nothing and runs nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafter_lint.findings import Fix, Outcome, Skip
from drafter_lint.renderers import html, markdown
from drafter_lint.renderers.escaping import code, sound
from drafter_lint.renderers.escaping import markdown as prose
from drafter_lint.renderers.html_page import SCRIPT, STYLE
from drafter_lint.renderers.style import Style
from drafter_lint.report import Cost, Report
from made_reports import check, finding, founding, report, request
from many_reports import EVIL, REPORTS, hostile, local, many

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
MARKDOWN_TAGS = {"br", "details", "/details", "summary", "/summary", "sub", "/sub"}


def without_code(text: str) -> str:
    """Markdown with its code blocks and spans taken out, as CommonMark delimits them."""
    kept: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = re.match(r"`{3,}", line)
        if fence:
            fence = "" if mark and line == fence else fence
        elif mark:
            fence = mark[0]
        else:
            kept.append(re.sub(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)", "CODE", line))
    assert not fence
    return "\n".join(kept)


def safe(text: str) -> str:
    """Assert that nothing in some Markdown is obeyed but what the renderer wrote itself."""
    text.encode("utf-8")
    bare = without_code(text)
    for tag in re.findall(r"<([^>]*)>?", bare.replace("<!-- -->", "")):
        assert tag in MARKDOWN_TAGS
    assert not re.search(r"(?<!\\)[\[\]]|(?<!\\)!\[|://|www\.|[@#](?=[A-Za-z0-9])", bare)
    assert not re.search(r"(?<!\\)`", bare)
    rows = [line for line in bare.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {6}
    return bare


@pytest.mark.parametrize("name", REPORTS)
def test_markdown_is_bounded_and_safe(name: str) -> None:
    text = markdown.render(REPORTS[name], Style())
    assert len(text) < 65_536
    safe(text)
    assert markdown.render(REPORTS[name], Style(unicode=False)).isascii()


def test_markdown_says_verdict_cause_and_fix() -> None:
    text = markdown.render(REPORTS["one"], Style())
    assert text.startswith("### drafter-lint: 1 silent\n")
    assert "| `sglang 0.5.23` | **silent**: drafts wrong or useless | DFL401 |" in text
    assert "**DFL401 eagle3-run-as-eagle** (silent, certain)" in text
    assert "Fix: `--speculative-algorithm EAGLE3`" in text
    assert "fc.weight [7168, 21504], skipped when the widths happen to match" in text
    assert "38 checked, 0 not checked" in text


def test_markdown_lists_what_was_not_checked() -> None:
    text = markdown.render(REPORTS["mild"], Style())
    assert "- DFL801 trained-for-another-target (sglang 0.5.23): the card says nothing" in text
    assert "Not checked" not in markdown.render(REPORTS["mild"], Style(quiet=True))


def test_markdown_of_nothing() -> None:
    assert markdown.render(REPORTS["nothing"], Style()).startswith("### drafter-lint: nothing was checked\n")


def test_markdown_leaves_out_the_mildest_and_says_so() -> None:
    text = markdown.render(many(2000), Style())
    assert len(text) < 65_536
    said = re.search(r"^(\d+) findings more, none of them worse", text, re.MULTILINE)
    assert said
    assert int(said[1]) + text.count("**DFL401 ") == 2000
    assert "(refuses, certain)" in text
    assert "(hygiene, certain)" not in text


def test_a_survey_in_markdown_is_bounded_too() -> None:
    checks = [check(skips=(Skip("DFL801", "x", f"reason {n} {EVIL}"),), version=f"0.{n}") for n in range(500)]
    text = markdown.render(report(*checks, check(founding(), version="0.9999")), Style())
    assert len(text) < 65_536
    assert "401 rows more, none of them worse" in text
    assert "| `sglang 0.9999` | **silent**" in text


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_any_text_stays_text_in_markdown(text: str) -> None:
    made = check(finding(message=text, name=text, fix=Fix(text)), skips=(Skip("DFL801", text, text),))
    made = replace(local(made, text), request=replace(request(), argv=(text, text)))
    safe(markdown.render(report(made), Style()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a|b*c_d", r"a\|b\*c\_d"),
        ("<b> & [x](y)", r"&lt;b&gt; &amp; \[x\](y)"),
        ("@all #1", "@<!-- -->all #<!-- -->1"),
        ("https://e www.e", "https:<!-- -->//e www<!-- -->.e"),
        ("a\nb\x1b", r"a\\nb\\x1b"),
    ],
)
def test_prose(text: str, written: str) -> None:
    assert prose(text) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("", "` `"), ("a|b", r"`a\|b`")],
)
def test_code_spans(text: str, written: str) -> None:
    assert code(text, cell=True) == written


class Page(HTMLParser):
    """What a browser would find: elements, texts, and where they point."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "br", "input"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


TAGS = {
    *("html", "head", "meta", "title", "style", "body", "script", "header", "main", "section", "article", "form"),
    *("h1", "h2", "h3", "p", "br", "a", "span", "strong", "div", "pre", "code", "ul", "li", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "fieldset", "label", "input"),
}


def page(made: Report) -> Page:
    """The page, with everything that makes it safe asserted."""
    text = html.render(made, Style())
    text.encode("utf-8")
    seen = Page(text)
    assert {tag for tag, _ in seen.elements} <= TAGS
    assert seen.texts["script"] == [SCRIPT]
    assert seen.texts["style"] == [STYLE]
    for _, attributes in seen.elements:
        assert not {key for key in attributes if key.startswith("on") or key in {"src", "style", "srcset", "action"}}
        assert (attributes.get("href") or "#").startswith("#")
    ids = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {(item["href"] or "")[1:] for item in seen.named("a")} <= set(ids)
    return seen


@pytest.mark.parametrize("name", REPORTS)
def test_every_page_is_self_contained(name: str) -> None:
    page(REPORTS[name])
    text = html.render(REPORTS[name], Style(unicode=False))
    assert text.isascii()
    # In a script a character reference would not be undone; so the script itself has to be ASCII.
    assert SCRIPT.isascii()
    assert STYLE.isascii()


def test_the_policy_allows_this_script_and_style_alone() -> None:
    (policy,) = (
        item["content"] for item in page(REPORTS["one"]).named("meta") if "Content-Security-Policy" in item.values()
    )
    rules = dict(part.split(maxsplit=1) for part in (policy or "").split("; "))
    for name, text in (("script-src", SCRIPT), ("style-src", STYLE)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"


def test_an_empty_page_is_small() -> None:
    assert len(html.render(REPORTS["nothing"], Style())) < 200_000
    assert "nothing was checked" in html.render(REPORTS["nothing"], Style())


def test_the_matrix_has_a_row_per_pair_and_a_column_per_engine() -> None:
    other = check(engine="vllm", version="0.33.0")
    other = replace(other, drafter=replace(other.drafter, name="acme/duck"))
    seen = page(report(*REPORTS["engines"].checks, other, check(founding(), version="0.5.9")))
    heads = seen.named("th")
    assert [item["scope"] for item in heads] == ["col"] * 5 + ["row"] * 2
    assert len(seen.named("td")) == 8
    verdicts = [item for item in seen.named("a") if (item["href"] or "").startswith("#check-")]
    assert [item["href"] for item in verdicts] == [f"#check-{n}" for n in (1, 6, 2, 3, 4, 5)]


def test_findings_can_be_filtered_by_outcome_code_and_engine() -> None:
    seen = page(REPORTS["mild"])
    (slow, tidy) = seen.named("article")
    assert (slow["data-outcome"], tidy["data-outcome"]) == ("slow", "hygiene")
    assert (slow["data-search"] or "").startswith("dfl706 window-short drafter window 2048")
    assert "sglang 0.5.23" in (slow["data-search"] or "")
    boxes = [item["value"] for item in seen.named("input") if item.get("type") == "checkbox"]
    assert boxes == [outcome.value for outcome in Outcome]


def test_a_page_shows_what_a_verdict_rests_on() -> None:
    text = unescape(html.render(replace(REPORTS["mild"], cost=Cost(requests=3, bytes=9, seconds=1.0)), Style()))
    assert "DFL801 trained-for-another-target: the card says nothing" in text
    assert "boundaries 2/30/58" in text
    assert "3 requests" in text


def test_hostile_text_is_text_on_the_page() -> None:
    seen = page(hostile())
    shown = sound(EVIL).replace("\ufffe", "\ufffd")
    assert shown in "".join(seen.texts["p"])
    assert any(shown in text for text in seen.texts["pre"])


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT)
def test_any_text_stays_text_on_the_page(text: str) -> None:
    made = check(finding(message=text, name=text, fix=Fix(text)), skips=(Skip("DFL801", text, text),))
    page(report(replace(local(made, text), request=replace(request(), argv=(text, text)))))
