"""The command line of the kit: run an installed engine, report on what was recorded, add it to the truth."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import mkdtemp
from typing import get_args

import click

from conformance.adding import add
from conformance.record import Record
from conformance.report import Report, report
from conformance.session import CannotStart, Session
from conformance.truth import Engine, load_cases

_RECORDS = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def main() -> None:
    """Run the truth cases on an engine that is installed, and compare."""


@main.command()
@click.option("--engine", type=click.Choice(get_args(Engine)), required=True)
@click.option(
    "--python", type=click.Path(exists=True, path_type=Path), required=True, help="Of the engine's environment."
)
@click.option("--case", "patterns", multiple=True, metavar="GLOB", help="Only these cases; all without it.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the records go, a line of JSON each.")
@click.option("--limit", default=180.0, show_default=True, help="Seconds a case may take.")
def run(engine: Engine, python: Path, patterns: tuple[str, ...], out: Path | None, limit: float) -> None:
    """Run cases and report."""
    cases = [case for case in load_cases() if not patterns or any(fnmatchcase(case.id, glob) for glob in patterns)]
    if not cases:
        raise click.UsageError("no case has such a name")
    scratch = Path(mkdtemp(prefix="conformance-"))
    session = Session(engine=engine, python=python.absolute(), limit=limit, scratch=scratch)
    records: list[Record] = []
    out = out or scratch / "records.jsonl"
    try:
        with out.open("w", encoding="utf-8") as stream:
            for each in session.run(cases):
                records.append(each)
                stream.write(each.line())
                stream.flush()
                click.echo(_progress(each), err=True)
    except CannotStart as error:
        click.echo(f"{engine} does not start: {error}", err=True)
        sys.exit(3)
    click.echo(f"records {out}, logs {scratch}", err=True)
    _tell(report(cases, records, engine=engine))


@main.command("report")
@click.argument("records", type=_RECORDS)
def report_on(records: Path) -> None:
    """Report on records made before."""
    read = [Record.parse(line) for line in records.read_text("utf-8").splitlines()]
    if not read:
        raise click.UsageError(f"{records} holds no record")
    made = {each.case for each in read}
    _tell(report([case for case in load_cases() if case.id in made], read, engine=read[0].engine))


@main.command("add")
@click.argument("records", type=_RECORDS)
def add_to_truth(records: Path) -> None:
    """Add records to fixtures/truth; what is recorded there already stays as it is."""
    cases = {case.id: case for case in load_cases()}
    read = [Record.parse(line) for line in records.read_text("utf-8").splitlines()]
    runs = [(each.case, each.run) for each in read if each.run is not None]
    added = sum(add(cases[case], run) for case, run in runs)
    click.echo(f"{added} added, {len(runs) - added} recorded before, {len(read) - len(runs)} not run")


def _tell(made: Report) -> None:
    click.echo(made.text(), nl=False)
    sys.exit(made.exit_code)


def _progress(each: Record) -> str:
    said = each.run.outcome if each.run else f"not run: {each.not_run}"
    return f"{each.case:<44} {said:<8} {each.run.stage if each.run else ''} {each.seconds or 0:.1f} s"


if __name__ == "__main__":
    main()
