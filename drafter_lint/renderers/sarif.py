"""The report as SARIF 2.1.0, within what GitHub code scanning takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from drafter_lint.findings import Finding, JsonValue, Location
from drafter_lint.renderers.advice import advice, citations
from drafter_lint.renderers.artifacts import Place, place_of
from drafter_lint.renderers.document import plain
from drafter_lint.renderers.escaping import message, sound, uri
from drafter_lint.renderers.fingerprint import Fingerprints
from drafter_lint.renderers.occurrences import LEVELS, Occurrence, in_each_engine, unchecked
from drafter_lint.renderers.replacements import Replacement, replacements
from drafter_lint.renderers.sarif_rules import descriptor
from drafter_lint.renderers.style import Style
from drafter_lint.renderers.tool_version import tool_version
from drafter_lint.report import Report
from drafter_lint.rules import all_rules

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: GitHub rejects a run with more results than this, and shows no more related places than that.
MAX_RESULTS, MAX_RELATED = 25_000, 100
_BASE = "%SRCROOT%"
#: GitHub follows an alert by this key and computes it from the file's lines itself wherever there is a file; its upload
#: action warns about every value that differs from its own. Ours is for results without a file in the checkout.
_GITHUB_FINGERPRINT = "primaryLocationLineHash"
_FINGERPRINT = "drafterLint/v1"

Object = dict[str, JsonValue]


def render(report: Report, style: Style) -> str:
    """One SARIF log with one run."""
    return json.dumps(log(report), indent=2, ensure_ascii=not style.unicode) + "\n"


def log(report: Report) -> Object:
    """The log as a JSON object."""
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(report)]}


def _run(report: Report) -> Object:
    found = in_each_engine(report.checks)
    shown, left_out = found[:MAX_RESULTS], len(found) - MAX_RESULTS
    known = {rule.code: rule for rule in all_rules()}
    codes = {code for check in report.checks for code in check.ran}
    codes |= {item.code for check in report.checks for item in check.not_checked if item.code in known}
    found_by: dict[str, list[Finding]] = {}
    for item in shown:
        found_by.setdefault(item.finding.code, []).append(item.finding)
    ordered = sorted(codes | set(found_by))
    index = {code: number for number, code in enumerate(ordered)}
    rules: list[JsonValue] = [descriptor(code, known.get(code), found_by.get(code, [])) for code in ordered]
    fingerprints = Fingerprints()
    return {
        "tool": {
            "driver": {
                "name": "drafter-lint",
                "fullName": f"drafter-lint {tool_version()}",
                "version": tool_version(),
                "semanticVersion": tool_version(),
                "rules": rules,
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The root of the checkout."}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [*_notifications(report, index), *_left_out(left_out)],
            }
        ],
        "results": [_result(item, index, fingerprints) for item in shown],
    }


def _result(item: Occurrence, index: Mapping[str, int], fingerprints: Fingerprints) -> Object:
    finding, check = item.finding, item.check
    fingerprint = fingerprints.of(finding, check)
    partial: Object = {_FINGERPRINT: fingerprint}
    if not item.place.local:
        partial[_GITHUB_FINGERPRINT] = fingerprint if ":" in fingerprint else f"{fingerprint}:1"
    result: Object = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": LEVELS[finding.outcome.value],
        "message": {"text": _said(item)},
        "locations": [_location(item.place, item)],
        "partialFingerprints": partial,
        "properties": _properties(item),
    }
    if related := list(_related(item)):
        result["relatedLocations"] = related
    if fix := _fix(item):
        result["fixes"] = [fix]
    return result


def _said(item: Occurrence) -> str:
    """The message, who it is about, and the advice: a reader sees it without the rest."""
    finding, check = item.finding, item.check
    target = check.target.name if check.target else "no known target"
    parts = [f"{finding.message} ({check.drafter.name} on {target}, {item.engines})"]
    if finding.fix:
        parts.append(f"Fix: {advice(finding.fix, check.request.argv if check.request else ())}")
    return message(". ".join(part.rstrip(".") for part in parts)) + "."


def _properties(item: Occurrence) -> Object:
    finding, check = item.finding, item.check
    made: Object = {
        "outcome": finding.outcome.value,
        "confidence": finding.confidence.value,
        "drafter": sound(check.drafter.name),
        "target": sound(check.target.name) if check.target else None,
        "engine": check.engine.name if check.engine else None,
        "versions": [sound(each.engine.version) for each in item.checks if each.engine],
        "measured": plain(finding.measured),
        "evidence": [sound(text) for text in citations(finding.evidence)],
    }
    return {key: value for key, value in made.items() if value not in (None, [], {})}


def _location(place: Place, item: Occurrence) -> Object:
    at = place.at
    made: Object = {"physicalLocation": _physical(place, line=True)}
    logical = _logical(at) if at else None
    if logical:
        made["logicalLocations"] = [logical]
    if at and at.label and at in item.finding.locations:
        made["message"] = {"text": message(at.label)}
    return made


def _related(item: Occurrence) -> Iterator[JsonValue]:
    """Every other place; one on our own command line has no file and stands at the result's own."""
    others = [at for at in item.finding.locations if at is not item.place.at][:MAX_RELATED]
    for number, at in enumerate(others):
        place = place_of(at, item.check) or Place(item.place.path, local=item.place.local)
        made: Object = {"id": number, "physicalLocation": _physical(place, line=False)}
        if logical := _logical(at):
            made["logicalLocations"] = [logical]
        made["message"] = {"text": message(": ".join(filter(None, (_named(at), at.label))) or at.subject)}
        yield made


