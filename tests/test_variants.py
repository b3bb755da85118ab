"""Malformed and surprising variants seen in public: each gets the finding it deserves, or none where it is legal.

One file a variant, in the form of a case.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import test_cases as cases
from drafter_lint.drafters import BlockDrafter

VARIANTS = sorted((cases.FIXTURES / "variants").glob("M-*.toml"))


@pytest.mark.parametrize("path", VARIANTS, ids=lambda path: path.stem)
def test_variant(path: Path) -> None:
    case = cases.read(path)
    result = cases.run(case)
    said = "\n".join(f"{item.code} {item.outcome} {item.message}" for item in result.findings)
    if case.engine:  # what else follows from the flaw may be told beside it
        assert set(case.expect) <= set(result.codes), said
    else:
        assert result.codes == sorted(case.expect), said
    assert set(case.skips) <= {skip.code for skip in result.skips}


def test_every_variant_is_there() -> None:
    numbers = {int(path.name[2:4]) for path in VARIANTS}
    assert numbers == set(range(1, 40))


def test_one_list_two_meanings() -> None:
    """[1, 3, 5] counts outputs in one layout and inputs in the other, and is never turned into the other's numbers."""
    drafters = [
        cases.opened(cases.read(cases.FIXTURES / "variants" / f"M-36-{kind}.toml")).recognition.drafter
        for kind in ("outputs", "inputs")
    ]
    assert [(type(d), d.layer_ids[0].ids.value, d.counts) for d in drafters if isinstance(d, BlockDrafter)] == [
        (BlockDrafter, (1, 3, 5), "outputs"),
        (BlockDrafter, (1, 3, 5), "inputs"),
    ]
