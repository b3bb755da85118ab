"""The menagerie: published pairs, checked in full; a change of any word of any report shows here."""

from __future__ import annotations

import pytest

import menagerie
import published
from drafter_lint.findings import Outcome

PAIRS = published.pairs()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.drafter}--on--{pair.target}")
def test_golden_report(pair: published.Pair) -> None:
    path = menagerie.GOLDEN / f"{pair.drafter}--on--{pair.target}.txt"
    assert menagerie.report(pair) == path.read_text("utf-8"), "if the change is meant: python scripts/golden.py"


def test_no_golden_report_is_left_over() -> None:
    assert {path for path, _ in menagerie.reports()} == set(menagerie.GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.wrong], ids=lambda pair: pair.drafter)
def test_a_wrong_pair_is_never_clean(pair: published.Pair) -> None:
    for check in menagerie.run(pair).checks:
        assert any(item.outcome.rank >= Outcome.SLOW.rank for item in check.findings), pair.wrong