def _physical(place: Place, *, line: bool) -> Object:
    made: Object = {"artifactLocation": _artifact(place)}
    if place.at and place.at.line:
        made["region"] = _region(place.at, place.at.line)
        if place.at.text and place.at.column is not None:
            made["contextRegion"] = {"startLine": place.at.line, "snippet": {"text": sound(place.at.text)}}
    elif line:  # GitHub shows nothing without a line
        made["region"] = {"startLine": 1}
    return made


def _artifact(place: Place) -> Object:
    address = uri(place.path)
    return {"uri": address} if address.startswith("file:") else {"uri": address, "uriBaseId": _BASE}


def _region(at: Location, line: int) -> Object:
    if at.column is None:
        return {"startLine": line}
    start = _units(at.text, at.column - 1)
    end = _units(at.text, at.column - 1 + (at.width or 1))
    made: Object = {"startLine": line, "startColumn": start + 1, "endLine": line, "endColumn": end + 1}
    if at.text and at.width and (seen := at.text[at.column - 1 :][: at.width]):
        made["snippet"] = {"text": sound(seen)}
    return made


def _units(text: str | None, count: int) -> int:
    """UTF-16 code units in the first ``count`` characters: SARIF counts those, and an emoji is two."""
    before = (text or "")[:count]
    return count + sum(ord(char) > 0xFFFF for char in before)


def _named(at: Location) -> str:
    if at.tensor is not None:
        return f"{at.tensor} {list(at.shape) if at.shape is not None else '(absent)'}"
    if at.role == "launch":
        return f"command line, word {at.argument}" if at.argument is not None and not at.file else at.subject
    return at.pointer or at.file


def _logical(at: Location) -> Object | None:
    if at.tensor is not None:
        return {"name": sound(at.tensor), "fullyQualifiedName": sound(f"{at.subject}#{at.tensor}"), "kind": "tensor"}
    if at.pointer:
        name = at.pointer.rpartition("/")[2]
        full = f"{at.subject}/{at.file}#{at.pointer}"
        return {"name": sound(name), "fullyQualifiedName": sound(full), "kind": "value"}
    if at.role == "launch" and at.argument is not None:
        return {
            "name": f"argv[{at.argument}]",
            "fullyQualifiedName": f"command line argv[{at.argument}]",
            "kind": "argument",
        }
    return None


def _fix(item: Occurrence) -> Object | None:
    finding = item.finding
    edits = replacements(finding, item.check)
    if not edits or finding.fix is None:
        return None
    changes: dict[str, list[Replacement]] = {}
    for edit in edits:
        changes.setdefault(edit.place.path, []).append(edit)
    made: list[JsonValue] = [
        {"artifactLocation": _artifact(group[0].place), "replacements": [_replacement(edit) for edit in group]}
        for group in changes.values()
    ]
    return {"description": {"text": message(finding.fix.text)}, "artifactChanges": made}


def _replacement(edit: Replacement) -> JsonValue:
    if edit.whole_line:
        region: Object = {"startLine": edit.line, "startColumn": 1, "endLine": edit.line + 1, "endColumn": 1}
        return {"deletedRegion": region}
    text = edit.place.at.text if edit.place.at else None
    start, end = (_units(text, edit.column - 1 + width) + 1 for width in (0, edit.width))
    region = {"startLine": edit.line, "startColumn": start, "endLine": edit.line, "endColumn": end}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _notifications(report: Report, index: Mapping[str, int]) -> Iterable[JsonValue]:
    """What was not checked: a warning where the verdict rests on it."""
    for item in unchecked(report.checks):
        skip = item.skip
        pair = sorted({check.drafter.name for check in item.checks})
        made: Object = {
            "level": "warning" if skip.needed else "note",
            "message": {
                "text": message(f"{skip.code} {skip.name} was not checked for {', '.join(pair)}: {skip.reason}")
            },
        }
        if skip.code in index:
            made["associatedRule"] = {"id": skip.code, "index": index[skip.code]}
        yield made


def _left_out(count: int) -> Sequence[JsonValue]:
    if count <= 0:
        return ()
    text = f"{count} results more than GitHub takes ({MAX_RESULTS}) were left out, the mildest of all."
    return ({"level": "warning", "message": {"text": text}},)
