"""A rule as SARIF describes it, its help taken from its manual page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from drafter_lint.findings import Finding, JsonValue, weakest
from drafter_lint.renderers.escaping import sound
from drafter_lint.renderers.occurrences import LEVELS
from drafter_lint.rule import Rule

#: GitHub's bound of a description.
MAX_DESCRIPTION = 1024
_PRECISION = {"certain": "very-high", "likely": "high", "possible": "medium"}
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def descriptor(code: str, rule: Rule[object] | None, found: Sequence[Finding]) -> dict[str, JsonValue]:
    """A reporting descriptor; a finding's own words where no rule of that code is known.

    Args:
        code: "DFL401".
        rule: the rule of that code, if there is one.
        found: what it found in this run; its precision is that of the least certain.
    """
    name = rule.name if rule else found[0].name
    outcome = rule.outcome if rule else found[0].outcome
    title = rule.title if rule else name
    made: dict[str, JsonValue] = {
        "id": code,
        "name": name,
        "shortDescription": {"text": _sentence(title)},
        "fullDescription": {"text": _sentence(_plain(_first_section(rule.page)) if rule else title)},
        "help": {
            "text": _plain(rule.page) if rule else title,
            "markdown": f"# {code} {name}\n\n{rule.page.strip()}\n" if rule else title,
        },
        "defaultConfiguration": {"level": LEVELS[outcome.value]},
    }
    # The folder a rule lies in is its family: drafter_lint.rules.<family>.<module>.
    kind = (rule.check.__module__.split(".")[-2], rule.scope) if rule else ()
    properties: dict[str, JsonValue] = {"tags": [*dict.fromkeys(("speculative-decoding", outcome.value, *kind))]}
    if found:
        properties["precision"] = _PRECISION[weakest(*(item.confidence for item in found)).value]
    return {**made, "properties": properties}


def _first_section(page: str) -> str:
    """What stands under the first heading."""
    sections = re.split(r"^## .+$", page, flags=re.MULTILINE)
    return sections[1] if len(sections) > 1 else page


def _plain(text: str) -> str:
    """A page without Markdown's marks."""
    return _HEADING.sub(r"\1:", text).replace("`", "").strip()


def _sentence(text: str) -> str:
    joined = sound(" ".join(text.split()).rstrip("."), MAX_DESCRIPTION - 1)
    return f"{joined}."
