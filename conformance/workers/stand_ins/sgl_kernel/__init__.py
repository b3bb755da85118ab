"""Stands in for SGLang's binary package on a machine without it: the few operations of speculative decoding, in torch.

Written from the calls in SGLang's Python files, for chains (topk 1) only. Any other name can be imported, and says so
when it is called, in words that the worker takes for a limit of this machine.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

__version__ = "999.0"


class Absent:
    """A name nobody stands in for."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *_arguments: object, **_named: object) -> None:
        """Say so."""
        raise NotImplementedError(f"sgl_kernel.{self.__name__} has no CPU stand-in")

    def __getattr__(self, name: str) -> Absent:
        """Any name below."""
        return _absent(f"{self.__name__}.{name}")


def _absent(name: str) -> Absent:
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    return Absent(name)


def __getattr__(name: str) -> Absent:
    return _absent(name)


class _Below(types.ModuleType):
    def __getattr__(self, name: str) -> Absent:
        return _absent(f"{self.__name__.partition('.')[2]}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds any module below this package, all of absent names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        mine = fullname.startswith(f"{__name__}.")
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if mine else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _Below(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""


sys.meta_path.insert(0, _Finder())


def _spans(*columns: Tensor) -> Iterator[tuple[int, ...]]:
    """One row of numbers a request."""
    return zip(*(column.tolist() for column in columns), strict=False)


# srt/mem_cache/allocation.py and srt/speculative: which cache slots belong to which tokens


def assign_req_to_token_pool_cpu(
    requests: Tensor, table: Tensor, start: Tensor, end: Tensor, slots: Tensor, _width: int
) -> None:
    """Write the slots of new tokens into the table."""
    done = 0
    for request, first, last in _spans(requests, start, end):
        table[request, first:last] = slots[done : done + last - first].to(table.dtype)
        done += last - first


def assign_extend_cache_locs_cpu(
    requests: Tensor, table: Tensor, start: Tensor, end: Tensor, out: Tensor, _width: int
) -> None:
    """Read them back."""
    done = 0
    for request, first, last in _spans(requests, start, end):
        out[done : done + last - first] = table[request, first:last].to(out.dtype)
        done += last - first


def assign_draft_cache_locs_contiguous_cpu(
    requests: Tensor, table: Tensor, lengths: Tensor, out: Tensor, _width: int, topk: int, steps: int
) -> None:
    """The slots behind each request, for all draft steps."""
    count = topk * steps
    flat = out.view(-1)
    for place, (request, length) in enumerate(_spans(requests, lengths)):
        flat[place * count : (place + 1) * count] = table[request, length : length + count].to(out.dtype)


def fill_accept_out_cache_loc_cpu(accepted: Tensor, slots: Tensor, out: Tensor) -> None:
    """The slots of what was accepted."""
    places = accepted.reshape(-1)
    places = places[places >= 0].long()
    out[: len(places)] = slots[places]


def copy_all_layer_kv_cache_cpu(pointers: Tensor, strides: Tensor, to: Tensor, source: Tensor) -> None:
    """Move rows of every layer's cache; all are read before any is written."""
    for pointer, stride in _spans(pointers, strides):
        rows = [ctypes.string_at(pointer + int(row) * stride, stride) for row in source.tolist()]
        for row, content in zip(to.tolist(), rows, strict=True):
            ctypes.memmove(pointer + int(row) * stride, content, stride)


# drafting and verification


def fill_bonus_tokens_cpu(tokens: Tensor, counts: Tensor, bonus: Tensor, stride: int) -> None:
    """The last accepted token of each request."""
    flat = tokens.reshape(-1)
    for place, count in enumerate(counts.tolist()):
        bonus[place] = flat[stride * place + count - 1]


def rotate_input_ids_cpu(
    ids: Tensor, start: Tensor, lengths: Tensor, new: Tensor, select: Tensor | None = None
) -> None:
    """Shift each request's ids by one and put its new token last."""
    for place, (first, length) in enumerate(_spans(start, lengths)):
        if length > 0:
            ids[first : first + length - 1] = ids[first + 1 : first + length].clone()
            at = first + length - 1 if select is None else int(select[place])
            ids[at] = new.reshape(-1)[place].to(ids.dtype)


def build_tree_kernel_efficient_cpu(
    _parents: Tensor,
    _selected: Tensor,
    lengths: Tensor,
    mask: Tensor,
    positions: Tensor,
    index: Tensor,
    next_token: Tensor,
    next_sibling: Tensor,
    topk: int,
    _depth: int,
    count: int,
    mode: int,
) -> None:
    """A chain: every draft token sees the request and the draft tokens before it."""
    if topk != 1:
        raise NotImplementedError("trees have no CPU stand-in, chains alone")
    size = lengths.numel()
    steps = torch.arange(count)
    seen = torch.ones(count, count).tril()
    follow = torch.cat([steps[1:], torch.tensor([-1])])
    flat, done = mask.view(-1), 0
    for place, length in enumerate(lengths.tolist()):
        index.view(size, count)[place] = (place * count + steps).to(index.dtype)
        next_token.view(size, count)[place] = follow.to(next_token.dtype)
        next_sibling.view(size, count)[place] = -1
        positions.view(-1)[place * count : (place + 1) * count] = (length + steps).to(positions.dtype)
        if int(mode) == 0:  # TreeMaskMode.FULL_MASK: the request's own tokens are columns too
            width = length + count
            flat[done : done + count * width].view(count, width)[:, length:] = seen.to(mask.dtype)
            done += count * width
        else:
            flat[place * count * count : (place + 1) * count * count] = seen.reshape(-1).to(mask.dtype)


def verify_tree_greedy_cpu(
    predicts: Tensor,
    accept_index: Tensor,
    accept_token_num: Tensor,
    candidates: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    target_predict: Tensor,
) -> None:
    """Accept draft tokens as long as each is what the target says after the one before."""
    size, width = candidates.shape
    index = retrive_index.view(size, width)
    says = target_predict.reshape(-1)
    for place in range(size):
        here, last, count = 0, int(index[place, 0]), 0
        accept_index[place, 0] = last
        while count + 1 < accept_index.shape[1]:
            here = int(retrive_next_token.view(size, width)[place, here])
            while here != -1 and int(candidates[place, here]) != int(says[last]):
                here = int(retrive_next_sibling.view(size, width)[place, here])
            if here == -1:
                break
            predicts[last] = says[last].to(predicts.dtype)
            count, last = count + 1, int(index[place, here])
            accept_index[place, count] = last
        accept_token_num[place] = count
        predicts[last] = says[last].to(predicts.dtype)


build_tree_kernel_efficient = build_tree_kernel_efficient_cpu
verify_tree_greedy = verify_tree_greedy_cpu


def silu_and_mul(values: Tensor, out: Tensor | None = None) -> Tensor:
    """A gated SiLU."""
    half = values.shape[-1] // 2
    result = torch.nn.functional.silu(values[..., :half]) * values[..., half:]
    return result if out is None else out.copy_(result)
