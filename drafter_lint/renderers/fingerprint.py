"""What makes a finding the same finding tomorrow: who, with whom, in what, which rule, and at which key or flag.

No revision, version, line or path of the checkout goes in: a new commit of the drafter or a new engine release must
not reopen what a person has already judged.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from drafter_lint.findings import Finding, Location
from drafter_lint.report import Check


class Fingerprints:
    """Fingerprints of one report; a second finding with the same identity gets a number behind it."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, finding: Finding, check: Check) -> str:
        """32 hexadecimal digits, and ``:2`` for the second of its kind."""
        parts = (
            check.drafter.name,
            check.target.name if check.target else "",
            check.engine.name if check.engine else "",
            finding.code,
            _subject(finding.locations[0], check) if finding.locations else "",
        )
        digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]
        self._seen[digest] += 1
        return digest if self._seen[digest] == 1 else f"{digest}:{self._seen[digest]}"


def _subject(at: Location, check: Check) -> str:
    """The pointer, the tensor, or the flag; never its position."""
    if at.pointer is not None:
        return f"{at.role} {at.pointer}"
    if at.tensor is not None:
        return f"{at.role} {at.tensor}"
    if at.role != "launch" or at.argument is None or check.request is None:
        return f"{at.role} {at.file if at.role != 'launch' else ''}"
    options = check.request.options.values()
    exact = [option.name for option in options if option.at.saying("") == at.saying("")]
    # Keys of one JSON object share its word; the flag that holds them sorts before all of them.
    shared = [option.name for option in options if at.argument in (option.at.argument, option.flag_at.argument)]
    if exact or shared:
        return f"launch {min(exact or shared)}"
    words = check.request.argv[max(at.argument - 1, 0) : at.argument + 1]
    return f"launch {next((word.partition('=')[0] for word in reversed(words) if word.startswith('-')), '')}"
