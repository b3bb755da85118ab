"""A finding once, with every check that shares it: the same mistake at three versions is one mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from drafter_lint.findings import Finding, Skip
from drafter_lint.renderers.artifacts import Place, primary
from drafter_lint.report import Check

#: The word most readers have for an outcome.
LEVELS = {"refuses": "error", "silent": "error", "slow": "warning", "hygiene": "note"}


class Occurrence(NamedTuple):
    """A finding, where it is shown, and the checks it was made in."""

    finding: Finding
    place: Place
    checks: list[Check]

    @property
    def check(self) -> Check:
        """The check whose words and places the finding has."""
        return self.checks[0]

    @property
    def engines(self) -> str:
        """``sglang 0.5.9, 0.5.23; vllm 0.33.0``."""
        return engine_list(self.checks)


class Unchecked(NamedTuple):
    """A check that could not run, and the checks it was missed in."""

    skip: Skip
    checks: list[Check]


def in_each_engine(checks: Iterable[Check]) -> list[Occurrence]:
    """Worst first; one entry for all versions of an engine."""
    return _grouped((check, check.engine.name if check.engine else "") for check in checks)


def in_all_engines(checks: Iterable[Check]) -> list[Occurrence]:
    """Worst first; one entry for all engines."""
    return _grouped((check, "") for check in checks)


def unchecked(checks: Iterable[Check]) -> list[Unchecked]:
    """What could not be checked, one entry per rule and reason, what the verdict rests on first."""
    found: dict[tuple[str, str], Unchecked] = {}
    for check in checks:
        for skip in check.not_checked:
            found.setdefault((skip.code, skip.reason), Unchecked(skip, [])).checks.append(check)
    return sorted(found.values(), key=lambda item: not item.skip.needed)


def pair_name(check: Check) -> str:
    """``drafter on target``, with commits."""
    return f"{check.drafter.shown} on {check.target.shown if check.target else 'no known target'}"


def engine_name(check: Check) -> str:
    """``sglang 0.5.23``."""
    return f"{check.engine.name} {check.engine.version}" if check.engine else "no engine"


def engine_list(checks: Iterable[Check]) -> str:
    """Engines, each once, with its versions."""
    versions: dict[str, dict[str, None]] = {}
    for check in checks:
        known = versions.setdefault(check.engine.name if check.engine else "no engine", {})
        if check.engine:
            known[check.engine.version] = None
    return "; ".join(f"{name} {', '.join(items)}".strip() for name, items in versions.items())


def pairs(checks: Iterable[Check]) -> Iterator[list[Check]]:
    """The checks of each pair together, in the order in which pairs first appear."""
    found: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        found.setdefault((check.drafter.name, check.target.name if check.target else ""), []).append(check)
    yield from found.values()


def _grouped(checks: Iterable[tuple[Check, str]]) -> list[Occurrence]:
    found: dict[tuple[object, ...], Occurrence] = {}
    for check, engine in checks:
        pair = (check.drafter.name, check.target.name if check.target else "")
        for finding in check.findings:
            place = primary(finding, check)
            key = (*pair, engine, finding.code, finding.message, place.path, place.line)
            found.setdefault(key, Occurrence(finding, place, [])).checks.append(check)
    return sorted(found.values(), key=lambda item: -item.finding.outcome.rank)
