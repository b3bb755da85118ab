"""Text whose every character knows where in the file it was written, through quotes, variables and nested documents."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from drafter_lint.findings import Location

Extent = tuple[int, int]
NOWHERE = -1

# What may stand between two characters of one value on one line: quotes and the backslashes in front of them.
_GAP = re.compile(r"[\\'\"]*")
_SECRET = re.compile(
    r"(?P<token>hf_[A-Za-z0-9]{16,})"
    r"|(?:api[-_]key[ =]|(?:_TOKEN|SECRET|PASSWORD|PASSWD|ACCESS_KEY)=)(?P<value>[^\s\"'$]+)",
    re.IGNORECASE,
)


class Traced:
    """Some text and, for every character, its offset in the file.

    Attributes:
        text: the characters.
        at: the offset of each in the file, ``NOWHERE`` for one that was never written there.
        use: for each, the part of the file that stands for it (``$MODEL``), None where it is written in place.
    """

    __slots__ = ("at", "text", "use")

    def __init__(self, text: str, at: Sequence[int], use: Sequence[Extent | None] | None = None) -> None:
        self.text = text
        self.at = at
        self.use = use

    @classmethod
    def document(cls, text: str) -> Traced:
        """A whole file."""
        return cls(text, range(len(text)))

    @classmethod
    def stand_in(cls, text: str, use: Extent | None = None) -> Traced:
        """Text that is nowhere written but stands for some part of the file."""
        return cls(text, (NOWHERE,) * len(text), (use,) * len(text))

    def __len__(self) -> int:
        """How many characters."""
        return len(self.text)

    def cut(self, start: int, end: int) -> Traced:
        """A part of it."""
        return Traced(self.text[start:end], self.at[start:end], self.use[start:end] if self.use else None)

    def strip(self) -> Traced:
        """Without blanks at both ends."""
        start = len(self.text) - len(self.text.lstrip())
        return self.cut(start, max(start, len(self.text.rstrip())))

    def pick(self, text: str, indexes: Sequence[int]) -> Traced:
        """Decoded text: each of its characters comes from one of ours."""
        use = [self.use[index] for index in indexes] if self.use else None
        return Traced(text, [self.at[index] for index in indexes], use)

    def standing_at(self, use: Extent | None) -> Traced:
        """The same text, brought in by an expression elsewhere."""
        return self if use is None else Traced(self.text, self.at, (use,) * len(self.text))

    def retyped(self, text: str) -> Traced:
        """The same characters spelled differently, one for one (``_`` as ``-``)."""
        return Traced(text, self.at, self.use)

    def extent(self) -> Extent | None:
        """From which offset up to which this stands in the file, as used; None if it does not."""
        if self.use is None and isinstance(self.at, range) and self.at:
            return self.at[0], self.at[-1] + 1
        uses = [
            (at, at + 1) if use is None else use
            for at, use in zip(self.at, self.use or (None,) * len(self.at), strict=True)
            if use is not None or at != NOWHERE
        ]
        return (min(use[0] for use in uses), max(use[1] for use in uses)) if uses else None

    def written_extent(self) -> Extent | None:
        """From which offset up to which its characters were written, wherever that is; None if they were not."""
        if isinstance(self.at, range) and self.at:
            return self.at[0], self.at[-1] + 1
        known = [at for at in self.at if at != NOWHERE]
        return (min(known), max(known) + 1) if known else None

    def first_written(self) -> int | None:
        """The offset at which the first of its characters that is written anywhere was written."""
        return next((at for at in self.at if at != NOWHERE), None)

    def written(self, source: str) -> Extent | None:
        """From which offset up to which these characters are written in one go; None if they are not."""
        if not self.at or self.at[0] == NOWHERE:
            return None
        if isinstance(self.at, range):
            return self.at[0], self.at[-1] + 1
        last = self.at[0]
        for at in self.at[1:]:
            if at == NOWHERE or at < last or (at != last + 1 and not _GAP.fullmatch(source, last + 1, at)):
                return None
            last = at
        return self.at[0], last + 1


def joined(parts: Iterable[Traced], separator: str = "") -> Traced:
    """Several texts as one."""
    text: list[str] = []
    at: list[int] = []
    use: list[Extent | None] = []
    for part in parts:
        if text and separator:
            text.append(separator)
            at += [NOWHERE] * len(separator)
            use += [None] * len(separator)
        text.append(part.text)
        at += part.at
        use += part.use or (None,) * len(part.text)
    return Traced("".join(text), at, use)


class Places:
    """The lines of one file: offsets as locations."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._lines: dict[int, str] = {}  # without secrets

    def location(self, traced: Traced, fallback: Traced | None = None, *, argument: int | None = None) -> Location:
        """Where some text was written; where it is used if it was put together from several places."""
        extent = traced.written(self.text) or traced.extent()
        if extent is None and fallback is not None:
            extent = fallback.extent()
        return self.at(*(extent or (0, 0)), argument=argument)

    def at(self, start: int, end: int, *, argument: int | None = None) -> Location:
        """A part of the file; cut at the end of its first line."""
        number = bisect_right(self._starts, start) - 1
        begin = self._starts[number]
        line = self._lines.get(number)
        if line is None:
            stop = self._starts[number + 1] - 1 if number + 1 < len(self._starts) else len(self.text)
            line = _SECRET.sub(_masked, self.text[begin:stop].removesuffix("\r"))
            self._lines[number] = line
        column = min(start - begin, max(len(line) - 1, 0))
        width = min(max(end - start, 1), len(line) - column)
        return Location(
            role="launch",
            subject=self.file,
            file=self.file,
            line=number + 1,
            column=column + 1,
            width=width,
            argument=argument,
            text=line,
        )


def _masked(match: re.Match[str]) -> str:
    secret = match["token"] or match["value"]
    return match[0].removesuffix(secret) + "*" * len(secret)
