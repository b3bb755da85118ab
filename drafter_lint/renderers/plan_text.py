"""A plan for a person: what the engine will do, step by step, every line with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from drafter_lint.engines.plan import Plan
from drafter_lint.findings import Evidence
from drafter_lint.renderers.ink import paint, plain, plural, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Report

_WORD = 14
_INDENT = " " * (_WORD + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a plan: its topic, what is said, and where that was seen."""

    topic: str
    says: str
    evidence: Sequence[Evidence] = ()
    color: str = "cyan"


def render(report: Report, style: Style) -> str:
    """Every plan of a report."""
    blocks: list[list[str]] = []
    for check in report.checks:
        blocks += [list(_plan(plan, style)) for plan in check.plans]
        if not check.plans:
            blocks.append(list(_without(check, style)))
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines else block
    return plain(lines, style)


def _without(check: Check, style: Style) -> Iterator[str]:
    engine = f"{check.engine.name} {check.engine.version}" if check.engine else "no engine"
    yield paint(f"{engine}: no plan could be made", style, "bold")
    if check.target is None:
        yield from wrapped("no target is known; name one with --target", style, first="  ", rest="    ")
    for skip in check.not_checked:
        if skip.needed:
            yield from wrapped(f"{skip.code} {skip.name}: {skip.reason}", style, first="  ", rest="    ")


def _plan(plan: Plan, style: Style) -> Iterator[str]:
    basis = "" if plan.basis == plan.version else f" as read in {plan.basis}"
    yield paint(f"{plan.engine} {plan.version} ({plan.knowledge}{basis})", style, "bold")
    topic = ""
    shown: tuple[Evidence, ...] = ()
    for row in _rows(plan):
        evidence = tuple(row.evidence)
        yield from _row(row, style, repeated=row.topic == topic, cite=not style.quiet and evidence != shown)
        topic, shown = row.topic, evidence or shown


def _row(row: Row, style: Style, *, repeated: bool, cite: bool) -> Iterator[str]:
    topic = "" if repeated else row.topic
    first, *rest = wrapped(row.says, style, first=f"  {topic:<{_WORD}}", rest=_INDENT)
    yield "  " + paint(first[2 : len(_INDENT)], style, row.color) + first[len(_INDENT) :]
    yield from rest
    for where in dict.fromkeys(_cited(item, style) for item in row.evidence) if cite else ():
        for line in wrapped(where, style, first=_INDENT, rest=_INDENT + "  "):
            yield paint(line, style, "dim")


def _cited(item: Evidence, style: Style) -> str:
    note = f": {item.note}" if item.note and style.verbose else ""
    return f"[{item.how}] {', '.join(filter(None, (item.version, item.file, item.symbol)))}{note}"


def _rows(plan: Plan) -> Iterator[Row]:
    decided = {item.says for item in (plan.head, plan.embedding, plan.map, plan.fc) if item}
    for step in plan.steps:
        if step.says not in decided:  # the result below says the same
            yield Row(topic=step.topic, says=step.says, evidence=step.evidence)
    if not plan.speculates:
        yield Row(topic="speculates", says="no: the server runs without speculation", color="yellow")
    if not plan.understood:
        yield Row(topic="", says="what this method does next is not modelled", color="yellow")
    for rewrite in plan.rewrites:
        text = f"{rewrite.what} {rewrite.before} -> {rewrite.after}: {rewrite.says}"
        yield Row(topic="rewritten", says=text, evidence=rewrite.evidence)
    for item in (*plan.ignored_flags, *plan.ignored_fields):
        yield Row(topic="ignored", says=f"{item.field}: {item.says}", evidence=item.evidence)
    yield from _states(plan)
    yield from _weights(plan)
    for refusal in plan.refusals:
        says = f"at {refusal.stage}: {refusal.says}"
        yield Row(topic="refuses", says=says, evidence=refusal.evidence, color="red")


def _states(plan: Plan) -> Iterator[Row]:
    if plan.capture:
        capture = plan.capture
        width = f", {capture.width} values a token" if capture.width else ""
        if capture.active:
            shown = "/".join(map(str, capture.boundaries)) or "none"
            says = f"boundaries {shown}{width} ({capture.reading or 'default'})"
        else:
            says = f"the last hidden state only{width}"
        yield Row(topic="captures", says=says, evidence=capture.evidence)
        for ignored in capture.ignored:
            yield Row(topic="ignored", says=f"{ignored.at.pointer}: {list(ignored.value)} is not read")
    if plan.fc:
        state = "runs" if plan.fc.runs else "does not run" if plan.fc.built else "is not part of the class"
        widths = f"; takes {plan.fc.takes}, fed {plan.fc.fed}" if plan.fc.built else ""
        yield Row(topic="fc", says=_joined(f"{state}{widths}", plan.fc.says, "; "), evidence=plan.fc.evidence)
    for topic, provision in (("head", plan.head), ("embedding", plan.embedding)):
        if provision:
            yield Row(topic=topic, says=_joined(provision.provider, provision.says), evidence=provision.evidence)
    if plan.map:
        yield Row(topic="map", says=_joined(plan.map.use, plan.map.says), evidence=plan.map.evidence)
    for name, scheme in plan.schemes.items():
        says = _joined(f"{name} {'on' if scheme.on else 'off'}", scheme.says)
        yield Row(topic="switch", says=says, evidence=scheme.evidence)


def _weights(plan: Plan) -> Iterator[Row]:
    if plan.tensors:
        taken = sum(item.fate == "taken" for item in plan.tensors)
        yield Row(topic="tensors", says=f"{taken} of {plural(len(plan.tensors), 'tensor')} taken whole")
    for item in plan.tensors:
        if item.fate != "taken":
            yield Row(topic="tensors", says=_joined(f"{item.name} {item.fate}", item.says), evidence=item.evidence)
    for parameter in plan.parameters:
        if parameter.state != "filled":
            holds = f", holds {parameter.holds}" if parameter.holds else ""
            unread = "" if parameter.matters else "; nothing reads it"
            says = f"{parameter.name} {list(parameter.shape)} {parameter.state}{holds}{unread}"
            yield Row(topic="parameters", says=says)


def _joined(head: str, says: str, separator: str = ": ") -> str:
    return f"{head}{separator}{says}" if says else head
