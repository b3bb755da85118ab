"""A run that mends: fixes carried out and checked again, and what is said of them on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from drafter_lint.errors import UsageError
from drafter_lint.fixes import FileChange, Fixes, FixFailed, Proposal, apply, plan_fixes
from drafter_lint.report import Report

#: A fix that overlapped with another one finds its place in the next round; what needs more rounds goes in circles.
MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Mended:
    """What came of it.

    Attributes:
        report: of the last run, after every change.
        done: the changes carried out, in order.
        rest: what the fixes of ``report`` come to; its changes were not carried out.
    """

    report: Report
    done: tuple[FileChange, ...]
    rest: Fixes


def proposed(check: Callable[[], Report], *, unsafe: bool, variables: Mapping[str, str]) -> Mended:
    """A run, and what its fixes would change; nothing is written."""
    report = check()
    return Mended(report, (), plan_fixes(report, unsafe=unsafe, root=Path.cwd(), variables=variables))


def mended(check: Callable[[], Report], *, unsafe: bool, variables: Mapping[str, str]) -> Mended:
    """A run whose fixes are carried out; it is run again after every change, so that its report is of what is there.

    Args:
        check: one run, reading every file anew.
        unsafe: as :func:`~drafter_lint.fixes.plan_fixes` takes it.
        variables: the same.

    Raises:
        UsageError: a file could not be written; all of them are as they were.
    """
    found = proposed(check, unsafe=unsafe, variables=variables)
    done: tuple[FileChange, ...] = ()
    for _ in range(MAX_ROUNDS):
        if not found.rest.changes:
            break
        try:
            apply(found.rest.changes)
        except FixFailed as error:
            raise UsageError(f"--fix: {error}") from error
        done += found.rest.changes
        found = proposed(check, unsafe=unsafe, variables=variables)
    return Mended(found.report, done, found.rest)


def told(found: Mended) -> Iterator[str]:
    """The lines for standard error: what was mended, what is left to a person, what to propose to a repository."""
    for change in found.done:
        yield f"fixed {change.shown}"
        yield from (f"    {fix}" for fix in change.fixes)
    for left in found.rest.left:
        where = f" ({left.where})" if left.where else ""
        yield f"left {left.code} {left.name}{where}: {left.reason}; by hand: {left.advice}"
    for proposal in found.rest.proposals:
        yield from _of(proposal)


def _of(proposal: Proposal) -> Iterator[str]:
    commit = f" @ {proposal.commit[:7]}" if proposal.commit else ""
    yield f"to propose to {proposal.repository}{commit}, with the difference below as {proposal.patch_file}:"
    yield from (f"    {fix}" for fix in proposal.fixes)
    yield from (f"    $ {command}" for command in proposal.commands)
    yield from proposal.diff.splitlines()
