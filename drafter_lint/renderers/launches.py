"""The commands of a pair: to be pasted, with the reason for every flag, what is left out, and what speaks against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drafter_lint.composition import Composed, Launches, Omission, defaults
from drafter_lint.errors import UsageError
from drafter_lint.findings import Evidence, Finding, Location, Outcome
from drafter_lint.launch.composed import Part
from drafter_lint.renderers.advice import advice, citations
from drafter_lint.renderers.ink import cells, clean, paint, plain, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.summary import (
    answer_lines,
    engine_lines,
    engine_name,
    headline,
    not_checked_lines,
    pair_lines,
    row,
)

_LEVELS = {
    Outcome.REFUSES: ("error", "red"),
    Outcome.SILENT: ("error", "red"),
    Outcome.SLOW: ("warning", "yellow"),
    Outcome.HYGIENE: ("note", "cyan"),
}
#: The column of flags takes so much of the width at most, and a longer flag a line of its own.
_SHARE = 0.4
_GAP = "  "


def render(made: Launches, style: Style) -> str:
    """The screen."""
    return plain(_lines(made, style), style)


def shell(made: Launches, style: Style) -> str:
    """The commands alone, those that would not work left out; several are told apart by a comment."""
    ready = [item for item in made.composed if item.command and item.status != "refused"]
    blocks = [
        (f"# {engine_name(item.check)}\n" if len(made.composed) > 1 else "") + f"{item.command.text}\n"
        for item in ready
        if item.command
    ]
    return "\n".join(blocks).encode("utf-8" if style.unicode else "ascii", "backslashreplace").decode("utf-8")


def config(made: Launches, style: Style) -> str:
    """The flags of the one command as the file that ``--config`` takes.

    Raises:
        UsageError: there are several commands, or the release reads no such file.
    """
    if len(made.composed) != 1:
        raise UsageError("--format config writes one engine's file; name it with --engine")
    (item,) = made.composed
    if item.command is None or item.status == "refused":
        return ""
    if not item.command.takes_config:
        raise UsageError(f"{engine_name(item.check)} reads no file of flags: --config came later")
    return item.command.config.encode("utf-8" if style.unicode else "ascii", "backslashreplace").decode("utf-8")


def told(made: Launches) -> Iterator[str]:
    """What speaks against the commands that are not printed, in a line each."""
    for item in made.composed:
        if item.status == "refused" or item.command is None:
            codes = ", ".join(dict.fromkeys(f"{finding.code} {finding.name}" for finding in item.against))
            yield f"{engine_name(item.check)}: {_verdict(item)}" + (f": {codes}" if codes else "")


def _lines(made: Launches, style: Style) -> Iterator[str]:
    checks = [item.check for item in made.composed]
    if not style.quiet:
        yield from pair_lines(checks[0], style)
    for index, item in enumerate(made.composed):
        if index or not style.quiet:
            yield ""
        yield from _refused(item, style) if item.status == "refused" or not item.command else _ready(item, style)
    if not style.quiet:
        yield ""
        yield from not_checked_lines(checks, made.cost, style)


def _ready(item: Composed, style: Style) -> Iterator[str]:
    if item.command is None:
        return
    if not style.quiet:
        yield from engine_lines(item.check, style)
        yield ""
    first, *rest = item.command.text.split("\n")
    yield paint(clean(first, _WHOLE), style, "bold")
    yield from (paint(clean(line, _WHOLE), style, "bold") for line in rest)
    if style.quiet:
        return
    yield ""
    yield from _table("why", (_reason(part, style) for part in item.command.parts), style)
    mine = [_left_out(omitted) for omitted in item.omitted if omitted.asked]
    yield from _table("left out", mine, style)
    yield from _table("often given, not here", (_left_out(o) for o in item.omitted if not o.asked), style)
    yield from _table(
        "left to the engine", ((f"{flag} {value}", why, ()) for flag, value, why in defaults(item)), style
    )
    for note in item.notes:
        yield from wrapped(note, style, first=" ! ", rest="   ")
    yield from answer_lines(item.check, style)
    yield from _findings(item.check.findings, style)


def _refused(item: Composed, style: Style) -> Iterator[str]:
    name = engine_name(item.check)
    for line in wrapped(f"{name}: {_verdict(item)}", style, first=" ", rest="   "):
        yield paint(line, style, "red", "bold")
    yield from _findings(item.check.findings, style, item.command.argv if item.command else ())
    if style.quiet:
        return
    if item.command:
        yield from row("tried", " ".join(item.command.text.replace("\\\n", " ").split()), style)
    yield from _table("left out", (_left_out(omitted) for omitted in item.omitted if omitted.asked), style)
    if item.works_in:
        yield from row("works in", ", ".join(releases.shown for releases in item.works_in), style)
    elif item.works_in is not None:
        yield from row("works in", "no release of any engine read", style)


def _verdict(item: Composed) -> str:
    if item.command is None:
        return "no command can be put together: " + _unknown(item)
    return "no command makes this pair work"


def _unknown(item: Composed) -> str:
    if item.check.target is None:
        return "no target is known; name one with --target"
    if item.check.target_read is None:
        return "the target could not be read"
    return "the drafter's method is not known"


def _findings(findings: Sequence[Finding], style: Style, argv: Sequence[str] = ()) -> Iterator[str]:
    for finding in findings:
        level, color = _LEVELS[finding.outcome]
        yield from headline(f" {level}[{finding.code}]", f"{finding.name}: {finding.message}", style, color)
        if finding.fix and finding.outcome.rank >= Outcome.SLOW.rank:
            yield from wrapped(f"fix: {advice(finding.fix, argv, quoted=True)}", style, first="    ", rest="    ")


_Row = tuple[str, str, Sequence[str]]


def _reason(part: Part, style: Style) -> _Row:
    cited = list(dict.fromkeys(citations(part.evidence)))
    shown = cited if style.verbose else [item.partition(" (")[0] for item in _short(part.evidence)][:1]
    place = [_place(part.at)] if part.at else []
    mends = f" (mends {', '.join(part.mends)})" if part.mends else ""
    return part.shown, part.why + mends, ["; ".join((*place, *shown))] if place or shown else []


def _short(evidence: Iterable[Evidence]) -> Iterator[str]:
    for item in evidence:
        yield ", ".join(filter(None, (f"{item.engine} {item.version}".strip(), item.file, item.symbol)))


def _place(at: Location) -> str:
    where = ":".join(str(part) for part in (at.file, at.line, at.column) if part)
    return f"{at.role}'s {where or at.tensor or at.label or 'files'}"


def _left_out(item: Omission) -> _Row:
    code = f" ({item.code})" if item.code else ""
    instead = f"; {item.instead} stands in its place" if item.instead and item.asked else ""
    return item.shown, item.why + instead + code, ()


def _table(title: str, rows: Iterable[_Row], style: Style) -> Iterator[str]:
    """Words on the left, what is said of them on the right; below each other where the words are long."""
    table = [(clean(words, _WHOLE), says, cited) for words, says, cited in rows]
    if not table:
        return
    yield paint(f" {title}", style, "bold")
    most = int(style.width * _SHARE)
    width = max((cells(words) for words, _, _ in table if cells(words) <= most), default=most)
    hang = " " * (3 + width + len(_GAP))
    for words, says, cited in table:
        if cells(words) <= width:
            head = f"   {words}{' ' * (width - cells(words))}{_GAP}"
            first, *rest = wrapped(says, style, first="x" * len(hang), rest=hang)
            yield f"   {paint(words, style, 'cyan')}{head[3 + len(words) :]}{first[len(hang) :]}"
            yield from rest
        else:
            yield f"   {paint(words, style, 'cyan')}"
            yield from wrapped(says, style, first=hang, rest=hang)
        for text in cited:
            yield from (paint(line, style, "dim") for line in wrapped(text, style, first=hang, rest=hang))
    yield ""


#: A command is shown whole, however long it is.
_WHOLE = 100_000
