"""The published shape of a report: its schema file, and that whatever is reported validates against it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import made_reports as made
from drafter_lint.engines.plan import Plan
from drafter_lint.findings import (
    AddArguments,
    Edit,
    Fix,
    Outcome,
    RemoveConfig,
    ReplaceArgument,
    SetConfig,
    SetTensor,
    Skip,
)
from drafter_lint.renderers import render, render_plans
from drafter_lint.renderers.json_models import schema
from drafter_lint.renderers.style import Style
from drafter_lint.report import Cost, Report

SCHEMA = Path(__file__).parent.parent / "schemas" / "report.schema.json"
EVERY_EDIT: tuple[Edit, ...] = (
    ReplaceArgument(6, "EAGLE3"),
    AddArguments(("--tp", "8")),
    SetConfig("/a", {"b": [1, 2.5, None, True]}),
    RemoveConfig("/c"),
    SetTensor("d2t", (0, 1, 2)),
)


def validated(text: str) -> Any:
    """A JSON text as Python values, held against the schema file that ships."""
    document = json.loads(text)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(document)
    return document


def said(report: Report) -> Any:
    return validated(render(report, "json", Style()))


def test_the_schema_file_is_the_models_schema() -> None:
    shipped = json.loads(SCHEMA.read_text("utf-8"))
    assert shipped == schema(), "run scripts/generate.py"
    jsonschema.Draft202012Validator.check_schema(shipped)


@pytest.mark.parametrize(
    "report",
    [
        made.report(),
        made.report(made.check()),
        made.report(made.check(made.founding()), made.check(engine="vllm", version="0.33.0", plans=())),
        made.report(made.check(made.finding(fix=Fix("all", EVERY_EDIT)), target=False)),
        made.report(replace(made.check(), engine=None, request=None, plans=())),
        made.report(
            made.check(plans=(made.plan(), made.refusing_plan()), skips=(Skip("DFL1", "a", "b", needed=True),))
        ),
    ],
)
def test_every_kind_of_report_validates(report: Report) -> None:
    document = said(report)
    assert [check["verdict"] for check in document["checks"]] == [check.verdict for check in report.checks]


def test_the_documented_keys_are_all_there() -> None:
    (check,) = said(made.report(made.check(made.founding(), skips=(Skip("DFL316", "x", "none"),))))["checks"]
    assert check["source"] is None
    assert check["verdict"] == "silent"
    assert check["drafter"]["commit"] == "1c0ffee" * 5
    assert check["target"]["spelling"] == "kimi-k2.5"
    assert check["target"]["name"] == "moonshotai/Kimi-K2.5"
    assert {key: check["engine"][key] for key in ("name", "version", "knowledge")} == {
        "name": "sglang",
        "version": "0.5.23",
        "knowledge": "observed",
    }
    assert check["plan"]["method"] == "EAGLE3"
    assert check["plan_before"] is None
    assert check["not_checked"] == [{"code": "DFL316", "name": "x", "reason": "none", "needed": False}]


def test_a_launch_is_values_with_lines_and_what_is_unresolved() -> None:
    script = made.in_script(6, "  --speculative-algorithm EAGLE \\", "EAGLE")
    request = made.request()
    request = replace(request, method=replace(request.method, at=script) if request.method else None)
    (check,) = said(made.report(replace(made.check(), request=request)))["checks"]
    launch = check["launch"]
    assert launch["argv"] == list(made.ARGV)
    assert launch["method"] == {"value": "EAGLE", "line": 6}
    assert launch["tensor_parallel"] == {"value": 8, "line": None}
    assert launch["unresolved"] == ["$MODEL"]
    for name in ("num_speculative_tokens", "num_steps", "topk", "num_draft_tokens"):
        assert launch[name] is None


def test_a_finding_keeps_its_places_numbers_evidence_and_edits() -> None:
    found = replace(made.founding(), fix=Fix("all", EVERY_EDIT))
    (check,) = said(made.report(made.check(found)))["checks"]
    (finding,) = check["findings"]
    assert (finding["code"], finding["name"]) == ("DFL401", "eagle3-run-as-eagle")
    assert (finding["outcome"], finding["confidence"]) == ("silent", "certain")
    assert finding["measured"] == {"handed_over": 7168, "fc_takes": 21504, "method": "EAGLE"}
    assert [place["role"] for place in finding["locations"]] == ["launch", "launch", "drafter", "drafter"]
    assert (finding["locations"][0]["argument"], finding["locations"][0]["file"]) == (6, None)
    assert (finding["locations"][2]["line"], finding["locations"][2]["pointer"]) == (3, "/architectures/0")
    assert (finding["locations"][3]["tensor"], finding["locations"][3]["shape"]) == ("fc.weight", [7168, 21504])
    assert finding["evidence"][0]["symbol"] == "LlamaModel.forward"
    assert [(edit["kind"], edit["index"], edit["pointer"], edit["value"]) for edit in finding["fix"]["edits"]] == [
        ("replace-argument", 6, None, None),
        ("add-arguments", None, None, None),
        ("set-config", None, "/a", {"b": [1, 2.5, None, True]}),
        ("remove-config", None, "/c", None),
        ("set-tensor", None, None, None),
    ]
    assert finding["fix"]["edits"][-1]["tensor"] == "d2t"


def test_a_finding_without_a_fix_says_null() -> None:
    (check,) = said(made.report(made.check(made.finding(outcome=Outcome.SLOW))))["checks"]
    assert check["findings"][0]["fix"] is None


def test_where_two_releases_differ_both_plans_are_there() -> None:
    newer: Plan = replace(made.plan(), basis="0.5.23", knowledge="ambiguous")
    older: Plan = replace(made.refusing_plan(), basis="0.5.18", knowledge="ambiguous")
    (check,) = said(made.report(made.check(plans=(older, newer))))["checks"]
    assert (check["plan_before"]["basis"], check["plan"]["basis"]) == ("0.5.18", "0.5.23")
    assert check["plan_before"]["refusals"][0]["kind"] == "tensor-shape"
    assert check["plan_before"]["refusals"][0]["locations"][0]["tensor"] == "fc.weight"


def test_plan_as_json_is_the_report_that_holds_it() -> None:
    report = made.report(made.check())
    assert render_plans(report, "json", Style()) == render(report, "json", Style())


def test_what_json_has_no_word_for_is_put_into_words() -> None:
    finding = made.finding(message="lone \ud800 surrogate", measured={"eps": float("nan"), "\udcff": float("inf")})
    for unicode in (True, False):
        text = render(made.report(made.check(finding)), "json", Style(unicode=unicode))
        text.encode()
        (check,) = validated(text)["checks"]
        assert check["findings"][0]["message"] == "lone � surrogate"
        assert check["findings"][0]["measured"] == {"eps": "nan", "�": "inf"}
        assert text.isascii() is not unicode


def test_what_reading_cost() -> None:
    document = said(made.report(cost=Cost(requests=11, bytes=412_345, seconds=1.8349)))
    assert document["io"] == {"requests": 11, "bytes": 412_345, "cached": 0, "seconds": 1.835}
    assert document["schema"] == 1
    assert document["tool"]["name"] == "drafter-lint"
