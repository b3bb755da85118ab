"""The chat templates of a checkpoint, in every place that may hold one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from drafter_lint.checkpoint.config import Config
from drafter_lint.checkpoint.document import Document
from drafter_lint.checkpoint.tokenizer.declared import TOKENIZER, Documents
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Located, Location, Role
from drafter_lint.sources.base import Source

JINJA = "chat_template.jinja"
FOLDER = "additional_chat_templates/"
PROCESSOR = "chat_template.json"
MAX_BYTES = 1024 * 1024
MAX_TEMPLATES = 100
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A chat template: the name it goes by ("default", "tool_use"), and its text."""

    name: str
    text: Located[str]


def chat_templates(source: Source, documents: Documents, *, role: Role) -> tuple[ChatTemplate, ...]:
    """Every template by name, in the order transformers looks for them; the first of a name is the one that counts.

    transformers 5.0, tokenization_utils_base.py, from_pretrained: a chat_template.jinja takes the place of what
    tokenizer_config.json holds; processing_utils.py reads the chat_template.json of older processors.

    Raises:
        Unavailable: a file that holds one cannot be read.
    """
    found: dict[str, ChatTemplate] = {}
    for template in _all(source, documents, role):
        if len(found) < MAX_TEMPLATES:
            found.setdefault(template.name, template)
    return tuple(found.values())


def _all(source: Source, documents: Documents, role: Role) -> Iterator[ChatTemplate]:
    if JINJA in source.files:
        yield ChatTemplate(DEFAULT, _text(source, JINJA, role))
    for path in sorted(path for path in source.files if path.startswith(FOLDER) and path.endswith(".jinja")):
        yield ChatTemplate(path.removeprefix(FOLDER).removesuffix(".jinja"), _text(source, path, role))
    for file in (TOKENIZER, PROCESSOR):
        yield from written(documents(file))


def written(document: Document | None) -> Iterator[ChatTemplate]:
    """The templates a JSON file holds under ``chat_template``: one text, or a list of names and texts."""
    if document is None:
        return
    config = Config(document)
    one, several = config.string("chat_template"), config.raw("chat_template")
    if one is not None:
        yield ChatTemplate(DEFAULT, one)
    elif several is not None and isinstance(several.value, list):
        for place, entry in enumerate(several.value):
            name, text = (entry.get("name"), entry.get("template")) if isinstance(entry, dict) else (None, None)
            if isinstance(name, str) and isinstance(text, str):
                yield ChatTemplate(name, Located(text, config.at("chat_template", str(place), "template")))


def _text(source: Source, path: str, role: Role) -> Located[str]:
    subject = source.identity.shown
    size = source.files[path].size
    if size > MAX_BYTES:
        raise Unavailable(Trouble.TOO_LARGE, f"{subject}: {path}", f"{size} bytes, over the bound of {MAX_BYTES}")
    text = source.read(path).decode(errors="replace")
    return Located(text, Location(role=role, subject=subject, file=path))
