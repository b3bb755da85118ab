"""The library as a trainer uses it right after an export: files in memory, a report, and what to do with it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import drafter_lint
from drafter_lint.recipe import Recipe
from drafter_lint.renderers import RENDERERS

SMALL = Path(__file__).parents[1] / "fixtures" / "small"


def exported(name: str) -> dict[str, bytes]:
    """The files of a small checkpoint, as an exporter holds them before it writes."""
    source = Recipe.parse((SMALL / f"{name}.recipe.toml").read_text("utf-8")).source()
    return {path: source.read(path) for path in source.files}


def test_files_in_memory_are_checked_before_they_are_written() -> None:
    drafter, target = exported("eagle3-llama"), exported("target-llama")
    report = drafter_lint.check(drafter, target, engines=["sglang==0.5.23", "vllm==0.33.0"])
    assert [check.verdict for check in report.checks] == ["ok", "ok"]
    assert report.checks[0].drafter.name == "drafter in memory"
    report.raise_for_findings()


def test_a_wrong_file_in_memory_is_found() -> None:
    drafter = exported("eagle3-llama")
    config = json.loads(drafter["config.json"])
    drafter["config.json"] = json.dumps({**config, "draft_vocab_size": 250}).encode()
    report = drafter_lint.check(drafter, exported("target-llama"), engines=["sglang==0.5.23"])
    assert report.exit_code == 1
    with pytest.raises(drafter_lint.FindingsError, match="DFL"):
        report.raise_for_findings()


def test_a_path_is_a_reference() -> None:
    path = SMALL / "eagle3-llama.recipe.toml"
    target: os.PathLike[str] = SMALL / "target-llama.recipe.toml"
    (check,) = drafter_lint.check(path, target, engines=["sglang"]).checks
    assert check.drafter.path == str(path)
    (plan,) = drafter_lint.plan(path, target, engine="sglang")
    assert plan.method == "EAGLE3"


@pytest.mark.parametrize("format_", RENDERERS)
def test_a_report_renders_itself(format_: str) -> None:
    report = drafter_lint.check(exported("eagle3-llama"), exported("target-llama"), engines=["sglang"])
    said = report.render(format_)
    assert "\x1b" not in said
    assert said.endswith("\n")
    if format_ == "text":
        assert "\x1b" in report.render(color=True)


def test_an_unknown_format() -> None:
    report = drafter_lint.check(exported("eagle3-llama"), exported("target-llama"), engines=["sglang"])
    with pytest.raises(drafter_lint.UsageError, match="no format called 'txt'; there are text, concise, json"):
        report.render("txt")
