"""What the user typed, understood: a local path, a Hub repository, or an alias.

The spelling is kept: engines sniff names and folders, so it is a fact and not a detail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from drafter_lint.errors import AmbiguousAlias, UsageError

#: How a checkpoint written as text is known.
RECIPE_SUFFIX = ".recipe.toml"

_REPO = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")
_HUB_PAGES = ("tree", "blob", "resolve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One checkpoint, as asked for.

    Attributes:
        spelling: exactly what the user typed.
        kind: ``local`` or ``hub``.
        name: a local path, or ``owner/name``.
        revision: a branch, tag or commit of a Hub repository; None for its default branch.
        subfolder: a folder inside the repository, "" for its root.
        alias: True if ``spelling`` was resolved through the alias table.
    """

    spelling: str
    kind: Literal["local", "hub"]
    name: str
    revision: str | None = None
    subfolder: str = ""
    alias: bool = False

    @property
    def shown(self) -> str:
        """Both spellings when they differ ("kimi-k2.5 -> moonshotai/Kimi-K2.5"), else the name."""
        return f"{self.spelling} -> {self.name}" if self.alias else self.name


def parse_reference(
    text: str,
    *,
    exists: Callable[[str], bool],
    aliases: Mapping[str, tuple[str, ...]],
    revision: str | None = None,
) -> Reference:
    """Understand a reference.

    Args:
        text: what the user typed.
        exists: tells whether a local path exists; a path that exists always wins.
        aliases: normalised alias to canonical ids, see :func:`normalise`.
        revision: overrides a revision given inside ``text``.

    Raises:
        UsageError: the text is no reference, or an alias nobody knows.
        AmbiguousAlias: an alias with several ids left.
    """
    text = text.strip()
    if not text:
        raise UsageError("an empty reference")
    if _looks_local(text) or exists(text):
        return Reference(spelling=text, kind="local", name=text)
    if text.startswith("hf:"):
        return _hub(text, text.removeprefix("hf:").removeprefix("//"), revision)
    if "://" in text:
        return _hub_page(text, revision)
    bare, _, inline = text.partition("@")
    if _REPO.match(bare):
        return _hub(text, text, revision)
    return _alias(text, bare, aliases, revision or inline or None)


def normalise(alias: str) -> str:
    """The form under which aliases are compared: lower case, no owner, ``-`` for ``_``, ``k25`` as ``k2.5``."""
    name = alias.lower().rsplit("/", 1)[-1]
    name = re.sub(r"[_\s]+", "-", name)
    name = re.sub(r"-{2,}", "-", name).strip("-")
    name = re.sub(r"\bllama-?(\d)", r"llama-\1", name.removeprefix("meta-"))
    name = re.sub(r"\bkimi-?k", "kimi-k", name)
    name = re.sub(r"\bk2([567])\b", r"k2.\1", name)
    name = re.sub(r"\bqwen-?(\d)-?([568])(?=-|$)", r"qwen\1.\2", name)
    return re.sub(r"\bllama-(\d\.\d)-instruct-(\d+b)\b", r"llama-\1-\2-instruct", name)


def _looks_local(text: str) -> bool:
    relative = text.startswith(("/", "./", "../", "~", ".\\", "..\\")) or text in (".", "..")
    return relative or bool(re.match(r"^[A-Za-z]:[\\/]", text))


def _hub(spelling: str, body: str, revision: str | None) -> Reference:
    head, _, inline = body.partition("@")
    inline, _, tail = inline.partition("/")
    parts = head.strip("/").split("/")
    name = "/".join(parts[:2])
    if not _REPO.match(name):
        raise UsageError(f"{spelling!r} is no repository id; expected owner/name")
    subfolder = "/".join([*parts[2:], *([tail] if tail else [])]).strip("/")
    return Reference(spelling=spelling, kind="hub", name=name, revision=revision or inline or None, subfolder=subfolder)


def _hub_page(text: str, revision: str | None) -> Reference:
    try:
        path = urlsplit(text).path
    except ValueError:  # brackets that hold no address of version 6
        path = ""
    parts = [unquote(part) for part in path.split("/") if part]
    if len(parts) < 2:
        raise UsageError(f"{text!r} is no page of a model repository; expected …/owner/name")
    inline, subfolder = None, ""
    if len(parts) > 3 and parts[2] in _HUB_PAGES:
        inline = parts[3]
        rest = parts[4:-1] if parts[2] != "tree" else parts[4:]
        subfolder = "/".join(rest)
    reference = _hub(text, "/".join(parts[:2]), revision or inline)
    return Reference(spelling=text, kind="hub", name=reference.name, revision=reference.revision, subfolder=subfolder)


def _alias(text: str, bare: str, aliases: Mapping[str, tuple[str, ...]], revision: str | None) -> Reference:
    ids = aliases.get(normalise(bare), ())
    if not ids:
        raise UsageError(f"{text!r} is neither a local path, nor owner/name, nor a known alias")
    if len(ids) > 1:
        raise AmbiguousAlias(text, ids)
    return Reference(spelling=text, kind="hub", name=ids[0], revision=revision, alias=True)
