"""Suppressions: findings somebody has looked at and taken responsibility for, each with a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from operator import eq, ge, gt, le, lt, ne

from packaging.version import InvalidVersion, Version

from drafter_lint.errors import UsageError
from drafter_lint.findings import Location
from drafter_lint.linter import Selection, tell
from drafter_lint.report import Check, Subject, Suppressed
from drafter_lint.rules import all_rules
from drafter_lint.scope import Suppressing

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    "==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt,
}  # fmt: skip
_RANGE = re.compile(r"\s*(?P<engine>[a-z]+)\s*(?P<bounds>(?:[=!<>]=|[<>]).*)?")
_BOUND = re.compile(r"\s*([=!<>]=|[<>])\s*v?([^\s,=<>!]+)\s*")
_INLINE = re.compile(r"drafter-lint:\s*ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?(?P<reason>[^\n]*)")
_BLOCK = re.compile(r":\s*[|>][-+\d]*\s*(?:#.*)?$")
_COMMENT = re.compile(r"\s*(?:#|//|<!--|;|--\s|rem\s)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EngineRange:
    """An engine and the versions of it that are meant, compared as numbers: 0.5.10.post1 is above 0.5.10.

    A version *specifier* would say otherwise: to it, ``>0.5.10`` leaves out 0.5.10.post1.
    """

    engine: str
    bounds: tuple[tuple[str, Version], ...] = ()

    @classmethod
    def parse(cls, text: str) -> EngineRange:
        """``sglang``, ``sglang==0.5.9``, ``sglang>=0.5.9,<0.5.13``.

        Raises:
            UsageError: it is none of these.
        """
        match = _RANGE.fullmatch(text)
        bounds = []
        for part in (match["bounds"] or "").split(",") if match and match["bounds"] else ():
            bound = _BOUND.fullmatch(part)
            try:
                bounds.append((bound[1], Version(bound[2])) if bound else None)
            except InvalidVersion:
                bounds.append(None)
        if match is None or None in bounds:
            raise UsageError(f"{text!r} is no range of versions; expected one such as sglang>=0.5.9,<0.5.13")
        return cls(match["engine"], tuple(bound for bound in bounds if bound))

    def holds(self, engine: str, version: str) -> bool:
        """True if that version of that engine is meant."""
        found = Version(version)
        return engine == self.engine and all(_COMPARISONS[sign](found, bound) for sign, bound in self.bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """What is suppressed, where, and why.

    Attributes:
        code: of the rule; "" if ``problem`` says that there is none.
        reason: why, in the words of whoever wrote it.
        at: where that is written.
        drafter: a glob over drafters' names; None for any.
        target: the same for targets.
        engine: the engine and its versions; None for any.
        until: the last day on which it holds; None for ever.
        command: the one command it belongs to, if it is written beside it.
        problem: why it suppresses nothing, "" if it can.
    """

    code: str
    reason: str
    at: Location
    drafter: str | None = None
    target: str | None = None
    engine: EngineRange | None = None
    until: date | None = None
    command: Location | None = None
    problem: str = ""

    def covers(self, check: Check) -> bool:
        """True if the check is one it speaks of."""
        if self.command is not None and check.source != self.command:
            return False
        if self.engine and not (check.engine and self.engine.holds(check.engine.name, check.engine.version)):
            return False
        return _named(check.drafter, self.drafter) and _named(check.target, self.target)


def _named(subject: Subject | None, glob: str | None) -> bool:
    if glob is None:
        return True
    return subject is not None and any(fnmatchcase(name, glob) for name in {subject.name, subject.spelling})


def rule_code(text: str) -> str | None:
    """The code of a rule named by code or slug, None if nobody answers to it."""
    return next((rule.code for rule in all_rules() if text.upper() == rule.code or text.lower() == rule.name), None)


def inline(text: str, *, file: str, lines: Iterable[int], command: Location) -> tuple[Suppression, ...]:
    """The ``drafter-lint: ignore[CODE] reason`` comments of a command.

    Args:
        text: the document.
        file: its path.
        lines: the lines, from 1, on which the command's words stand.
        command: where the command starts; comment lines right above it, and above the key of a YAML block, count too.
    """
    written = text.splitlines()
    wanted = {number for number in lines if 0 < number <= len(written)}
    above = (command.line or 1) - 1
    if above > 0 and _BLOCK.search(written[above - 1]):
        wanted.add(above)
        above -= 1
    while above > 0 and _COMMENT.match(written[above - 1]):
        wanted.add(above)
        above -= 1
    found: list[Suppression] = []
    for number in sorted(wanted):
        line = written[number - 1]
        for match in _INLINE.finditer(line):
            column, width = match.start() + 1, len(match[0].rstrip())
            at = Location(role="launch", subject=file, file=file, line=number, column=column, width=width, text=line)
            found += _written(match["codes"] or "", _reason(match["reason"]), at, command)
    return tuple(found)


def _reason(text: str) -> str:
    return text.strip().removesuffix("-->").removesuffix("*/").strip(" :-–—")


def _written(codes: str, reason: str, at: Location, command: Location) -> Iterable[Suppression]:
    words = [word.strip() for word in codes.split(",") if word.strip()]
    if not words:
        words = [""]
    for word in words:
        code = rule_code(word) if word else None
        problem = (
            "" if code and reason else "no rule is named" if not word else f"there is no rule {word!r}" if not code
            else "no reason is given"
        )  # fmt: skip
        yield Suppression(code=code or "", reason=reason, at=at, command=command, problem=problem)


def suppressed(
    checks: Sequence[Check],
    suppressions: Iterable[Suppression],
    *,
    selection: Selection,
    today: date,
    whole: bool = False,
) -> tuple[Check, ...]:
    """The checks without what is suppressed, and with what there is to say of the suppressions themselves.

    A suppression that takes nothing away is a finding of the first check it covers, if its rule could judge there.

    Args:
        checks: of one run.
        suppressions: in the order written.
        selection: which rules run.
        today: the day of the run.
        whole: True if the run checks all that the settings speak of: then a suppression that covers nothing is unused.
    """
    result = list(checks)
    for item in dict.fromkeys(suppressions):
        covered = [index for index, check in enumerate(result) if item.covers(check)]
        if not covered and not (whole and item.command is None and result):
            continue
        expired = item.until is not None and item.until < today
        taken = 0
        hidden = False
        for index in covered if not (expired or item.problem) else ():
            check = result[index]
            mine = tuple(finding for finding in check.findings if finding.code == item.code)
            hidden = hidden or any(finding.code == item.code for finding in check.hidden)
            taken += len(mine)
            result[index] = replace(
                check,
                findings=tuple(finding for finding in check.findings if finding.code != item.code),
                suppressed=(
                    *check.suppressed,
                    *(Suppressed(finding=finding, reason=item.reason, at=item.at) for finding in mine),
                ),
            )
        judged = not hidden and (not covered or any(item.code in result[index].ran for index in covered))
        scope = Suppressing(
            at=item.at,
            code=item.code,
            reason=item.reason,
            until=item.until,
            today=today,
            matched=taken if taken or judged else None,
            problem=item.problem,
        )
        index = covered[0] if covered else 0
        result[index] = tell(result[index], scope, selection=selection)
    return tuple(result)
