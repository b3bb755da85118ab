"""The tokenizer of one checkpoint: which files hold it, and lazy facts read from them at most once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from drafter_lint.checkpoint.header import refuse_lfs_pointer
from drafter_lint.checkpoint.once import Once, OncePer
from drafter_lint.checkpoint.tokenizer import pieces, ranks, tekken, templates, tokenizer_json, vocab_json
from drafter_lint.checkpoint.tokenizer.declared import (
    ADDED,
    TOKENIZER,
    Documents,
    Part,
    SpecialIds,
    added_tokens,
    special_ids,
)
from drafter_lint.checkpoint.tokenizer.vocabulary import AddedToken, Vocabulary
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Location, Role
from drafter_lint.sources.base import Source


@dataclass(frozen=True, slots=True)
class _Reader:
    files: re.Pattern[str]
    bound: int
    read: Callable[..., Vocabulary]


def _model(data: bytes, *, file: str, what: str) -> Vocabulary:
    """A tokenizer.model is SentencePiece's, but for Llama 3's original one, which is tiktoken's."""
    read = ranks.read_ranks if ranks.looks_like_ranks(data[:4096]) else pieces.read_pieces
    return read(data, file=file, what=what)


def _content_id(data: bytes, *, like: str) -> str:
    """The id the Hub gives a file: SHA-256 of a large one, Git's own hash of a small one."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and few pairs come with two tokenizers

    if len(like) == 64:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


#: In the order in which AutoTokenizer and the engines' own readers turn to them. Only files of the checkpoint's folder
#: count: what lies in ``original/`` is another export.
_READERS = (
    _Reader(re.compile(re.escape(tokenizer_json.FILE)), tokenizer_json.MAX_BYTES, tokenizer_json.read_tokenizer_json),
    _Reader(re.compile(re.escape(tekken.FILE)), tekken.MAX_BYTES, tekken.read_tekken),
    _Reader(re.compile(re.escape(vocab_json.FILE)), vocab_json.MAX_BYTES, vocab_json.read_vocab_json),
    _Reader(re.compile(r"tokenizer\.model(?:\.v\d\w*)?"), pieces.MAX_BYTES, _model),
    _Reader(re.compile(r"[^/]+\.tiktoken|tiktoken\.model"), ranks.MAX_BYTES, ranks.read_ranks),
)
#: These name the tokens added to a vocabulary that does not hold them itself.
_BESIDE = (TOKENIZER, ADDED)


class Tokenizer:
    """What the tokenizer files of a checkpoint say. Each part is read on first use and kept, as is its failure.

    Every attribute may raise :class:`~drafter_lint.errors.Unavailable`.
    """

    def __init__(self, source: Source, documents: Documents, *, role: Role) -> None:
        self.source = source
        self.role: Role = role
        self._documents = documents
        self._vocabulary = Once(self._read_vocabulary)
        self._special = OncePer(self._read_special)
        self._templates = Once(lambda: templates.chat_templates(source, documents, role=role))

    @property
    def subject(self) -> str:
        """The checkpoint as shown."""
        return self.source.identity.shown

    @property
    def file(self) -> str | None:
        """The file that holds the vocabulary, None if the checkpoint ships none."""
        return next((name for _, name in self._candidates()), None)

    @property
    def sources(self) -> tuple[str, ...]:
        """The files the vocabulary is made of; () if the checkpoint ships none."""
        file = self.file
        if file is None:
            return ()
        beside = () if file == tokenizer_json.FILE else tuple(name for name in _BESIDE if name in self.source.files)
        return (file, *beside)

    @property
    def vocabulary(self) -> Vocabulary:
        """Its tokens by id. Reading a large one costs tens of megabytes, over the Hub as well."""
        return self._vocabulary()

    @property
    def added(self) -> dict[int, AddedToken]:
        """Tokens that tokenizer_config.json and added_tokens.json name, by id; cheap."""
        return added_tokens(self._documents)

    def special(self, part: Part) -> SpecialIds:
        """The ids of "bos", "eos" or "pad" in every place that declares them; cheap."""
        return self._special(part)

    @property
    def chat_templates(self) -> tuple[templates.ChatTemplate, ...]:
        """The chat templates, the one called "default" first if there is one; () if there is none."""
        return self._templates()

    @property
    def written_template(self) -> str:
        """The default chat template if it stands in tokenizer_config.json, "" if it does not; cheap."""
        return next(
            (
                template.text.value
                for template in templates.written(self._documents(TOKENIZER))
                if template.name == templates.DEFAULT
            ),
            "",
        )

    def at(self, label: str = "") -> Location:
        """The place of the vocabulary."""
        return Location(role=self.role, subject=self.subject, file=self.file or tokenizer_json.FILE, label=label)

    def same_files(self, other: Tokenizer) -> bool:
        """True if both are made of files of the same content, as far as that is known without parsing one.

        Content ids settle it where both sources know them, sizes where they differ; otherwise files are read.
        """
        names = self.sources
        return bool(names) and names == other.sources and all(self._same_file(other, name) for name in names)

    def _same_file(self, other: Tokenizer, name: str) -> bool:
        ours, theirs = self.source.files[name], other.source.files[name]
        if ours.size != theirs.size or ours.size > max(reader.bound for reader in _READERS):
            return False
        if ours.content_id and theirs.content_id:
            return ours.content_id == theirs.content_id
        if known := ours.content_id or theirs.content_id:  # one of them is local: the other need not be fetched
            return known == _content_id((other if ours.content_id else self).source.read(name), like=known)
        return self.source.read(name) == other.source.read(name)

    def _read_special(self, part: str) -> SpecialIds:
        parts: dict[str, Part] = {"bos": "bos", "eos": "eos", "pad": "pad"}
        return special_ids(parts[part], self._documents)

    def _candidates(self) -> Iterator[tuple[_Reader, str]]:
        names = sorted(self.source.files)
        return ((reader, name) for reader in _READERS for name in names if reader.files.fullmatch(name))

    def _read_vocabulary(self) -> Vocabulary:
        found = next(self._candidates(), None)
        if found is None:
            raise Unavailable(Trouble.MISSING, f"{self.subject}: {tokenizer_json.FILE}", "there is no tokenizer file")
        reader, name = found
        what = f"{self.subject}: {name}"
        size = self.source.files[name].size
        if size > reader.bound:
            raise Unavailable(Trouble.TOO_LARGE, what, f"{size} bytes, over the bound of {reader.bound}")
        data = self.source.read(name)
        refuse_lfs_pointer(data[:1024], what=what)
        read = reader.read(data, file=name, what=what)
        return read if name == tokenizer_json.FILE else read.overlaid(self.added)
