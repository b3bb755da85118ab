"""A survey: the rows that are not written down yet, judged by a crew and written down in the order of the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from drafter_lint.renderers.survey_record import Record
from drafter_lint.survey.judging import Terms, key
from drafter_lint.survey.output import Output
from drafter_lint.survey.rows import Row
from drafter_lint.survey.running import CHUNK, Chunk, Crew

#: Called with how many rows were judged, and the line of the last, "" if there is none.
Tick = Callable[[int, str], None]


@dataclass(slots=True)
class Survey:
    """A run over a list.

    Attributes:
        rows: gives the rows from the start, each time it is called.
        terms: what holds for all.
        output: where records go.
    """

    rows: Callable[[], Iterator[Row]]
    terms: Terms
    output: Output
    _keys: set[bytes] = field(default_factory=set)

    def run(self, crew: Crew, tick: Tick) -> None:
        """Judge what is not written down yet.

        Raises:
            UsageError: the output takes no more, or the crew cannot work.
        """
        done = 0
        with crew(self._chunks(), self.terms) as lines:
            for line in lines:
                if line:
                    self.output.write(line)
                done += 1
                tick(done, line)

    def records(self) -> Iterator[Record]:
        """The records of this list as far as it was run, those of an earlier run too, in the order of the output."""
        return self.output.records(self._keys)

    def _chunks(self) -> Iterator[Chunk]:
        waiting: list[Row] = []
        for row in self.rows():
            name = bytes.fromhex(key(row, self.terms))
            again = name in self._keys  # a row that stands twice in a list is judged once
            self._keys.add(name)
            if again or name in self.output.held:
                continue
            waiting.append(row)
            if len(waiting) == CHUNK:
                yield tuple(waiting)
                waiting = []
        if waiting:
            yield tuple(waiting)
