"""What of a checkpoint's texts is nobody else's business: local paths, tokens, addresses; each replaced in place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from drafter_lint.checkpoint.bounded_json import parse
from drafter_lint.errors import Unavailable
from drafter_lint.findings import JsonValue

GONE = "redacted"
_MAX_VALUES = 200_000

_STOP = r"\s\"'`<>|,;:()\[\]{}\\/*?"
#: /home/alice/models/x, ~alice/models/x; never what follows a word, a scheme or another path: owner/name, https://….
_POSIX = re.compile(rf"(?<![\w.:/@~-])(?P<root>~[\w.-]*)?(?P<path>(?:/[^{_STOP}]+){{2,}}/?|(?<=[\w~])/[^{_STOP}]+)")
_WINDOWS = re.compile(rf"(?<![\w])[A-Za-z]:(?P<path>(?:(?:\\{{1,2}}|/)[^{_STOP}]+)+)")
_SHARE = re.compile(rf"(?<![\w\\])\\{{2,4}}[\w.-]+(?P<path>(?:\\{{1,2}}[^{_STOP}]+)+)")
#: Folders whose members are named after people.
_HOMES = {"home", "users", "user", "u", "root"}
_SECRETS = (
    re.compile(r"\bhf_[A-Za-z0-9]{8,}"),
    re.compile(r"\bgh[opsur]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"),
    re.compile(r"\bsk-[\w-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[\w-]{8,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"(?<=://)[^\s/@\"']+(?=@)"),  # user:password in an address
    re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b"),
)
_SECRET_KEY = re.compile(
    r"(?i)(\"(?:\w*(?:secret|password|passwd|api_?key|access_?key)\w*|(?:hf|hub|auth|access|wandb)_?token)\"\s*:\s*\")"
    r"(?:[^\"\\]|\\.)+"
)


def redacted(text: str) -> str:
    """A text without local paths (their last part is kept: it may name a model), tokens and addresses."""
    text = _SECRET_KEY.sub(rf"\1{GONE}", text)
    for secret in _SECRETS:
        text = secret.sub(GONE, text)
    for paths in (_SHARE, _WINDOWS, _POSIX):
        text = paths.sub(_last_part, text)
    return text


def redacted_json(text: str) -> str:
    """The same of a JSON document, behind its escapes too; what is no JSON is a text."""
    plain = redacted(text)
    if "\\" not in plain:
        return plain
    try:
        value = parse(plain.encode(), what="a document", values=_MAX_VALUES, pairs=dict)
    except Unavailable:
        return plain
    clean = _walked(value, redacted)
    return plain if clean == value else json.dumps(clean, indent=2, ensure_ascii=False) + "\n"


def _last_part(found: re.Match[str]) -> str:
    parts = [part for part in re.split(r"[\\/]+", found["path"]) if part]
    tail = "/" if found[0].endswith("/") else ""
    # /home/alice is a person's, /home/alice/drafter is not.
    at_home = (len(parts) == 2 and parts[0].lower() in _HOMES) or (len(parts) == 1 and not found[0].startswith("~"))
    return f"/{GONE}{tail}" if at_home else f"/{GONE}/{parts[-1]}{tail}"


def _walked(value: object, change: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walked(item, change) for item in value]
    if isinstance(value, dict):
        return {change(str(key)): _walked(item, change) for key, item in value.items()}
    return value if isinstance(value, (int, float, bool)) else None
