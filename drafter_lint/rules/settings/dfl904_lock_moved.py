"""A checkpoint that is not the one in the lock file.

## What it checks
With `--locked`: the commit of every repository, and the digests of config.json and of the safetensors headers, against
`drafter-lint.lock`.

## Why it bites
What was checked, measured and agreed on is not what a server would load today, and nothing says so: a branch moved, or
a file in a folder was written again. That need not be a mistake, hence the outcome `hygiene`; because `--locked` asks
for it, the run fails all the same, under every `--fail-on` but `never`.

## Fix
If the change is wanted, run `drafter-lint lock` and commit the new lock file. If it is not, name the locked commit
behind `@`.

## Limits
A digest covers config.json and the headers (names, types, shapes, places), never the weights. For a repository the
commit covers everything.
"""

from __future__ import annotations

from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.scope import Locked


@rule("DFL904", "lock-moved", Outcome.HYGIENE)
def check(at: Locked) -> Checks:
    """A commit or a digest moved."""
    if at.locked == at.found:
        return
    now = f"is {at.found[:12]}" if at.found else "is gone"
    was = f"the lock file says {at.locked[:12]}" if at.locked else "the lock file knows none"
    yield Found(
        message=f"{at.subject}: {at.part} {now}, {was}",
        locations=(at.at.saying(f"{at.part} {at.locked[:12]}".strip()),),
        measured={"part": at.part, "locked": at.locked, "found": at.found},
        fix=Fix("drafter-lint lock, if the change is wanted"),
    )
