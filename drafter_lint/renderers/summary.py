"""What a check rests on: the pair, the engine, whether it loads, drafts and pays, and what could not be checked."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from drafter_lint.findings import Finding, Location, Outcome
from drafter_lint.launch import LaunchRequest
from drafter_lint.renderers.ink import cells, clean, paint, plural, size, wrapped
from drafter_lint.renderers.style import Style
from drafter_lint.report import Check, Cost, Subject

_COLORS = {"refuses": "red", "silent": "red", "slow": "yellow", "unknown": "yellow", "hygiene": "cyan", "ok": "green"}
_ANSWERS = {"yes": "green", "no": "red", "0 notes": "green"}
_WORD = 9
_ANSWER = 9
_NAMED = 4


def engine_name(check: Check) -> str:
    """``sglang 0.5.23``."""
    return f"{check.engine.name} {check.engine.version}" if check.engine else "no engine"


def engine_names(checks: Sequence[Check]) -> Iterator[str]:
    """``sglang 0.5.9, 0.5.23``, ``vllm 0.33.0``: the name once for all its versions."""
    for name, group in groupby(checks, key=lambda check: check.engine.name if check.engine else "no engine"):
        versions = [check.engine.version for check in group if check.engine]
        yield f"{name} {', '.join(versions)}".strip()


def verdict_color(check: Check) -> str:
    """The colour of a verdict."""
    return _COLORS[check.verdict]


def headline(tag: str, text: str, style: Style, *colors: str) -> Iterator[str]:
    """``error[DFL401] name: message``, the tag in its colour, all of it bold."""
    first, *rest = wrapped(f"{tag} {text}", style, first="", rest="    ")
    yield paint(tag, style, *colors, "bold") + paint(first[len(tag) :], style, "bold")
    yield from (paint(line, style, "bold") for line in rest)


def summary(checks: Sequence[Check], cost: Cost, style: Style) -> Iterator[str]:
    """One pair's summary: the pair once, then every engine."""
    if checks[0].source:
        yield from row("command", _place(checks[0].source), style)
    if not checks[0].unresolved:
        yield from pair_lines(checks[0], style)
    for check in [check for check in checks if check.engine]:
        if len(checks) > 1:
            yield ""
        yield from engine_lines(check, style)
        yield from answer_lines(check, style)
    if len(checks) > 1:
        yield ""
    yield from not_checked_lines(checks, cost, style)


def answer_lines(check: Check, style: Style) -> Iterator[str]:
    """Whether it loads, drafts and pays."""
    for word, answer, why in _answers(check):
        yield from row(word, f"{answer:<{_ANSWER}}{why}", style, answer=answer)


def row(word: str, text: str, style: Style, *, answer: str = "") -> Iterator[str]:
    """A word and what is said of it, wrapped behind the word."""
    hang = 1 + _WORD + (_ANSWER if answer else 0)
    first, *rest = wrapped(text, style, first=f" {word:<{_WORD}}", rest=" " * hang)
    at = 1 + _WORD
    yield first[:at] + paint(answer, style, _ANSWERS.get(answer, "yellow")) + first[at + len(answer) :]
    yield from rest


def pair_lines(check: Check, style: Style) -> Iterator[str]:
    """Name and description in two columns, or below each other where the terminal is too narrow."""
    subjects = [item for item in (check.drafter, check.target) if item]
    names = [_name(item) for item in subjects]
    width = max(map(cells, names))
    fits = all(1 + _WORD + width + 3 + cells(clean(item.title)) <= style.width for item in subjects)
    for item, name in zip(subjects, names, strict=True):
        if fits:
            gap = " " * (width - cells(name) + 3)
            yield f" {item.role:<{_WORD}}{name}{gap}{clean(item.title)}".rstrip()
        else:
            yield from row(item.role, name, style)
            yield from row("", item.title, style) if item.title else ()
    if check.alone:
        yield from row("alone", "the drafter's own files; no target, no engine", style)
    elif check.target is None:
        yield from row("target", "none given, and the drafter names none", style)


def _place(at: Location) -> str:
    return ":".join(str(part) for part in (at.file, at.line, at.column) if part)


def _name(subject: Subject) -> str:
    origin = "" if subject.origin == "given" else f" ({subject.origin})"
    return clean(subject.shown + origin)


def engine_lines(check: Check, style: Style) -> Iterator[str]:
    """The engine, how well it is known, and the flags it was given where nobody typed any."""
    if check.engine is None:
        return
    known = check.engine
    said = {
        "observed": "observed",
        "bracketed": f"not read itself; {_both(known.basis)} agree",
        "ambiguous": f"not read itself; {_both(known.basis)} differ",
        "extrapolated": f"newer than all read; known up to {known.newest}",
    }[known.knowledge]
    newest = ", newest known" if known.version == known.newest and known.knowledge == "observed" else ""
    yield from row("engine", f"{known.name} {known.version} ({said}{newest}){_method(check)}", style)
    if check.plans and check.request and check.request.assumed and (flags := _assumed(check.request, check)):
        yield from row("flags", f"none given; with those it needs: {flags}", style)


def _assumed(request: LaunchRequest, check: Check) -> str:
    """The flags the engine needs, without the two names the summary has already given."""
    names = {check.drafter.name, check.target.name if check.target else ""}
    named = {index for index, word in enumerate(request.argv) if index and word in names}
    spoken = named | {index - 1 for index in named if request.argv[index - 1].startswith("-")}
    words = [word for index, word in enumerate(request.argv) if index not in spoken]
    return shlex.join(words)


