"""The values of a small tensor, integers all of them, written as runs or by a generator.

zeros                       every value 0
0*128 37*128                runs of equal values
0..127 165..292             runs of consecutive values
spread(163840)              offsets such that the drafted ids are spread evenly over the vocabulary, ascending
spread(163840, 163585)      the same, with these ids among them
absolute(163840)            the ids themselves instead of offsets
noise(7)                    values from -128 to 127 without order, the same for the same number
packed(I8 eNpjYGAYBQ)       the differences between neighbours as integers of that type, deflated, in base64: a real map
matches(d2t)                for a mask over the vocabulary: true for the ids another tensor drafts
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import shake_128
from itertools import accumulate, chain, count, groupby, islice, repeat
from operator import add, sub

from drafter_lint.errors import UsageError

#: No vocabulary comes near; recipes come with bug reports, from strangers.
MAX_VALUES = 1_000_000
#: Longer than this nobody reads runs; a map of 32,000 ids has some 15,000 of them.
_READABLE = 2000

_CALL = re.compile(r"(?P<name>[a-z]+)\((?P<arguments>[^()]*)\)")
# Nothing that is counted has more digits.
_RUN = re.compile(r"(?P<value>-?\d{1,20})\*(?P<count>\d{1,18})")
_RANGE = re.compile(r"(?P<first>-?\d{1,18})\.\.(?P<last>-?\d{1,18})")
_STRUCT = {
    "U8": "B", "I8": "b", "U16": "H", "I16": "h", "U32": "I", "I32": "i", "U64": "Q", "I64": "q",
    "F16": "e", "F32": "f", "F64": "d",
}  # fmt: skip


def referenced(text: str) -> str | None:
    """The tensor that ``matches(…)`` names, None for every other way of writing values."""
    call = _CALL.fullmatch(text)
    return call["arguments"].strip() if call and call["name"] == "matches" else None


def values_of(text: str, length: int, other: Callable[[str], Iterable[int]]) -> tuple[int, ...]:
    """The values a text stands for.

    Args:
        text: what follows ``=`` in a tensor's line.
        length: how many values the tensor holds.
        other: the ids that a named tensor drafts, for ``matches``.

    Raises:
        UsageError: the text does not follow the grammar, or stands for another number of values.
    """
    if length > MAX_VALUES:
        raise UsageError(f"recipe: {text!r} gives values to a tensor of {length}; at most {MAX_VALUES} are written out")
    call = _CALL.fullmatch(text)
    if call is not None and call["name"] == "packed":
        return _unpacked(call["arguments"], length)
    found = _listed(text, length) if call is None else _called(call, text, length, other)
    if len(found) != length:
        few = "fewer" if len(found) < length else "more"
        raise UsageError(f"recipe: {text!r} gives {few} values than the {length} its tensor holds")
    return found


def _listed(text: str, length: int) -> tuple[int, ...]:
    return (0,) * length if text == "zeros" else tuple(islice(chain.from_iterable(map(_run, text.split())), length + 1))


def _called(call: re.Match[str], text: str, length: int, other: Callable[[str], Iterable[int]]) -> tuple[int, ...]:
    name, arguments = call["name"], call["arguments"]
    if name == "matches":
        mask = bytearray(length)
        for token in other(arguments.strip()):
            if 0 <= token < length:
                mask[token] = 1
        return tuple(mask)
    if name == "noise":
        return tuple(byte - 128 for byte in shake_128(arguments.strip().encode()).digest(length))
    if name in {"spread", "absolute"}:
        ids = _spread(text, length, arguments)
        return ids if name == "absolute" else tuple(map(sub, ids, count()))
    raise UsageError(f"recipe: {text!r} is no way to write values")


def drafted_ids(text: str, values: tuple[int, ...]) -> tuple[int, ...]:
    """The target ids a map drafts: ``i + value``, or the value itself where the text says the ids are absolute."""
    return values if text.startswith("absolute(") else tuple(map(add, values, count()))


def written(values: Iterable[int]) -> str:
    """Values as runs of equal ones or as ranges of consecutive ones, whichever is shorter; long ones packed."""
    table = tuple(values)
    equal = " ".join(
        str(value) if times == 1 else f"{value}*{times}"
        for value, times in ((value, sum(1 for _ in same)) for value, same in groupby(table))
    )
    consecutive = " ".join(
        str(part[0]) if len(part) == 1 else f"{part[0]}..{part[-1]}"
        for part in (
            [value for _, value in run] for _, run in groupby(enumerate(table), key=lambda pair: pair[1] - pair[0])
        )
    )
    readable = min(equal, consecutive, key=len)
    if len(readable) <= _READABLE:
        return readable
    packed = _packed(table)
    return packed if packed and len(packed) < len(readable) // 2 else readable


def _packed(table: tuple[int, ...]) -> str:
    """Neighbours of a map differ by little; "" where a difference needs more than 32 bits."""
    steps = [value - before for before, value in zip((0, *table), table, strict=False)]
    bits = next((bits for bits in (8, 16, 32) if all(-(1 << bits - 1) <= step < 1 << bits - 1 for step in steps)), None)
    if bits is None:
        return ""
    data = zlib.compress(struct.pack(f"<{len(steps)}{_STRUCT[f'I{bits}']}", *steps), 9)
    return f"packed(I{bits} {base64.urlsafe_b64encode(data).decode().rstrip('=')})"


def _unpacked(text: str, length: int) -> tuple[int, ...]:
    dtype, _, packed = text.partition(" ")
    code = _STRUCT.get(dtype, "")
    if dtype not in {"I8", "I16", "I32"}:
        raise UsageError(f"recipe: packed({dtype} …): the differences are I8, I16 or I32")
    size = struct.calcsize(f"<{length}{code}")
    try:
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        # One byte more than there may be: what is longer is refused without being unpacked.
        data = zlib.decompressobj().decompress(raw, size + 1)
    except (ValueError, zlib.error) as error:
        raise UsageError(f"recipe: packed(…) cannot be unpacked: {error}") from error
    if len(data) != size:
        few = "fewer" if len(data) < size else "more"
        raise UsageError(f"recipe: packed(…) gives {few} values than the {length} its tensor holds")
    return tuple(accumulate(struct.unpack(f"<{length}{code}", data)))


def encoded(values: tuple[int, ...], dtype: str) -> bytes:
    """The values as the bytes of a file; a floating-point dtype rounds those it cannot hold.

    Raises:
        UsageError: the dtype is none for numbers, or too narrow for a value.
    """
    if dtype == "BOOL" and set(values) <= {0, 1}:
        return bytes(values)
    if dtype == "BF16":  # the upper half of a 32-bit float
        wide = encoded(values, "F32")
        return bytes(chain.from_iterable(zip(wide[2::4], wide[3::4], strict=True)))
    code = _STRUCT.get(dtype)
    if code is None:
        raise UsageError(f"recipe: such values cannot be written to a tensor of {dtype}")
    try:
        return struct.pack(f"<{len(values)}{code}", *values)
    except (struct.error, OverflowError) as error:
        raise UsageError(f"recipe: a value does not fit {dtype}: {error}") from error


def _run(word: str) -> Iterable[int]:
    if run := _RUN.fullmatch(word):
        return repeat(int(run["value"]), int(run["count"]))
    if consecutive := _RANGE.fullmatch(word):
        return range(int(consecutive["first"]), int(consecutive["last"]) + 1)
    if re.fullmatch(r"-?\d{1,20}", word):
        return (int(word),)
    raise UsageError(f"recipe: {word!r} is neither a number, nor value*count, nor first..last")


@cache
def _spread(text: str, length: int, arguments: str) -> tuple[int, ...]:
    numbers = arguments.replace(",", " ").split()
    if not numbers or not all(number.isdecimal() and len(number) <= 18 for number in numbers):
        raise UsageError(f"recipe: {text!r} needs the vocabulary, and the ids that must be among the drafted ones")
    vocabulary, *wanted = (int(number) for number in numbers)
    if length > vocabulary or not all(token < vocabulary for token in wanted) or len(set(wanted)) > length:
        raise UsageError(f"recipe: {text!r} does not give {length} different ids")
    ids = {i * vocabulary // length for i in range(length)}
    for token in wanted:
        if token not in ids:
            ids.remove(min(ids.difference(wanted), key=lambda known: (abs(known - token), known)))
            ids.add(token)
    return tuple(sorted(ids))
