"""The report as JUnit XML: a suite per check, a case per rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drafter_lint.findings import Finding, Outcome, Skip
from drafter_lint.renderers.advice import advice
from drafter_lint.renderers.escaping import block, markup
from drafter_lint.renderers.occurrences import engine_name, pair_name
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Report
from drafter_lint.rules import all_rules

_CASE = 4


def render(report: Report, style: Style) -> str:
    """Failures for findings from ``slow`` up, skipped for what could not run, system-out for what is worth tidying."""
    suites = [_Suite(check) for check in report.checks]
    tests, failures = sum(len(suite.codes) for suite in suites), sum(len(suite.failing) for suite in suites)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="drafter-lint" tests="{tests}" failures="{failures}" errors="0">')
    for suite in suites:
        lines += suite.lines()
    text = "\n".join([*lines, "</testsuites>", ""])
    # Whatever reads XML reads character references, so the text can be kept to ASCII without losing any.
    return text if style.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


class _Suite:
    """One check, sorted by rule."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.findings: dict[str, list[Finding]] = {}
        self.skips: dict[str, list[Skip]] = {}
        for finding in check.findings:
            self.findings.setdefault(finding.code, []).append(finding)
        for skip in check.not_checked:
            self.skips.setdefault(skip.code, []).append(skip)
        named = {rule.code: rule.name for rule in all_rules()}
        said = {skip.code: skip.name for skip in check.not_checked}
        said |= {finding.code: finding.name for finding in check.findings}
        self.codes = {code: said.get(code) or named.get(code, "") for code in sorted({*check.ran, *said})}
        self.failing = {code for code, items in self.findings.items() if any(map(_fails, items))}

    def lines(self) -> Iterator[str]:
        """The suite's lines."""
        check = self.check
        skipped = [code for code in self.skips if code not in self.failing]
        counts = f'tests="{len(self.codes)}" failures="{len(self.failing)}" errors="0" skipped="{len(skipped)}"'
        yield f'  <testsuite name="{markup(f"{pair_name(check)}, {engine_name(check)}")}" {counts}>'
        yield "    <properties>"
        for name, value in _properties(check).items():
            yield f'      <property name="{name}" value="{markup(value)}"/>'
        yield "    </properties>"
        for code, name in self.codes.items():
            yield from self._case(code, name)
        yield "  </testsuite>"

    def _case(self, code: str, name: str) -> Iterator[str]:
        body = [*self._outcome(code), *self._notes(code)]
        head = f'{" " * _CASE}<testcase classname="drafter-lint.{markup(code[:4])}xx" name="{markup(f"{code} {name}")}"'
        if not body:
            yield f"{head}/>"
            return
        yield f"{head}>"
        yield from body
        yield f"{' ' * _CASE}</testcase>"

    def _outcome(self, code: str) -> Iterator[str]:
        failing = [item for item in self.findings.get(code, []) if _fails(item)]
        if failing:
            worst = failing[0]
            text = block(line for item in failing for line in _described(item, self.check))
            message, kind = markup(worst.message), markup(worst.outcome.value)
            yield f'      <failure message="{message}" type="{kind}">{text}</failure>'
        elif skips := self.skips.get(code):
            reasons = "; ".join(("needed: " if skip.needed else "") + skip.reason for skip in skips)
            yield f'      <skipped message="{markup(reasons)}"/>'

    def _notes(self, code: str) -> Iterator[str]:
        """What is worth tidying, and what of a failing rule could not be checked."""
        lines = [
            line for item in self.findings.get(code, []) if not _fails(item) for line in _described(item, self.check)
        ]
        if code in self.failing:
            lines += [f"not checked: {skip.reason}" for skip in self.skips.get(code, [])]
        if lines:
            yield f"      <system-out>{block(lines)}</system-out>"


def _fails(finding: Finding) -> bool:
    return finding.outcome.rank >= Outcome.SLOW.rank


def _described(finding: Finding, check: Check) -> Sequence[str]:
    lines = [f"{finding.outcome.value} ({finding.confidence.value}): {finding.message}"]
    for at in finding.locations:
        line = f":{at.line}:{at.column}" if at.line else ""
        inside = at.tensor or at.pointer or ""
        place = " ".join(filter(None, (at.subject, at.file + line, inside)))
        lines.append(f"  at {place}" + (f": {at.label}" if at.label else ""))
    if finding.fix:
        lines.append(f"  fix: {advice(finding.fix, check.request.argv if check.request else ())}")
    return lines


def _properties(check: Check) -> dict[str, str]:
    return {
        "verdict": check.verdict,
        "drafter": check.drafter.shown,
        "target": check.target.shown if check.target else "",
        "engine": engine_name(check),
        "knowledge": check.engine.knowledge if check.engine else "",
        "command": " ".join(check.request.argv) if check.request else "",
    }
