"""One row judged: its checks as the line that is written down. What several rows name is opened once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from drafter_lint.api import Job, checkpoints_for, run
from drafter_lint.drafters import Layout
from drafter_lint.errors import UsageError
from drafter_lint.opening import Checkpoints
from drafter_lint.renderers.survey_record import record
from drafter_lint.renderers.tool_version import tool_version
from drafter_lint.report import Report
from drafter_lint.requested import row_jobs
from drafter_lint.survey.rows import Row

#: How many checkpoints of either side stay open: rows of a list that name the same target stand together or in turns.
KEPT_OPEN = 16
#: The method of a language model that nobody made to draft.
_ORDINARY = "draft_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for every row.

    Attributes:
        base: how to read, what to show and when to fail; its target stands where a row names none.
        engines: where a row names none, and nobody typed any.
        variables: what variables of launch files hold.
        tool: the version of this tool; records of another are not comparable.
        run: which survey this is: a worker that outlives it opens everything anew for the next.
    """

    base: Job
    engines: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    tool: str = field(default_factory=tool_version)
    run: str = field(default_factory=lambda: uuid4().hex)


def key(row: Row, terms: Terms) -> str:
    """What a record is found by again: the same row under the same terms, by the same version of this tool."""
    base = terms.base
    said = [
        terms.tool,
        row.pair.model_dump(mode="json"),
        row.folder.as_posix(),
        [base.target, base.engines, terms.engines, base.target_revision],
        [base.selection.select, base.selection.ignore, base.selection.min_confidence.value, base.fail_on],
        sorted(terms.variables.items()),
        sorted(base.aliases.items()),
        [repr(item) for item in base.suppressions],
    ]
    return hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()[:16]


_open = threading.local()


def judge_rows(rows: Iterable[Row], terms: Terms) -> list[str]:
    """The records of some rows, in their order, "" for one passed over; what another process is asked to do.

    Raises:
        UsageError: this is another version of the tool than the one that asks.
    """
    here = tool_version()
    if here != terms.tool:
        raise UsageError(f"a worker has drafter-lint {here}, and this is {terms.tool}; their verdicts may differ")
    checkpoints: Checkpoints | None = getattr(_open, "checkpoints", None)
    if checkpoints is None or getattr(_open, "run", None) != terms.run:
        checkpoints = _open.checkpoints = checkpoints_for(terms.base)
        _open.run = terms.run
    made = []
    for row in rows:
        made.append(_judged(row, terms, checkpoints))
        checkpoints.forget(KEPT_OPEN)
    return made


def _judged(row: Row, terms: Terms, checkpoints: Checkpoints) -> str:
    name = key(row, terms)
    asked = row.pair.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    try:
        report = _checked(row, terms, checkpoints)
    except UsageError as error:
        return record(name, asked, None, tool=terms.tool, error=str(error))
    except Exception as error:  # noqa: BLE001 - one pair that meets a bug of ours ends no survey of ten thousand
        told = f"internal error: {type(error).__name__}: {error} (a bug in drafter-lint)"
        return record(name, asked, None, tool=terms.tool, error=told)
    return record(name, asked, report, tool=terms.tool) if report else ""


def _checked(row: Row, terms: Terms, checkpoints: Checkpoints) -> Report | None:
    """The report of a row; None if it came up in a folder and is no drafter."""
    jobs = row_jobs(row.pair, terms.base, folder=row.folder, engines=terms.engines, variables=terms.variables)
    if not jobs:
        raise UsageError("no launch command there")
    if row.found and not _is_drafter(jobs[0], checkpoints):
        return None
    return run(*jobs, checkpoints=checkpoints)


def _is_drafter(job: Job, checkpoints: Checkpoints) -> bool:
    """True unless it is known to be something else."""
    if job.drafter is None:
        return False
    files = checkpoints.open(job.drafter, role="drafter")
    opened = checkpoints.understood(files, None)
    drafter = opened.recognition.drafter
    if drafter.layout is Layout.UNKNOWN:
        return bool(opened.troubles)  # what cannot be read is told rather than passed over
    return drafter.layout is not Layout.NOT_A_DRAFTER and drafter.method != _ORDINARY
