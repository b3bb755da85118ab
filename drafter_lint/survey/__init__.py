"""Many pairs: read from a list, judged here, in processes or on a cluster, and written down one line each, in order."""

from __future__ import annotations

from drafter_lint.survey.output import Output
from drafter_lint.survey.rows import Row, Shard, count, read_rows
from drafter_lint.survey.running import Crew, cluster, here, processes
from drafter_lint.survey.survey import Survey, Tick

__all__ = [
    "Crew",
    "Output",
    "Row",
    "Shard",
    "Survey",
    "Tick",
    "cluster",
    "count",
    "here",
    "processes",
    "read_rows",
]
