"""What passes between the kit and a worker: one JSON object a line each way."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import TypeAlias

Partial: TypeAlias = dict[str, list[int]]


@dataclass(frozen=True)
class Task:
    """One case to run.

    Attributes:
        case: its id.
        folder: where ``target`` and the drafter's folder lie; the run's working directory.
        drafter: the drafter's folder in it, "target" if it rides inside the target.
        launch: the command line, as a user would type it.
        environment: variables set for it.
        limit: seconds it may take.
    """

    case: str
    folder: str
    drafter: str
    launch: list[str]
    environment: dict[str, str]
    limit: float


@dataclass
class Seen:
    """What a run showed; a field is None if it was not reached or cannot be seen.

    Attributes:
        case: the id of the task.
        version: of the engine.
        stage: how far it got.
        seconds: it took, without the import of the engine.
        not_run: why this is no observation of the pair: a time limit, a signal, a limit of the machine.
        error_type: the exception that ended it.
        error_text: what it said.
        error_at: file and function of the engine that raised it.
        method: as the engine resolved it.
        draft_class: of the drafter's model.
        aux_layers: what the target was told to hand over.
        dropped: tensors of the file of which no row is in any parameter.
        consumed: those among them that the engine keeps elsewhere.
        unfilled: parameters as poisoned after loading as before.
        partial: parameters with some poison left: elements left, elements in all.
        shares_embed: the drafter's embedding is the target's object.
        shares_lm_head: the same of the head.
        num_speculative_tokens: a step of drafting makes so many.
        accept_length: tokens a verification step yields.
        target_right: False if the target itself did not continue as it was built to: nothing can be said then.
    """

    case: str
    version: str
    stage: str = "start"
    seconds: float | None = None
    not_run: str | None = None
    error_type: str | None = None
    error_text: str | None = None
    error_at: str | None = None
    method: str | None = None
    draft_class: str | None = None
    aux_layers: list[int] | None = None
    dropped: list[str] | None = None
    consumed: list[str] = field(default_factory=list)
    unfilled: list[str] | None = None
    partial: Partial | None = None
    shares_embed: bool | None = None
    shares_lm_head: bool | None = None
    num_speculative_tokens: int | None = None
    accept_length: float | None = None
    target_right: bool | None = None

    def to_line(self) -> str:
        """As one line of JSON."""
        return json.dumps({key: value for key, value in asdict(self).items() if value is not None}) + "\n"


def whole_numbers(values: Iterable[object] | None) -> list[int] | None:
    """Layers as numbers; None if the engine holds something else, which a config may have brought in."""
    numbers = [value for value in values or () if isinstance(value, int)]
    return numbers if len(numbers) == len(list(values or ())) else None


def task_line(task: Task) -> str:
    """A task as one line of JSON."""
    return json.dumps(asdict(task)) + "\n"


def read_task(line: str) -> Task:
    """A task from its line."""
    return Task(**json.loads(line))


def read_seen(line: str) -> Seen:
    """An observation from its line."""
    return replace(Seen(case="", version=""), **json.loads(line))
