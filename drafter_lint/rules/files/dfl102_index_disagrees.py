"""An index file that does not describe the shards beside it.

## What it checks
That every shard model.safetensors.index.json names is there, and that each tensor stands where the index says.

## Why it bites
A shard that is missing takes its tensors with it. Newer engines stop and name it; older ones load the rest, and the
drafter runs with parameters nothing filled. Tensors the index misplaces are still loaded, since engines read whole
files; an index that knows nothing of a file makes them leave it out.

## Fix
Fetch the missing shard, or write the index anew.

## Limits
Engines differ by version on missing shards; the outcome given is the milder one, which holds for all of them.
"""

from __future__ import annotations

from drafter_lint.checkpoint import TensorTable
from drafter_lint.drafters import Drafter
from drafter_lint.errors import Unavailable
from drafter_lint.findings import Evidence, Fix, Found, Location, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.shared import listed, refusals
from drafter_lint.scope import Alone, Deployment

_SYMBOL = "filter_duplicate_safetensors_files"
_EVIDENCE = tuple(
    Evidence(engine=engine, version=version, file=f"{folder}/model_loader/weight_utils.py", symbol=_SYMBOL, how="read",
             note=note)
    for engine, version, folder, note in (
        ("vllm", "0.27.1 to 0.33.0", "model_executor", "raises for a shard the index names and the folder lacks"),
        ("vllm", "0.8.5 to 0.24.0", "model_executor", "keeps the shards that are there and says nothing"),
        ("sglang", "0.5.17 to 0.5.23", "srt", "raises for a shard the index names and the folder lacks"),
        ("sglang", "0.4.6.post5 to 0.5.16", "srt", "keeps the shards that are there and says nothing"),
    )
)  # fmt: skip


@rule("DFL102", "index-disagrees", Outcome.HYGIENE)
def check(at: Alone[Drafter] | Deployment[Drafter]) -> Checks:
    """The index against the shards' own headers."""
    try:
        table = at.drafter.checkpoint.tensors
    except Unavailable:
        return
    # An engine that stops there is told of by weights-missing.
    stopped = isinstance(at, Deployment) and bool(refusals(at, "weights-missing"))
    if table.missing_files and not stopped:
        yield Found(
            message=f"{table.index} names {len(table.missing_files)} shards that are not there: "
            + listed(table.missing_files),
            locations=(_index(table, "names a shard that is not there"),),
            measured={"missing": list(table.missing_files), "present": len(table.files)},
            evidence=_EVIDENCE,
            fix=Fix(f"fetch {listed(table.missing_files)}"),
            outcome=Outcome.SILENT,
        )
    wrong = [item for item in table.disagreements if item.found is not None or item.indexed in table.files]
    if wrong:
        places = [table.at(item.tensor, f"the index says {item.indexed or 'nothing'}") for item in wrong[:3]]
        names = listed([item.tensor for item in wrong])
        yield Found(
            message=f"{table.index} and the shards disagree on {len(wrong)} tensor{'s' * (len(wrong) > 1)}: {names}",
            locations=(_index(table, "disagrees with the shards"), *places),
            measured={"tensors": len(wrong)},
            fix=Fix("write the index anew from the shards"),
        )
    if table.duplicates:
        name, files = next(iter(table.duplicates.items()))
        yield Found(
            message=f"{len(table.duplicates)} tensors stand in more than one file, {name} in {' and '.join(files)}",
            locations=(table.at(name, "the copy in the last file wins"),),
            measured={"tensors": len(table.duplicates)},
            fix=Fix("keep one copy of each tensor"),
        )


def _index(table: TensorTable, label: str) -> Location:
    return Location(role=table.role, subject=table.subject, file=table.index or "", label=label)
