"""Every malformed file is told once, by name, with the right exit code, and costs no memory to speak of."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from bad_folders import KINDS
from hub_pairs import spawn
from malformed_batch import BATCHES, TABLE

READERS = tuple(dict.fromkeys(item.reader for item in TABLE))
#: Bytes of memory, of the whole process, while it reads any of them.
MOST = 200_000_000
TESTS = Path(__file__).parent
_BATCH = f"import sys; sys.path.insert(0, {str(TESTS)!r}); from malformed_batch import main; main(sys.argv[1:])"


def test_there_are_two_hundred_kinds_and_no_two_of_one_name() -> None:
    names = Counter([item.name for item in TABLE] + [kind.name for kind in KINDS])
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) >= 400
    assert len(TABLE) >= 200
    assert len(READERS) >= 15


@pytest.mark.parametrize("batch", [pytest.param(name, marks=[pytest.mark.slow] * ("/" in name)) for name in BATCHES])
def test_it_is_told_once_and_read_within_bounds(tmp_path: Path, batch: str) -> None:
    """In a process of its own, in which nothing else takes memory: what makes the files is another one."""
    kinds = BATCHES[batch]
    made = spawn(tmp_path, ("make", batch), program=_BATCH)
    assert (made.code, made.err) == (0, "")
    answer = spawn(tmp_path, ("check", batch), program=_BATCH)
    assert (answer.code, answer.err) == (0, "")
    said = [json.loads(line) for line in answer.out.splitlines()]
    wrong = [
        f"{kind.name}: exit {exit_code}, told {told}"
        for kind, (exit_code, codes, told) in zip(kinds, said, strict=True)
        if exit_code != kind.exit_code
        or len(told) != 1
        or not re.search(kind.says, told[0], re.DOTALL)
        or not set(kind.code.split("|") if kind.code else codes) >= set(codes)
        or "Traceback" in told[0]
    ]
    assert not wrong, "\n".join(wrong)
    assert answer.peak < MOST
