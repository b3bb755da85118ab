"""The weight files of one checkpoint: which count, their headers read at most once, and the table they make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from drafter_lint.checkpoint.absence import prove_absent
from drafter_lint.checkpoint.header import Header, HeaderReader
from drafter_lint.checkpoint.index import MAX_BYTES, MAX_TENSORS, Index, parse_index
from drafter_lint.checkpoint.once import Once, OncePer
from drafter_lint.checkpoint.selection import Selection, select
from drafter_lint.checkpoint.tensors import IndexDisagreement, Tensor, TensorTable
from drafter_lint.errors import Trouble, Unavailable
from drafter_lint.findings import Role
from drafter_lint.sources.base import Source

MAX_FILES = 4096
_WORKERS = 8
#: An index up to this size is cheaper to read than to guess around; one of 208,216 tensors has 23.6 MB.
_SMALL_INDEX = 1024 * 1024
_SHARD = re.compile(r".*-\d+-of-\d+\.safetensors")
_EARLY = re.compile(r"embed|(?:^|\.)layers\.0\.")


class Weights:
    """The weight files of a checkpoint; every method may raise :class:`Unavailable`, and then does so again."""

    def __init__(self, source: Source, *, role: Role) -> None:
        self._source = source
        self._role: Role = role
        self._reader = HeaderReader(source)
        self.selection: Once[Selection] = Once(lambda: select(source.files))
        self.index: Once[Index | None] = Once(self._read_index)
        self.header: OncePer[Header] = OncePer(self._reader.read)
        self.table: Once[TensorTable] = Once(self._build)

    @property
    def _subject(self) -> str:
        return self._source.identity.shown

    def find(self, name: str) -> Tensor | None:
        """One tensor, from the index and the one shard it names.

        An index over 1 MiB is opened only after the shards at either end, where embeddings and heads stand, did not
        have the tensor. An index is believed: a tensor it does not name is None, one it places in a
        file that is not there is unavailable.
        """
        selection = self.selection()
        if self.table.ready or (selection.index is None and len(selection.safetensors) < 2):
            table = self.table()
            if name in table or not table.missing_files:
                return table.get(name)
        if selection.index is None:
            found = (self._in_header(path, name) for path in selection.safetensors)
            return next((tensor for tensor in found if tensor is not None), None)
        if not self.index.ready and self._source.files[selection.index].size > _SMALL_INDEX:
            for path in likely(selection.safetensors, name):
                tensor = None if self.header.ready(path) else self._reader.peek(path, name)
                tensor = tensor or self._in_header(path, name)
                if tensor is not None:
                    return tensor
        index = self.index()
        shard = index.weight_map.get(name) if index else None
        if shard is None:
            return None
        if shard not in self._source.files:
            told = f"the index places {name} in it, and there is no such file"
            raise Unavailable(Trouble.MISSING, f"{self._subject}: {shard}", told)
        return self._in_header(shard, name)

    def glimpse(self, name: re.Pattern[str], *, once: bool) -> tuple[Tensor, ...]:
        """The tensors whose names match: ``once``, from one read of the likeliest file, else from the file with any."""
        selection = self.selection()
        if self.table.ready:
            return tuple(tensor for tensor in self.table().values() if name.search(tensor.name))
        files = likely(selection.safetensors, name.pattern)
        if not files:
            raise self._nothing(selection)
        if once and not self.header.ready(files[0]):
            return self._reader.glimpse(files[0], name)
        found = self._matching(files[0], name)
        index = None if found or once else self.index()
        named = () if index is None else (shard for known, shard in index.weight_map.items() if name.search(known))
        return found or tuple(tensor for path in sorted(set(named)) for tensor in self._matching(path, name))

    def _matching(self, path: str, name: re.Pattern[str]) -> tuple[Tensor, ...]:
        if path not in self._source.files:
            return ()
        return tuple(tensor for tensor in self.header(path).tensors if name.search(tensor.name))

    def _in_header(self, path: str, name: str) -> Tensor | None:
        return next((tensor for tensor in self.header(path).tensors if tensor.name == name), None)

    def _read_index(self) -> Index | None:
        file = self.selection().index
        if file is None:
            return None
        what = f"{self._subject}: {file}"
        size = self._source.files[file].size
        if size > MAX_BYTES:
            raise Unavailable(Trouble.TOO_LARGE, what, f"{size} bytes, over the bound of {MAX_BYTES}")
        return parse_index(self._source.read(file), file=file, what=what)

    def _build(self) -> TensorTable:
        selection, index = self.selection(), self.index()
        # With an index the engines load the files it names and no others (filter_duplicate_safetensors_files in vllm
        # 0.33.0, model_executor/model_loader/weight_utils.py, and sglang 0.5.23, srt/model_loader/weight_utils.py).
        wanted = selection.safetensors if index is None else index.shards
        files = tuple(path for path in wanted if path in self._source.files)
        if not wanted:
            if not selection.unopened:
                prove_absent(self._source, "model.safetensors")
            raise self._nothing(selection)
        missing = tuple(path for path in wanted if path not in self._source.files)
        for path in missing:
            prove_absent(self._source, path)
        if len(files) > MAX_FILES:
            told = f"{len(files)} safetensors files, over the bound of {MAX_FILES}"
            raise Unavailable(Trouble.TOO_LARGE, self._subject, told)
        headers = dict(self._headers(files))
        total = sum(len(header.tensors) for header in headers.values())
        if total > MAX_TENSORS:
            raise Unavailable(Trouble.TOO_LARGE, self._subject, f"{total} tensors, over the bound of {MAX_TENSORS}")
        # A later file overwrites an earlier one: the engines load in name order (vllm 0.33.0, weight_utils.py,
        # safetensors_weights_iterator; sglang 0.5.23, SGLANG_SORT_WEIGHT_FILES).
        entries = {tensor.name: tensor for header in headers.values() for tensor in header.tensors}
        unread = set(selection.safetensors) - set(files)
        return TensorTable(
            entries=entries,
            subject=self._subject,
            role=self._role,
            files=files,
            index=selection.index,
            missing_files=missing,
            disagreements=() if index is None else tuple(_disagreements(index, headers, entries)),
            duplicates=_duplicates(headers) if total > len(entries) else {},
            unopened=selection.unopened,
            metadata=headers[files[0]].metadata if files else {},
            set_aside=tuple(sorted(unread.union(selection.set_aside) - set(files))),
        )

    def _headers(self, files: tuple[str, ...]) -> Iterator[tuple[str, Header]]:
        if not files:
            return
        first = self.header(files[0])
        yield files[0], first
        if len(files) == 1:
            return
        self._reader.expect(first.length)
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most drafters are one file

        pool = ThreadPoolExecutor(max_workers=min(_WORKERS, len(files) - 1), thread_name_prefix="headers")
        try:
            # In file order, so that the same file is blamed however the reads overtake each other.
            yield from zip(files[1:], pool.map(self.header, files[1:]), strict=True)
        finally:
            pool.shutdown(cancel_futures=True)

    def _nothing(self, selection: Selection) -> Unavailable:
        if selection.unopened:
            shown = ", ".join(selection.unopened[:3]) + (", …" if len(selection.unopened) > 3 else "")
            hint = "weights are read from safetensors files only; these formats can run code when opened"
            return Unavailable(Trouble.NOT_SAFETENSORS, self._subject, f"its only weights are {shown}", hint=hint)
        return Unavailable(Trouble.MISSING, self._subject, "no weight file (*.safetensors) in the folder")


def likely(files: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The first and last numbered shard, the likelier one first."""
    shards = [path for path in files if _SHARD.fullmatch(path)] or files
    if not shards:
        return ()
    ends = (shards[0], shards[-1]) if _EARLY.search(name) else (shards[-1], shards[0])
    return tuple(dict.fromkeys(ends))


def _disagreements(
    index: Index, headers: Mapping[str, Header], entries: Mapping[str, Tensor]
) -> Iterator[IndexDisagreement]:
    """Where a shard that was read contradicts the index; a missing shard is told once, not for each of its tensors."""
    unconfirmed = set(index.weight_map)
    for path, header in headers.items():
        unconfirmed.difference_update(t.name for t in header.tensors if index.weight_map.get(t.name) == path)
    for name in sorted(unconfirmed):
        shard, elsewhere = index.weight_map[name], entries.get(name)
        if elsewhere is not None or shard in headers:
            yield IndexDisagreement(name, shard, elsewhere.file if elsewhere else None)
    for name, tensor in entries.items():
        if name not in index.weight_map:
            yield IndexDisagreement(name, None, tensor.file)


def _duplicates(headers: Mapping[str, Header]) -> dict[str, tuple[str, ...]]:
    holders: dict[str, tuple[str, ...]] = {}
    for path, header in headers.items():
        for tensor in header.tensors:
            holders[tensor.name] = (*holders.get(tensor.name, ()), path)
    return {name: paths for name, paths in holders.items() if len(paths) > 1}
