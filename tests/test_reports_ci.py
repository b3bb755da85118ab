"""What build servers read: GitHub's workflow commands, GitLab's code quality JSON, JUnit XML."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drafter_lint.findings import Fix, Outcome, Skip
from drafter_lint.renderers import github, gitlab, junit
from drafter_lint.renderers.escaping import sound
from drafter_lint.renderers.style import Style
from drafter_lint.report import Report
from made_reports import check, finding, founding, report, tensor
from many_reports import EVIL, REPORTS, hostile, in_script_file, local, many, window_short

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def commands(text: str) -> list[Command]:
    """Workflow commands as GitHub's runner reads them (actions/runner, ActionCommand.TryParseV2, then TryParse)."""
    found = []
    for line in text.splitlines():
        if not line.lstrip().startswith("::"):
            assert "##[" not in line
            continue
        head, _, message = line[2:].partition("::")
        name, _, said = head.partition(" ")
        properties = dict(part.split("=", 1) for part in said.split(","))
        found.append(Command(name, {key: undone(value) for key, value in properties.items()}, undone(message)))
    return found


def undone(text: str) -> str:
    for escaped, char in (("%3A", ":"), ("%2C", ","), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escaped, char)
    return text


def annotated(made: Report) -> list[Command]:
    return commands(github.render(made, Style()))


def test_an_annotation_stands_on_the_line_of_the_launch_file() -> None:
    mistake, window = annotated(in_script_file())
    assert mistake.name == "error"
    assert mistake.properties == {
        "file": "serve.sh",
        "line": "6",
        "endLine": "6",
        "col": "27",
        "endColumn": "31",
        "title": "DFL401 eagle3-run-as-eagle",
    }
    assert mistake.message.startswith("EAGLE-3 drafter started in EAGLE mode")
    assert mistake.message.endswith("fix: --speculative-algorithm EAGLE3; --speculative-num-steps 3")
    assert (window.name, window.properties["file"], window.properties["line"]) == (
        "warning",
        "drafter/config.json",
        "5",
    )


def test_a_finding_of_the_hub_has_no_file() -> None:
    (only,) = annotated(report(check(founding())))
    assert set(only.properties) == {"title"}


def test_the_worst_ten_and_how_many_more() -> None:
    found = annotated(many(60))
    assert [item.name for item in found] == ["error"] * 10 + ["notice"]
    assert found[-1].message == "50 findings more"
    assert len(annotated(many(10))) == 10
    assert annotated(many(11))[-1].message == "1 finding more"


def test_each_finding_is_annotated_once_for_all_engines() -> None:
    (only,) = annotated(REPORTS["engines"])
    assert "sglang 0.5.9, 0.5.23; vllm 0.33.0" in only.message


def test_an_unread_part_is_a_warning_between_mistakes_and_notes() -> None:
    slow = window_short().checks[0].findings[0]
    made = check(founding(), slow, skips=(Skip("DFL004", "hub-unreachable", "it stalled", needed=True),))
    assert [(item.name, item.properties["title"]) for item in annotated(report(made))] == [
        ("error", "DFL401 eagle3-run-as-eagle"),
        ("warning", "DFL004 hub-unreachable was not checked"),
        ("warning", "DFL706 window-short"),
    ]


def test_the_log_has_a_line_per_check_unless_quiet() -> None:
    text = github.render(REPORTS["engines"], Style())
    assert [line.split(":")[0] for line in text.splitlines()[1:]] == ["silent", "silent", "silent", "ok"]
    assert len(github.render(REPORTS["engines"], Style(quiet=True)).splitlines()) == 1
    assert github.render(REPORTS["nothing"], Style()) == ""


def test_hostile_text_ends_no_command_and_starts_none() -> None:
    found = annotated(hostile())
    assert [item.name for item in found] == ["error", "error", "warning", "notice", "notice"]
    assert found[0].properties["file"] == sound(EVIL)
    assert found[0].message.startswith(sound(EVIL))


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT)
def test_any_text_is_one_command_and_survives(text: str) -> None:
    (only,) = annotated(report(local(check(finding(message=f"x{text}", name=text)), f"d{text}")))
    assert only.name == "error"
    assert only.properties["title"] == f"DFL401 {sound(text)}"
    assert only.message.startswith(f"x{sound(text)}")


def issues(made: Report) -> list[dict[str, object]]:
    text = gitlab.render(made, Style())
    text.encode("utf-8")
    listed: list[dict[str, object]] = json.loads(text)
    return listed


@pytest.mark.parametrize("name", REPORTS)
def test_gitlab_gets_what_it_needs(name: str) -> None:
    listed = issues(REPORTS[name])
    prints = [item["fingerprint"] for item in listed]
    assert len(prints) == len(set(prints))
    for item in listed:
        assert set(item) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert item["severity"] in {"info", "minor", "major", "critical", "blocker"}
        location = item["location"]
        assert isinstance(location, dict)
        assert location["lines"]["begin"] >= 1
        assert location["path"]
        assert not location["path"].startswith("./")


