"""The nouns of a document search: a launch command, a note on what could not be read, and the search under way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from drafter_lint.errors import UsageError
from drafter_lint.findings import Located, Location
from drafter_lint.launch.files.effort import Effort
from drafter_lint.launch.files.traced import Places, Traced
from drafter_lint.launch.parse import parse_command
from drafter_lint.launch.request import LaunchRequest, Unresolved
from drafter_lint.launch.words import masked, plain

# The value of a speculative key that a reader is to fill in.
_JSON_GAP = re.compile(r"(\"(?:model|method|num_speculative_tokens|revision)\"\s*:\s*\"?)<([A-Za-z_][^<>{}\"]*)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCommand:
    """One command of a document.

    Attributes:
        request: what it asks for; every place is in the file.
        source: where the command starts.
        engine: "sglang" or "vllm".
        version: the engine's release, from the image's tag or a pin in the same document.
        unresolved: what nobody in the document fills in, as spelled there ("$MODEL").
        lost: speculative flags meant for this command that never reach it, because a comment or a line end cut it.
    """

    request: LaunchRequest
    source: Location
    engine: str
    version: Located[str] | None = None
    unresolved: tuple[str, ...] = ()
    lost: tuple[Location, ...] = ()

    @property
    def speculates(self) -> bool:
        """True if it asks for speculative decoding, or was meant to."""
        request = self.request
        return bool(self.lost) or any(name.startswith("--spec") for name in request.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that looks like an engine's command but cannot be read."""

    at: Location
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a document holds, in the order written."""

    commands: tuple[LaunchCommand, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Candidate:
    """A command of one way through the document: what it asks for, and what its version can be read from."""

    start: int
    request: LaunchRequest
    image: Traced | None
    lost: list[Location] = field(default_factory=list)


class Scan:
    """One document being searched.

    Attributes:
        places: the file's lines.
        variables: what the user says unknown variables are.
        candidates: the commands so far.
        notes: by the offset they are about, the latest reason.
        spellings: what gaps that stand for an expression are called in the document.
        depth: how many documents inside one another are being read.
        effort: the work the document may still ask for.
        latest: the command that was added last, or met once more.
    """

    def __init__(self, text: str, *, file: str, variables: Mapping[str, str]) -> None:
        self.text = text
        self.places = Places(file, text)
        self.variables = variables
        self.candidates: list[Candidate] = []
        self.notes: dict[int, Note] = {}
        self.spellings: dict[str, str] = {}
        self.depth = 0
        self.effort = Effort(len(text))
        self.latest: Candidate | None = None
        self._added: dict[tuple[object, ...], Candidate] = {}

    def note(self, where: Traced, reason: str) -> None:
        """Remember something that cannot be read."""
        extent = where.written(self.text) or where.extent() or (0, 0)
        self.notes[extent[0]] = Note(at=self.places.at(*extent), reason=reason)

    def add(
        self,
        words: Sequence[Traced],
        *,
        engine: str,
        start: Traced,
        environment: Mapping[str, Traced],
        image: Traced | None,
    ) -> Candidate | None:
        """Understand the words of an engine's command; None if they cannot be read."""
        self.effort.spend(10 * len(words))
        offset = start.first_written()
        if offset is None:
            offset = (start.extent() or (0, 0))[0]
        texts = tuple(word.text for word in words)
        settings = tuple((name, value.text) for name, value in environment.items())
        key = (offset, engine, texts, settings, image.text if image is not None else None)
        if key in self._added:  # another way through the document comes by it with nothing changed
            self.latest = self._added[key]
            return self.latest
        self.effort.spend(100 * len(words) + sum(map(len, texts)))
        words = [self._gaps_marked(word) for word in words]
        written = [word.extent() is not None for word in words]
        whole = next((word for word in words if word.extent()), start)

        def place(index: int, begin: int, end: int) -> Location:
            word = words[index]
            part = word.cut(begin, end) if end > begin else word
            if len(part) > 2 and part.text[0] == part.text[-1] == '"':
                part = part.cut(1, len(part) - 1)  # a JSON string: its quotes are not what is to be seen
            return self.places.location(part, word if written[index] else whole, argument=index)

        located = {
            name: Located(
                masked([f"{name}={plain(value.text)}"])[0].removeprefix(f"{name}="), self.places.location(value, start)
            )
            for name, value in environment.items()
        }
        try:
            request = parse_command([word.text for word in words], engine=engine, place=place, environment=located)
        except UsageError as error:
            self.note(start, f"not checked: {error}")
            return None
        found = Candidate(start=offset, request=request, image=image)
        self.candidates.append(found)
        self.latest = self._added[key] = found
        return found

    def _gaps_marked(self, word: Traced) -> Traced:
        """A JSON word whose ``<drafter>`` is written as the gap it is; elsewhere ``<…>`` may be a token's name."""
        if not word.text.lstrip().startswith("{"):
            return word

        def marked(match: re.Match[str]) -> str:
            label = "{" + re.sub(r"\W", "_", match[2]) + "}"
            self.spellings[label] = f"<{match[2]}>"
            return match[1] + label

        return word.retyped(_JSON_GAP.sub(marked, word.text))


def settle(found: Sequence[Candidate]) -> list[Candidate]:
    """One candidate for each reading that says something of its own, in the order of the file.

    The ways through a document meet the same command several times; a reading that only leaves out what another one
    says (an option not taken) is no command of its own.
    """
    kept: dict[int, list[Candidate]] = {}
    for candidate in found:
        rivals = kept.setdefault(candidate.start, [])
        if not any(_covers(other, candidate) for other in rivals):
            rivals[:] = [other for other in rivals if not _covers(candidate, other)]
            rivals.append(candidate)
    return [candidate for start in sorted(kept) for candidate in kept[start]]


def finished(candidate: Candidate, *, scan: Scan, version: Located[str] | None) -> LaunchCommand:
    """The command of a candidate."""
    source = scan.places.at(candidate.start, candidate.start + 1)
    request = candidate.request
    gaps = tuple(scan.spellings.get(name, name) for name in request.unresolved)
    request = replace(request, unresolved=gaps, place=source)
    return LaunchCommand(
        request=request,
        source=source,
        engine=request.engine,
        version=version,
        unresolved=request.unresolved,
        lost=tuple(dict.fromkeys(candidate.lost)),
    )


def _covers(one: Candidate, other: Candidate) -> bool:
    mine, theirs = _reading(one.request), _reading(other.request)
    agree = all(value is None or value == mine.get(name) for name, value in theirs.items())
    return one.request.engine == other.request.engine and agree and len(one.lost) >= len(other.lost)


def _reading(request: LaunchRequest) -> dict[str, object]:
    located: dict[str, Located[str] | Located[int] | None] = {
        "method": request.method,
        "drafter": request.drafter,
        "target": request.target,
        "tensor_parallel": request.tensor_parallel,
        "quantization": request.quantization,
        **_counts(request),
    }
    reading: dict[str, object] = {name: value.value if value else None for name, value in located.items()}
    for key, value in request.speculative_config.items():
        open_ = isinstance(value.value, Unresolved)
        reading[f"speculative_config.{key}"] = None if open_ else value.value
    return reading


def _counts(request: LaunchRequest) -> dict[str, Located[int]]:
    counts = {
        "num_speculative_tokens": request.num_speculative_tokens,
        "num_steps": request.num_steps,
        "topk": request.topk,
        "num_draft_tokens": request.num_draft_tokens,
    }
    return {name: value for name, value in counts.items() if value is not None}
