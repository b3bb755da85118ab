"""The truth cases and their judge, which live beside the tests; met here and nowhere else in the kit."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from truth_cases import TRUTH, Built, Engine, Run, SaysNothing, TruthCase, load_cases, read_case  # noqa: E402 - found by the line above
from truth_judge import FACTS, Fact, Judgement, judge  # noqa: E402 - same

__all__ = [
    "FACTS",
    "ROOT",
    "TRUTH",
    "Built",
    "Engine",
    "Fact",
    "Judgement",
    "Run",
    "SaysNothing",
    "TruthCase",
    "judge",
    "load_cases",
    "read_case",
]
