"""SARIF: the official schema, the places and columns readers act on, and an identity that survives new revisions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from drafter_lint import check as public_check
from drafter_lint.findings import (
    AddArguments,
    Confidence,
    Edit,
    Fix,
    Located,
    Outcome,
    RemoveConfig,
    ReplaceArgument,
    SetConfig,
    Skip,
)
from drafter_lint.renderers import sarif
from drafter_lint.renderers.artifacts import place_of
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Report
from drafter_lint.rules import all_rules
from made_reports import check, finding, founding, in_command, in_config, in_script, report, tensor
from many_reports import REPORTS, SCRIPT, in_script_file, local, many, script_request, window_short

SCHEMA = Path(__file__).parent.parent / "fixtures" / "schemas" / "sarif-2.1.0.schema.json"
VALIDATOR = Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))


def run(made: Report) -> dict[str, Any]:
    log = json.loads(sarif.render(made, Style()).encode("utf-8"))
    errors = [error.message for error in VALIDATOR.iter_errors(log)]
    assert errors == []
    single: dict[str, Any] = log["runs"][0]
    return single


def results(made: Report) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(made)["results"]
    return found


def physical(result: Mapping[str, Any]) -> tuple[str, int]:
    place = result["locations"][0]["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_is_valid_and_every_result_stands_in_a_file(name: str) -> None:
    single = run(REPORTS[name])
    rules = single["tool"]["driver"]["rules"]
    for result in single["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        uri, line = physical(result)
        assert uri
        assert line >= 1
        assert "https:" not in uri
        for related in result.get("relatedLocations", ()):
            assert related["physicalLocation"]["artifactLocation"]["uri"]
    for notice in single["invocations"][0]["toolExecutionNotifications"]:
        if "associatedRule" in notice:
            assert rules[notice["associatedRule"]["index"]]["id"] == notice["associatedRule"]["id"]


@pytest.mark.parametrize("name", REPORTS)
def test_ascii_says_the_same(name: str) -> None:
    text = sarif.render(REPORTS[name], Style(unicode=False))
    assert text.isascii()
    assert json.loads(text) == json.loads(sarif.render(REPORTS[name], Style()))


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_gives_a_valid_log(text: str) -> None:
    at = replace(in_config(1, f"{text}x", "x", f"/{text}", text), file=text, subject=text)
    made = local(check(finding(at, message=text, fix=Fix(text)), skips=(Skip("DFL801", "x", text),)), text)
    run(report(made, check(finding(at, message=text))))


@pytest.mark.parametrize(
    ("outcome", "level"),
    [
        (Outcome.REFUSES, "error"),
        (Outcome.SILENT, "error"),
        (Outcome.SLOW, "warning"),
        (Outcome.HYGIENE, "note"),
    ],
)
def test_the_level_is_what_happens_to_the_user(outcome: Outcome, level: str) -> None:
    (result,) = results(report(check(finding(outcome=outcome))))
    assert result["level"] == level
    assert result["properties"]["outcome"] == outcome.value


def test_rules_are_those_that_ran_with_their_pages() -> None:
    ran = tuple(rule.code for rule in all_rules())
    single = run(report(replace(check(founding()), ran=ran)))
    rules = single["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(ran)
    for rule in rules:
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert "## Fix" in rule["help"]["markdown"]
        assert "Fix:" in rule["help"]["text"]
        assert 3 <= len(rule["properties"]["tags"]) <= 20
    told = {rule["id"]: rule for rule in rules}
    assert told["DFL401"]["properties"]["tags"] == ["speculative-decoding", "silent", "method", "deployment"]
    assert told["DFL401"]["properties"]["precision"] == "very-high"
    assert "precision" not in told["DFL402"]["properties"]


def test_precision_is_that_of_the_least_certain_finding() -> None:
    likely = finding(message="another", confidence=Confidence.LIKELY)
    (rule,) = run(report(check(founding(), likely)))["tool"]["driver"]["rules"]
    assert rule["properties"]["precision"] == "high"


def test_a_rule_nobody_knows_is_described_by_its_finding() -> None:
    (rule,) = run(report(check(finding(code="DFL998", name="made-up"))))["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("DFL998", "made-up")


def test_a_launch_file_is_the_place() -> None:
    mistake, window = results(in_script_file())
    assert physical(mistake) == ("serve.sh", 6)
    region = mistake["locations"][0]["physicalLocation"]["region"]
    assert (region["startColumn"], region["endColumn"]) == (27, 32)
    assert region["snippet"]["text"] == "EAGLE"
    assert mistake["locations"][0]["message"]["text"] == "the last layer's state alone"
    assert [physical({"locations": [item]})[1] for item in mistake["relatedLocations"]] == [7, 3]
    assert physical(window) == ("drafter/config.json", 5)


def test_a_hub_finding_stands_where_the_launch_file_names_the_drafter() -> None:
    made = replace(check(finding(tensor("d2t", 5))), request=script_request())
    (result,) = results(report(made))
    assert physical(result) == ("serve.sh", 7)
    assert result["relatedLocations"][0]["logicalLocations"][0]["name"] == "d2t"


def test_a_command_line_mistake_stands_at_a_local_drafter() -> None:
    (result,) = results(report(local(check(finding(in_command("EAGLE", "wrong"))), "./exports/duck")))
    assert physical(result) == ("exports/duck/config.json", 1)
    assert result["relatedLocations"][0]["message"]["text"] == "command line, word 6: wrong"


def test_a_hub_pair_gets_a_stand_in_without_revision_and_github_can_follow_it() -> None:
    (result,) = results(report(check(founding())))
    assert physical(result) == ("huggingface.co/lightseekorg/kimi-k2.5-eagle3/config.json", 3)
    prints = result["partialFingerprints"]
    assert prints["primaryLocationLineHash"] == f"{prints['drafterLint/v1']}:1"


def test_github_computes_the_fingerprint_of_a_real_file_itself() -> None:
    for result in results(in_script_file()):
        assert set(result["partialFingerprints"]) == {"drafterLint/v1"}


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./drafter", "drafter/config.json"),
        (".", "config.json"),
        ("out/my drafter:1", "out/my%20drafter%3A1/config.json"),
        ("/srv/models/duck", "file:///srv/models/duck/config.json"),
        ("..\\models\\duck", "../models/duck/config.json"),
        ("C:\\models\\duck", "file:///C:/models/duck/config.json"),
        ("drafter/model.safetensors", "drafter/config.json"),
        ("pairs/duck.recipe.toml", "pairs/duck.recipe.toml"),
        ("täubchen", "t%C3%A4ubchen/config.json"),
    ],
)
def test_paths_become_uris(path: str, uri: str) -> None:
    (result,) = results(report(local(check(finding()), path)))
    assert physical(result)[0] == uri
    relative = not uri.startswith("file:")
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert ("uriBaseId" in artifact) is relative


def test_columns_count_utf16_units() -> None:
    at = in_config(2, '  "😀😀": "🦆🦆x",', "🦆x", "/a")
    (result,) = results(report(check(finding(at))))
    region = result["locations"][0]["physicalLocation"]["region"]
    # Ten characters before the span, three of them of two units; one more of two units inside it.
    assert (at.column, at.width) == (11, 2)
    assert (region["startColumn"], region["endColumn"]) == (14, 17)
    assert run(report())["columnKind"] == "utf16CodeUnits"


def fingerprints(*checks: Check) -> list[str]:
    return [result["partialFingerprints"]["drafterLint/v1"] for result in results(report(*checks))]


def test_revisions_versions_lines_and_words_do_not_change_a_fingerprint() -> None:
    before = check(finding(in_config(5, '  "a": 1,', "1", "/a")))
    moved = finding(in_config(9, '  "a":    2,', "2", "/a"), message="another number", confidence=Confidence.LIKELY)
    after = check(moved, version="0.5.9")
    after = replace(after, drafter=replace(after.drafter, commit="f" * 40, title="another"))
    assert fingerprints(before) == fingerprints(after)
    shifted = replace(script_request(), argv=("env", *script_request().argv))
    assert shifted.method
    late = replace(shifted.method.at, argument=7, line=9)
    option = replace(shifted.options["--speculative-algorithm"], at=late)
    shifted = replace(shifted, options={option.name: option}, method=Located("EAGLE", late))
    at = replace(in_script(6, SCRIPT[6], "EAGLE"), argument=6)
    first = replace(check(finding(at)), request=script_request())
    second = replace(check(finding(late)), request=shifted)
    assert fingerprints(first) == fingerprints(second)


def test_everything_else_changes_a_fingerprint() -> None:
    base = check(finding(in_config(5, '  "a": 1,', "1", "/a")))
    assert base.target
    others = [
        check(finding(in_config(5, '  "a": 1,', "1", "/b"))),
        check(finding(in_config(5, '  "a": 1,', "1", "/a"), code="DFL402")),
        check(*base.findings, engine="vllm"),
        replace(base, drafter=replace(base.drafter, name="acme/duck")),
        replace(base, target=replace(base.target, name="acme/goose")),
    ]
    prints = [fingerprints(item)[0] for item in (base, *others)]
    assert len(set(prints)) == len(prints)


def test_two_of_a_kind_are_told_apart_and_versions_of_an_engine_are_one_result() -> None:
    twice = check(finding(tensor("fc.weight", 1)), finding(tensor("fc.weight", 1), message="and again"))
    prints = fingerprints(twice)
    assert prints[1] == f"{prints[0]}:2"
    found = results(REPORTS["engines"])
    assert [item["properties"]["versions"] for item in found] == [["0.5.9", "0.5.23", "0.5.23"], ["0.33.0"]]


def applied(made: Report, files: dict[str, str]) -> dict[str, str]:
    """The fixes of a log applied to files as a reader would, in UTF-16 columns."""
    for result in results(made):
        for change in result.get("fixes", [{"artifactChanges": []}])[0]["artifactChanges"]:
            uri = change["artifactLocation"]["uri"]
            lines = files[uri].splitlines(keepends=True)
            edits = [(item["deletedRegion"], item.get("insertedContent", {})) for item in change["replacements"]]
            for region, text in sorted(edits, key=lambda edit: -edit[0]["startLine"]):
                start, end = region["startLine"] - 1, region["endLine"] - 1
                head = lines[start].encode("utf-16-le")[: 2 * (region["startColumn"] - 1)].decode("utf-16-le")
                last = lines[end] if end < len(lines) else ""
                tail = last.encode("utf-16-le")[2 * (region["endColumn"] - 1) :].decode("utf-16-le")
                lines[start : end + 1] = [head + text.get("text", "") + tail]
            files[uri] = "".join(lines)
    return files


def test_fixes_edit_the_script_and_the_config() -> None:
    script = "\n".join(["#!/bin/sh", "", "", *SCRIPT.values()]) + "\n"
    config = '{\n\n\n\n  "sliding_window": 2048,\n  "x": 1\n}\n'
    files = applied(in_script_file(), {"serve.sh": script, "drafter/config.json": config})
    assert files["serve.sh"] == script.replace("EAGLE", "EAGLE3").replace(
        "./drafter", "./drafter --speculative-num-steps 3"
    )
    assert json.loads(files["drafter/config.json"]) == {"sliding_window": 262144, "x": 1}


def test_a_line_of_the_config_is_taken_away_whole() -> None:
    line = '  "sliding_window": 2048,'
    found = finding(in_config(2, line, "2048", "/sliding_window"), fix=Fix("", (RemoveConfig("/sliding_window"),)))
    files = {"drafter/config.json": f'{{\n{line}\n  "🦆": 1\n}}\n'}
    assert json.loads(applied(report(local(check(found))), files)["drafter/config.json"]) == {"🦆": 1}


@pytest.mark.parametrize(
    ("text", "value", "pointer", "edit"),
    [
        ('  "a": 1', "1", "/a", RemoveConfig("/a")),  # the comma to take away is on another line
        ('  "a": 1, "b": 2,', "1", "/a", RemoveConfig("/a")),
        ('  "a": {', "{", "/a", SetConfig("/a", 1)),  # ends somewhere else
        ('  "a": 1,', "1", "/a", SetConfig("/b", 1)),  # nowhere yet
    ],
)
def test_a_config_edit_in_doubt_is_no_fix(text: str, value: str, pointer: str, edit: Edit) -> None:
    found = finding(in_config(2, text, value, pointer), fix=Fix("change it", (edit,)))
    (result,) = results(report(local(check(found))))
    assert "fixes" not in result
    assert "Fix: " in result["message"]["text"]


@pytest.mark.parametrize(
    ("line", "word", "given", "value", "after"),
    [
        ("  --algo 'EAGLE'", "'EAGLE'", "EAGLE", '{"a": "b"}', '  --algo \'{"a": "b"}\''),
        ('  --algo "EAGLE"', '"EAGLE"', "EAGLE", "EAGLE3", '  --algo "EAGLE3"'),
        ("  --algo=EAGLE x", "EAGLE", "--algo=EAGLE", "--algo=EAGLE3", "  --algo=EAGLE3 x"),
        ("  - EAGLE 😀", "EAGLE", "EAGLE", "EAGLE3", "  - EAGLE3 😀"),
        ("😀 --algo EAGLE", "EAGLE", "EAGLE", "EAGLE3", "😀 --algo EAGLE3"),
        ("  --algo EAGLE", "EAGLE", "EAGLE", "a; rm -rf b", None),
        ("  --algo 'EAGLE'", "'EAGLE'", "EAGLE", "it's", None),
        ('  --algo "EAGLE"', '"EAGLE"', "EAGLE", "$(reboot)", None),
        ("  --algo $ALGO", "$ALGO", "EAGLE", "EAGLE3", None),  # the word came from somewhere else
    ],
)
def test_a_word_is_replaced_in_its_own_quotation_marks(
    line: str, word: str, given: str, value: str, after: str | None
) -> None:
    at = replace(in_script(1, line, word), argument=0)
    made = check(finding(at, fix=Fix("other", (ReplaceArgument(0, value),))))
    made = replace(made, request=replace(script_request(), argv=(given,), options={}))
    files = applied(report(made), {"serve.sh": f"{line}\n"})
    assert files["serve.sh"] == f"{after or line}\n"


@pytest.mark.parametrize(
    ("flag_line", "value_line", "numbers"),
    [
        ("  - --tp", "  - 8", (1, 2)),
        ('  "--tp", "8"', '  "--tp", "8"', (1, 1)),
        ("  '--tp' '8'", "  '--tp' '8'", (1, 1)),
    ],
)
def test_no_words_are_added_where_a_line_is_no_command(
    flag_line: str, value_line: str, numbers: tuple[int, int]
) -> None:
    flag_at = replace(in_script(numbers[0], flag_line, "--tp"), argument=0)
    at = replace(in_script(numbers[1], value_line, "8"), argument=1)
    option = replace(script_request().options["--model-path"], name="--tp", at=at, flag_at=flag_at)
    made = check(finding(at, fix=Fix("more", (AddArguments(("--speculative-num-steps", "3")),))))
    made = replace(made, request=replace(script_request(), options={"--tp": option}))
    assert all("fixes" not in result for result in results(report(made)))


def test_not_checked_is_told_and_the_run_succeeded() -> None:
    (invocation,) = run(window_short())["invocations"]
    assert invocation["executionSuccessful"] is True
    assert invocation["exitCode"] == 0
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["level"] == "note"
    assert "the card says nothing" in notice["message"]["text"]
    assert notice["associatedRule"]["id"] == "DFL801"
    (invocation,) = run(REPORTS["unread"])["invocations"]
    assert invocation["exitCode"] == 3
    (notice,) = invocation["toolExecutionNotifications"]
    assert notice["level"] == "warning"


def test_messages_hold_no_link_and_no_placeholder() -> None:
    (result,) = results(report(check(finding(message="see [here](1) and {0} and {a}"))))
    assert result["message"]["text"].startswith("see [here] (1) and {{0}} and {a} (lightseekorg/")


def test_github_takes_the_largest_log() -> None:
    made = many(sarif.MAX_RESULTS + 7)
    text = sarif.render(made, Style())
    log = json.loads(text)
    assert len(log["runs"][0]["results"]) == sarif.MAX_RESULTS
    (notice,) = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("7 results more")
    assert len(gzip.compress(text.encode(), compresslevel=1)) < 10_000_000


def test_related_places_are_bounded() -> None:
    places = [tensor(f"t{n}", n) for n in range(sarif.MAX_RELATED + 50)]
    (result,) = results(report(check(finding(*places))))
    assert len(result["relatedLocations"]) == sarif.MAX_RELATED


def test_a_place_of_the_engine_has_no_file() -> None:
    at = replace(in_config(1, "x", "x", "/x"), role="engine")
    assert place_of(at, check()) is None
    assert place_of(in_command("EAGLE"), check()) is None
    assert place_of(replace(at, role="target"), replace(check(), target=None)) is None


def test_a_run_of_our_own_names_its_rules_and_its_recipe() -> None:
    folder = SCHEMA.parent.parent / "recipes"
    recipe = folder / "AngelSlim--Qwen3-4B_eagle3.recipe.toml"
    target = folder.parent / "targets" / "Qwen--Qwen3-4B.recipe.toml"
    flags = ("--speculative-algorithm", "EAGLE")
    made = public_check(str(recipe), str(target), engines=("sglang==0.5.23",), flags=flags)
    single = run(made)
    assert {rule["id"] for rule in single["tool"]["driver"]["rules"]} >= {"DFL105", "DFL401", "DFL503", "DFL601"}
    (mistake,) = (item for item in single["results"] if item["ruleId"] == "DFL401")
    assert physical(mistake) == (recipe.as_uri(), 1)
    assert single["invocations"][0]["exitCode"] == made.exit_code == 1
