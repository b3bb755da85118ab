"""Report files of a survey: its matrix in several formats, each whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from drafter_lint.errors import UsageError
from drafter_lint.outputs import FILE_STYLE, Output, write_lines
from drafter_lint.renderers.matrix import MATRICES, Records, lines


def parse_reports(texts: Iterable[str]) -> tuple[Output, ...]:
    """``FORMAT=FILE``, as typed, any number of times.

    Raises:
        UsageError: the format is not known, there is no file, or two reports go to one.
    """
    made: list[Output] = []
    for text in texts:
        format_, equals, path = text.partition("=")
        if not equals or not path:
            raise UsageError(f"--report {text!r}: expected FORMAT=FILE, such as html=survey.html")
        if format_ not in MATRICES:
            raise UsageError(f"--report {text!r}: a survey has the formats {', '.join(MATRICES)}")
        if any(item.path == path for item in made):
            raise UsageError(f"--report: two reports would go to {path}")
        made.append(Output(format_, path))
    return tuple(made)


def write_report(report: Output, records: Records) -> None:
    """Write one.

    Raises:
        UsageError: it cannot be written.
    """
    made = (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines(records, report.format_, FILE_STYLE))
    try:
        write_lines(report.path, made)
    except OSError as error:
        raise UsageError(f"--report: {report.path} could not be written: {error.strerror or error}") from error
