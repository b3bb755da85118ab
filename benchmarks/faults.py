"""What becomes of a check when a Hub fails: every fault at every stage, how it ends, with what code, and how soon.

python benchmarks/faults.py [--write]

Exits with 1 if a cell ends otherwise than it must, or after the deadline. ``--write`` puts the table into docs/hub.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from hub_faults import FAULTS, STAGES, Expected, Fault, broken, expected
from loopback_hub import Stage

PAGE = Path(__file__).resolve().parent.parent / "docs" / "hub.md"
#: Seconds all requests to one repository may take.
DEADLINE = 2.0
#: What a check may take beside its requests, in seconds: it is judged and printed after the last of them was given up.
GRACE = 0.5
#: How often a cell is measured at most: a machine that is busy with something else is late for reasons of its own.
TRIES = 3
NAMES = {"info": "listing", "header": "header", "values": "`d2t`", "config": "config.json"}
START, END = "<!-- measured: faults -->\n", "<!-- end: faults -->\n"


def main() -> int:
    """Measure, print, and say whether all of it is as it must be."""
    wrong: list[str] = []
    lines: list[str] = []
    broken(FAULTS[0], "info", deadline=DEADLINE)  # so that the first cell does not pay for what is loaded once
    for line in table(wrong):
        print(line, flush=True)
        lines.append(line + "\n")
    for line in wrong:
        print(f"wrong: {line}")
    if "--write" in sys.argv[1:] and not wrong:
        before, _, rest = PAGE.read_text("utf-8").partition(START)
        PAGE.write_text(f"{before}{START}\n{''.join(lines)}\n{END}{rest.partition(END)[2]}", "utf-8")
    return 1 if wrong else 0


def table(wrong: list[str]) -> Iterator[str]:
    """The lines of a Markdown table; what is not as it must be is added to a list."""
    yield f"| the Hub's answer | {' | '.join(NAMES.get(stage, stage) for stage in STAGES)} |"
    yield "| --- |" + " --- |" * len(STAGES)
    for fault in FAULTS:
        yield f"| {fault.words} | {' | '.join(cell(fault, stage, wrong) for stage in STAGES)} |"


def cell(fault: Fault, stage: Stage, wrong: list[str]) -> str:
    """``unknown, 3, 0.98``: the verdict, the exit code, and the time as a part of the deadline."""
    for _ in range(TRIES):
        answer, _ = broken(fault, stage, deadline=DEADLINE)
        seconds = float(answer.report["io"]["seconds"])
        if seconds <= DEADLINE + GRACE:
            break
    (verdict,) = answer.verdicts
    wanted = expected(fault, stage)
    told = not wanted.code or any(line.startswith(wanted.code) for line in answer.said)
    if Expected(answer.code, verdict, wanted.code) != wanted or not told or answer.err or seconds > DEADLINE + GRACE:
        wrong.append(f"{fault.words}, {stage}: {verdict}, {answer.code}, {seconds:.1f} s {answer.err}")
    return f"{verdict}, {answer.code}, {seconds / DEADLINE:.2f}"


if __name__ == "__main__":
    sys.exit(main())