def _both(basis: Sequence[str]) -> str:
    return "the releases read around it" if len(set(basis)) < 2 else " and ".join(dict.fromkeys(basis))


def _method(check: Check) -> str:
    if not check.plans:
        return ""
    plan = check.plans[-1]
    if not plan.speculates:
        return ", no speculation"
    runner = f", model runner {plan.runner}" if plan.runner else ""
    return (f", method {plan.method}" if plan.method else "") + runner


def _answers(check: Check) -> Iterator[tuple[str, str, str]]:
    """Loads, drafts, pays: each with what it rests on."""
    refused, silent, slow = (_of(check, item) for item in (Outcome.REFUSES, Outcome.SILENT, Outcome.SLOW))
    notes = (*slow, *_of(check, Outcome.HYGIENE))
    plan = check.plans[-1] if check.plans else None
    unread = check.verdict == "unknown" or plan is None or not plan.understood
    idle = plan is not None and not plan.speculates and not unread
    if refused:
        yield "loads", "no", _codes(refused)
    else:
        yield "loads", "unknown" if unread else "yes", _loads(check)
    if silent:
        yield "drafts", "no", _codes(silent)
    elif idle and not refused:
        yield "drafts", "no", "the server runs without speculation"
    else:
        yield "drafts", "unknown" if unread or refused else "yes", "it does not load" if refused else _drafts(check)
    if slow or not (unread or refused or silent or idle):
        yield "pays", plural(len(notes), "note"), _codes(notes) or "nothing found that costs speed"
    else:
        why = "it does not load" if refused else "it does not draft" if silent or idle else ""
        yield "pays", "unknown", _codes(notes) or why


def _of(check: Check, outcome: Outcome) -> tuple[Finding, ...]:
    """Findings about the pair; what is said of suppressions and locks (9xx) decides none of the three answers."""
    return tuple(item for item in check.findings if item.outcome is outcome and item.code[3:4] != "9")


def _codes(findings: Sequence[Finding]) -> str:
    return ", ".join(dict.fromkeys(f"{item.code} {item.name}" for item in findings))


def _loads(check: Check) -> str:
    if not check.plans:
        return "no plan could be made"
    fates = check.plans[-1].tensors
    if not fates:
        return ""
    placed = sum(item.fate in ("taken", "consumed", "cut") for item in fates)
    unneeded = sum(item.fate == "dropped" and item.expected for item in fates)
    spare = f", {unneeded} not needed" if unneeded else ""
    return f"{placed} of {len(fates)} tensors have a place{spare}"


def _drafts(check: Check) -> str:
    plan = check.plans[-1] if check.plans else None
    if plan is None or not plan.understood:
        return ""
    said = []
    if plan.capture and plan.capture.active and plan.capture.boundaries:
        said.append(f"states captured at boundaries {'/'.join(map(str, plan.capture.boundaries))}")
    if plan.fc and plan.fc.runs and plan.fc.fed:
        said.append(f"fc is fed {plan.fc.fed}")
    if plan.map and plan.map.use == "offsets":
        said.append("d2t applied as offsets")
    return ", ".join(said)


def not_checked_lines(checks: Sequence[Check], cost: Cost, style: Style) -> Iterator[str]:
    """How much was checked and what it cost; then what could not be checked, one line per reason, needed ones first."""
    checked, skipped = sum(check.checked for check in checks), sum(len(check.not_checked) for check in checks)
    head, tail = f" {checked} checked, {skipped} not checked", ", ".join(spent(cost))
    yield (
        f"{head}{tail.rjust(style.width - len(head) - 1)}" if len(head) + len(tail) + 4 <= style.width else head + tail
    )
    reasons: dict[tuple[bool, str], dict[str, None]] = {}
    for skip in (skip for check in checks for skip in check.not_checked):
        reasons.setdefault((not skip.needed, skip.reason), {})[f"{skip.code} {skip.name}"] = None
    for (spare, reason), named in sorted(reasons.items(), key=lambda item: item[0][0]):
        shown = list(named) if style.verbose else list(named)[:_NAMED]
        more = f" and {len(named) - len(shown)} more" if len(named) > len(shown) else ""
        concerned = [check for check in checks if any(skip.reason == reason for skip in check.not_checked)]
        said = all(engine_name(check) in reason for check in concerned)
        where = f" ({', '.join(engine_names(concerned))})" if len(checks) > len(concerned) and not said else ""
        text = f"{', '.join(shown)}{more}: {reason}{where}"
        yield from wrapped(text, style, first="   - " if spare else "   ! ", rest="     ")
    yield from _suppressed(checks, style)


def _suppressed(checks: Sequence[Check], style: Style) -> Iterator[str]:
    """How many findings count no more: one line, each rule with its reasons."""
    taken = {(item.finding.code, item.finding.message): item for check in checks for item in check.suppressed}
    said = dict.fromkeys(f"{item.finding.code} ({item.reason})" for item in taken.values())
    if said:
        yield from wrapped(f"{len(taken)} suppressed: {', '.join(said)}", style, first=" ", rest="   ")


def spent(cost: Cost) -> tuple[str, ...]:
    """Requests, bytes and seconds of what came from a Hub, now or once: a local check has nothing to say here."""
    if not cost.requests and not cost.cached:
        return ()
    kept = f", {size(cost.cached)} of them from cache" if 0 < cost.cached < cost.bytes else ""
    read = f"{size(cost.bytes)}{kept}" if cost.cached < cost.bytes else f"{size(cost.bytes)} from cache"
    return plural(cost.requests, "request"), read, f"{cost.seconds:.1f} s"
