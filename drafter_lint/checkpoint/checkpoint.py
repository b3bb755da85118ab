"""One checkpoint: a reference, a source, and lazy facts read from it at most once."""

from __future__ import annotations

import re

from drafter_lint.checkpoint import card as cards
from drafter_lint.checkpoint import scanner
from drafter_lint.checkpoint.absence import prove_absent
from drafter_lint.checkpoint.config import Config
from drafter_lint.checkpoint.document import Document
from drafter_lint.checkpoint.head_rows import EqualRows, read_equal_rows
from drafter_lint.checkpoint.header import refuse_lfs_pointer
from drafter_lint.checkpoint.once import Once, OncePer
from drafter_lint.checkpoint.rows import Rows, read_rows
from drafter_lint.checkpoint.table import Weights
from drafter_lint.checkpoint.tensors import Tensor, TensorTable
from drafter_lint.checkpoint.tokenizer import Tokenizer
from drafter_lint.checkpoint.vocab_map import VocabMap, read_vocab_map
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Located, Role
from drafter_lint.reference import Reference
from drafter_lint.sources.base import Source

CONFIG = "config.json"
MAX_CARD_BYTES = 256 * 1024


class Checkpoint:
    """Facts of one checkpoint. Each is read on first use and kept; a failure is kept too and raised again.

    Every attribute may raise :class:`~drafter_lint.errors.Unavailable`. Facts may be asked for from several threads.
    """

    def __init__(self, reference: Reference, source: Source, *, role: Role) -> None:
        self.reference = reference
        self.source = source
        self.role: Role = role
        self._weights = Weights(source, role=role)
        self._config = Once(self._read_config)
        self._document = OncePer(self._read_document)
        self._vocab_map = Once(lambda: read_vocab_map(self.tensors, source))
        self._equal_rows = Once(lambda: read_equal_rows(self.tensors, self.vocab_map, source))
        self._card = Once(self._read_card)
        self._tokenizer = Tokenizer(source, self._sound_json, role=role)

    @property
    def subject(self) -> str:
        """The checkpoint as shown in messages: name and short commit."""
        return self.source.identity.shown

    @property
    def created(self) -> str | None:
        """The day its repository was made, as ``2026-01-27``; None where the listing did not say."""
        return self.source.identity.created

    @property
    def changed(self) -> str | None:
        """The day of its repository's last commit; None where the listing did not say."""
        return self.source.identity.changed

    @property
    def distant(self) -> bool:
        """True if a read may wait for a network."""
        return self.reference.kind == "hub"

    @property
    def config(self) -> Config:
        """config.json, with the place of every value."""
        return self._config()

    @property
    def tensors(self) -> TensorTable:
        """Every tensor of the checkpoint, from all headers."""
        return self._weights.table()

    def find_tensor(self, name: str) -> Tensor | None:
        """One tensor, reading no more than the index and the shard that holds it; None if there is no such tensor."""
        return self._weights.find(name)

    def glimpse(self, name: re.Pattern[str]) -> tuple[Tensor, ...]:
        """The tensors whose names match; of a repository as far as one read of at most 96 kB shows them."""
        return self._weights.glimpse(name, once=self.reference.kind == "hub")

    def rows(self, tensor: Tensor, *, first: int, count: int, columns: int) -> Rows:
        """Consecutive rows of a matrix of floats, of each the first ``columns``, in one read."""
        return read_rows(tensor, self.source, first=first, count=count, columns=columns)

    @property
    def vocab_map(self) -> VocabMap:
        """d2t and t2d, decoded from their byte ranges."""
        return self._vocab_map()

    @property
    def unopened(self) -> tuple[str, ...]:
        """The weight files that are never opened (.bin, .pt, .gguf …), whether or not there are others."""
        return self._weights.selection().unopened

    @property
    def equal_rows(self) -> EqualRows | None:
        """Neighbouring rows of the head that are the same, None if those looked at differ; reads a few rows."""
        return self._equal_rows()

    @property
    def tokenizer(self) -> Tokenizer:
        """Vocabulary, special tokens and chat templates; none of it is read before it is asked for."""
        return self._tokenizer

    @property
    def card(self) -> str | None:
        """The text of README.md (at most 256 kB), None if there is none."""
        return self._card()

    @property
    def card_front_matter(self) -> tuple[Located[str], ...]:
        """The models the card's front matter names under ``base_model``; () without a card or if it names none."""
        text = self.card
        return () if text is None else cards.base_models(text, subject=self.subject, role=self.role)

    @property
    def card_mentions(self) -> tuple[Located[str], ...]:
        """What the card's text names as the model to be served; () without a card."""
        text = self.card
        return () if text is None else cards.served_models(text, subject=self.subject, role=self.role)

    @property
    def card_target(self) -> Located[str] | None:
        """What a list of facts in the card's text names as verifier or target; None if there is none."""
        text = self.card
        return None if text is None else cards.listed_target(text, subject=self.subject, role=self.role)

    def other_json(self, path: str) -> Document | None:
        """Another JSON file of the checkpoint (``hf_quant_config.json``), None if there is none."""
        return self._document(path) if path in self.source.files else None

    def _sound_json(self, path: str) -> Document | None:
        """The same, where nothing but a strict reader would do."""
        document = self.other_json(path)
        broken = next((item for item in document.problems if not item.accepted), None) if document else None
        if broken:
            raise Unavailable(Trouble.MALFORMED, f"{self.subject}: {path}", f"not JSON: {broken.detail}")
        return document

    def _read_config(self) -> Config:
        if CONFIG not in self.source.files:
            prove_absent(self.source, CONFIG)
            raise Unavailable(
                Trouble.MISSING,
                f"{self.subject}: {CONFIG}",
                "there is no such file",
                hint=self._elsewhere(),
            )
        return Config(self._document(CONFIG))

    def _elsewhere(self) -> str:
        """Where a config.json is, when it is not where it was looked for."""
        folders = sorted(path.rpartition("/")[0] for path in self.source.files if path.endswith(f"/{CONFIG}"))
        if folders:
            return f"name one of its folders that has one: {', '.join(folders[:3])}"
        if "params.json" in self.source.files:
            return "params.json is there: the checkpoint is in Mistral's own layout"
        return ""

    def _read_document(self, path: str) -> Document:
        what = f"{self.subject}: {path}"
        size = self.source.files[path].size
        if size > scanner.MAX_BYTES:
            raise Unavailable(Trouble.TOO_LARGE, what, f"{size} bytes, over the bound of {scanner.MAX_BYTES}")
        data = self.source.read(path)
        refuse_lfs_pointer(data, what=what)
        return scanner.scan(data, file=path, subject=self.subject, role=self.role)

    def _read_card(self) -> str | None:
        entry = self.source.files.get(cards.FILE)
        if entry is None:
            return None
        data = self.source.read(cards.FILE, 0, min(entry.size, MAX_CARD_BYTES))
        refuse_lfs_pointer(data, what=f"{self.subject}: {cards.FILE}")
        return data.decode(errors="replace")
