"""Prints the plan against what the real engines did, case by case; non-zero below the floors. What `make truth` runs.

The last recorded disagreements and their reasons are in fixtures/truth/disagreements.toml; an entry there that no
longer disagrees fails the run too, so that the list stays true.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from truth_cases import load_cases  # noqa: E402 - found through the line above
from truth_judge import FACTS, Judgement, disagreeing, judge, listed  # noqa: E402 - same

#: Of each engine's recorded outcomes: from the files alone, and told what its trainer knows.
ALONE_FLOOR, TOLD_FLOOR = 0.95, 0.99
FACT_FLOOR = 0.98


def main(*, verbose: bool) -> int:
    """Judge every case twice: from the files alone, and with what a trainer knows."""
    cases = load_cases()
    alone = [row for case in cases for row in judge(case, told=False)]
    told = [row for case in cases for row in judge(case, told=True)]
    for row in alone:
        if verbose or row.undecided or not row.agrees:
            print(_line(row))
    print()
    failed = _totals(alone, "from the files alone", floor=ALONE_FLOOR)
    failed += _totals(told, "told what the drafter was trained with", floor=TOLD_FLOOR)
    failed += _facts(alone)
    failed += _listed(alone, told)
    return 1 if failed else 0


def _line(row: Judgement) -> str:
    mark = "undecided" if row.undecided else "agree" if row.agrees else "DISAGREE"
    codes = ", ".join(row.codes)
    return f"{mark:<9} {row.case:<40} {row.engine:<6} {row.version:<12} {row.recorded:<8} {row.predicted:<8} {codes}"


def _totals(rows: list[Judgement], how: str, *, floor: float) -> int:
    """Agreement per engine and version; how many floors were missed."""
    print(f"outcome, {how}")
    keys = sorted(
        {(row.engine, row.version) for row in rows}, key=lambda key: (key[0], [*map(_number, key[1].split("."))])
    )
    for engine, version in keys:
        mine = [row for row in rows if (row.engine, row.version) == (engine, version)]
        print(f"  {engine:<7} {version:<12} {_ratio(mine)}")
    failed = 0
    for engine in sorted({row.engine for row in rows}):
        mine = [row for row in rows if row.engine == engine]
        print(f"  {engine:<7} {'all':<12} {_ratio(mine)}")
        decided = [row for row in mine if not row.undecided]
        if sum(row.agrees for row in decided) < floor * max(len(decided), 1):
            print(f"  {engine:<7} is below the floor of {floor:.0%}")
            failed += 1
    print(f"  together             {_ratio(rows)}\n")
    return failed


def _ratio(rows: list[Judgement]) -> str:
    decided = [row for row in rows if not row.undecided]
    agreeing = sum(row.agrees for row in decided)
    rest = len(rows) - len(decided)
    undecided = f"; {rest} where the report says the files do not tell" if rest else ""
    return f"{agreeing} of {len(decided)} agree, {agreeing / max(len(decided), 1):.1%}{undecided}"


def _number(part: str) -> tuple[int, str]:
    digits = "".join(char for char in part if char.isdigit())
    return int(digits or 0), part


def _facts(rows: Iterable[Judgement]) -> int:
    """Agreement on every recorded detail."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for row in rows:
        for fact, (recorded, predicted) in row.facts.items():
            total[fact] += 1
            right[fact] += recorded == predicted
            if recorded != predicted:
                wrong.append(
                    f"  {row.case} {row.engine} {row.version} {fact}: recorded {recorded}, predicted {predicted}"
                )
    print("\n".join(wrong))
    failed = 0
    for fact in FACTS:
        share = right[fact] / max(total[fact], 1)
        print(f"  {fact:<17} {right[fact]} of {total[fact]} agree, {share:.1%}")
        failed += not total[fact] or share < FACT_FLOOR
    return failed


def _listed(alone: Iterable[Judgement], told: Iterable[Judgement]) -> int:
    """Every disagreement must be in the list with its reason, and nothing else may be.

    ``told = true`` there says that the check agrees once it is told what the drafter was trained with.
    """
    failed = 0
    for how, rows, expected in (
        ("from the files alone", alone, listed(told=False)),
        ("told", told, listed(told=True)),
    ):
        found = disagreeing(rows)
        for key in sorted(found - expected):
            print(f"  {how}, not in disagreements.toml: {' '.join(key)}")
        for key in sorted(expected - found):
            print(f"  {how}, in disagreements.toml, but agrees: {' '.join(key)}")
        failed += len(found ^ expected)
    return failed


if __name__ == "__main__":
    sys.exit(main(verbose="-v" in sys.argv[1:]))