def test_gitlab_severities_and_places() -> None:
    found = [finding(message=outcome.value, outcome=outcome) for outcome in Outcome]
    assert [item["severity"] for item in issues(report(check(*found)))] == ["blocker", "critical", "minor", "info"]
    mistake, window = issues(in_script_file())
    assert mistake["location"] == {"path": "serve.sh", "lines": {"begin": 6}}
    assert window["location"] == {"path": "drafter/config.json", "lines": {"begin": 5}}
    assert mistake["check_name"] == "DFL401 eagle3-run-as-eagle"
    assert gitlab.render(REPORTS["pass"], Style()) == "[]\n"


XS = "{http://www.w3.org/2001/XMLSchema}"
XSD = ET.parse(Path(__file__).parent.parent / "fixtures" / "schemas" / "junit-10.xsd").getroot()
DECLARED = {item.attrib["name"]: item for item in XSD.findall(f"{XS}element")}


def conforms(element: ET.Element) -> None:
    """Attributes and children as the schema that Jenkins' xUnit plugin publishes declares them."""
    declared = DECLARED[element.tag]
    attributes = {item.attrib["name"]: item.attrib.get("use") for item in declared.iter(f"{XS}attribute")}
    assert set(element.attrib) <= set(attributes)
    assert {name for name, use in attributes.items() if use == "required"} <= set(element.attrib)
    children = {item.attrib.get("ref") or item.attrib["name"] for item in declared.iter(f"{XS}element")}
    for child in element:
        assert child.tag in children
        conforms(child)


def suites(made: Report) -> ET.Element:
    """The XML, parsed, with the laws of the schema and of honest counting."""
    text = junit.render(made, Style())
    root = ET.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    conforms(root)
    ascii_root = ET.fromstring(junit.render(made, Style(unicode=False)).encode("ascii"))
    assert ET.tostring(ascii_root) == ET.tostring(root)
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped"}
        assert [child.tag for child in suite][:1] == ["properties"]
        cases = suite.findall("testcase")
        assert [child.tag for child in suite][1:] == ["testcase"] * len(cases)
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)
        assert int(suite.attrib["skipped"]) == sum(case.find("skipped") is not None for case in cases)
        for case in cases:
            assert set(case.attrib) == {"classname", "name"}
            assert {child.tag for child in case} <= {"failure", "skipped", "system-out"}
            assert len({child.tag for child in case}) == len(list(case))
            assert sum(child.tag in {"failure", "skipped"} for child in case) <= 1
    for count in ("tests", "failures"):
        assert int(root.attrib[count]) == sum(int(suite.attrib[count]) for suite in root)
    return root


@pytest.mark.parametrize("name", REPORTS)
def test_junit_counts_what_it_holds(name: str) -> None:
    assert len(suites(REPORTS[name])) == len(REPORTS[name].checks)


def test_junit_has_a_case_for_every_rule() -> None:
    made = replace(window_short().checks[0], ran=("DFL401", "DFL706", "DFL512"))
    (suite,) = suites(report(made))
    cases = {case.attrib["name"]: case for case in suite.findall("testcase")}
    assert list(cases) == [
        "DFL401 eagle3-run-as-eagle",
        "DFL512 norm-scheme",
        "DFL706 window-short",
        "DFL801 trained-for-another-target",
    ]
    assert list(cases["DFL401 eagle3-run-as-eagle"]) == []
    (tidy,) = cases["DFL512 norm-scheme"]
    assert (tidy.tag, tidy.text) == ("system-out", "hygiene (certain): no target norm")
    (slow,) = cases["DFL706 window-short"]
    assert (slow.tag, slow.attrib["type"]) == ("failure", "slow")
    assert "config.json:5:21 /sliding_window" in (slow.text or "")
    (skipped,) = cases["DFL801 trained-for-another-target"]
    assert skipped.attrib == {"message": "the card says nothing"}


def test_junit_says_if_a_verdict_rests_on_what_was_skipped() -> None:
    skips = (Skip("DFL302", "d2t-absolute", "it stalled", needed=True), Skip("DFL302", "d2t-absolute", "and again"))
    (suite,) = suites(report(check(finding(tensor("d2t"), code="DFL401"), skips=skips)))
    properties = {item.attrib["name"]: item.attrib["value"] for item in suite.iter("property")}
    assert properties["verdict"] == "silent"
    (message,) = (item.attrib["message"] for item in suite.iter("skipped"))
    assert message == "needed: it stalled; and again"
    both = replace(check(founding()), not_checked=(Skip("DFL401", "x", "half of it"),))
    (suite,) = suites(report(both))
    (said,) = suite.iter("system-out")
    assert said.text == "not checked: half of it"


@settings(max_examples=60, deadline=None)
@given(ANY_TEXT)
def test_any_text_is_well_formed_and_survives(text: str) -> None:
    made = check(finding(message=text, code="DFL998", name=text, fix=Fix(text)), skips=(Skip("DFL801", "x", text),))
    (suite,) = suites(report(made))
    (failure,) = suite.iter("failure")
    assert failure.attrib["message"] == re.sub("[\ufffe\uffff]", "\ufffd", sound(text))
