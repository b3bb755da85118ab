"""Runs the command line on malformed files, many in one process: made by one first, then read by another.

One line for each kind: the exit code, the codes of what was told, and what was told, each thing once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

from hub_pairs import Answer, run, small
from malformed import CHECK, CHECKPOINTS, DRAFTER, SMALL_JSON, TARGET, TOKENIZERS, Malformed
from malformed_own import OWN

TABLE: tuple[Malformed, ...] = (*CHECKPOINTS, *OWN)
#: Starting a process costs more than reading a dozen files; the large ones take seconds and are left to ``make hooks``.
BATCHES: Mapping[str, tuple[Malformed, ...]] = {
    "weights": tuple(item for item in TABLE if item.reader in {"header", "index"} and not item.large),
    "tokenizers": tuple(item for item in TOKENIZERS if not item.large),
    "json": SMALL_JSON,
    "own": OWN,
    **{item.name: (item,) for item in TABLE if item.large},
}


#: The codes below are those of rules about access.
_ACCESS = "DFL100"


def main(words: list[str]) -> None:
    """``make BATCH`` or ``check BATCH``, in the folder of now."""
    task, batch = words
    kinds = BATCHES[batch]
    if task == "check":
        usual = frozenset(_skips(_run(Path("sound"), CHECK)))
    for number, kind in enumerate([None, *kinds] if task == "make" else kinds, 0 if task == "make" else 1):
        folder = Path(str(number) if number else "sound")
        if task == "make":
            small("eagle3-llama").write(folder / DRAFTER)
            small("target-llama").without_weights().write(folder / TARGET)
            if kind:
                kind.make(folder)
        elif kind:
            print(json.dumps(_told(_run(folder, kind.words), usual)))  # noqa: T201 - its only output


def _run(folder: Path, words: tuple[str, ...]) -> Answer:
    with chdir(folder):
        return run(*words)


def _told(answer: Answer, usual: frozenset[tuple[str, str]]) -> tuple[int, list[str], list[str]]:
    """Findings; where there are none, what could not be checked but is in a sound pair; without a report, the error."""
    if not answer.out.startswith("{"):
        return answer.code, [], [answer.err]
    found = {(item["code"], item["message"]) for check in answer.checks for item in check["findings"]}
    skips = _skips(answer) - usual
    # A file that could not be read is told by the rule for that; what else could not be checked follows from it.
    told = found or {item for item in skips if item[0] < _ACCESS} or skips
    return answer.code, sorted({code for code, _ in told}), sorted({text for _, text in told})


def _skips(answer: Answer) -> set[tuple[str, str]]:
    """What was not checked; that no plan could be made follows from something else."""
    skips = {(item["code"], item["reason"]) for check in answer.checks for item in check["not_checked"]}
    return {(code, reason) for code, reason in skips if code != "DFL000"}
