"""One line per finding, for grep and editors."""

from __future__ import annotations

from drafter_lint.findings import Location
from drafter_lint.renderers.ink import clean, plain
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Report


def render(report: Report, style: Style) -> str:
    """``place: outcome[code] name: message (engines)`` lines, each finding once, then one line per check."""
    findings: dict[str, list[str]] = {}
    verdicts = []
    for check in report.checks:
        engine = f"{check.engine.name} {check.engine.version}" if check.engine else "no engine"
        for finding in check.findings:
            place = _place(finding.locations[0]) if finding.locations else check.drafter.shown
            line = f"{place}: {finding.outcome.value}[{finding.code}] {finding.name}: {finding.message}"
            findings.setdefault(line, []).append(engine)
        verdicts.append(_verdict(check, engine))
    lines = [f"{line} ({', '.join(engines)})" for line, engines in findings.items()]
    if not style.quiet:
        lines += verdicts
    return plain(map(clean, lines), style)


def _verdict(check: Check, engine: str) -> str:
    source = f"{_place(check.source)}: " if check.source else ""
    if check.unresolved:
        return f"{source}{check.verdict}: {'; '.join(skip.reason for skip in check.not_checked) or 'not resolved'}"
    target = check.target.shown if check.target else "no target"
    needed = [skip.reason for skip in check.not_checked if skip.needed] if check.verdict == "unknown" else []
    # What could not be read is told in full once, and in short by each rule that wanted it.
    why = "; ".join(dict.fromkeys(one for one in needed if not any(one in other and one != other for other in needed)))
    return f"{source}{check.verdict}: {check.drafter.shown} on {target}, {engine}" + (f": {why}" if why else "")


def _place(at: Location) -> str:
    if at.tensor:
        return f"{at.subject}/{at.file}:{at.tensor}"
    if at.role == "launch" and not at.file:
        return f"command line:{at.column}" if at.column else "command line"
    place = at.file if at.role == "launch" else "/".join(filter(None, (at.subject, at.file)))
    return place + (f":{at.line}:{at.column}" if at.line else "")
