"""The shared vocabulary of what was found: outcomes, confidence, places, findings, and the report.

Every value read from a file or a command travels as ``Located[T]``: the value and where it stands,
because the place is often the finding itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from drafter_lint.errors import DrafterLintError

Role = Literal["drafter", "target", "launch", "engine"]
JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


class Outcome(StrEnum):
    """What happens to the user when the finding holds; ordered by :attr:`rank`."""

    REFUSES = "refuses"  # does not start, or crashes on the first request
    SILENT = "silent"  # runs, drafts wrong or useless
    SLOW = "slow"  # works below what it could
    HYGIENE = "hygiene"  # works; worth tidying

    @property
    def rank(self) -> int:
        """0 for the mildest, 3 for the worst."""
        return ("hygiene", "slow", "silent", "refuses").index(self.value)


class Confidence(StrEnum):
    """How sure a claim is; ordered by :attr:`rank`."""

    CERTAIN = "certain"  # arithmetic on shapes, or engine behaviour read or run at that version
    LIKELY = "likely"  # bracketed between two versions read, or newer than all read
    POSSIBLE = "possible"  # a heuristic; hidden unless asked for

    @property
    def rank(self) -> int:
        """0 for the weakest, 2 for the strongest."""
        return ("possible", "likely", "certain").index(self.value)


def weakest(*confidences: Confidence) -> Confidence:
    """The weakest of some confidences; ``CERTAIN`` of none."""
    return min(confidences, key=lambda c: c.rank, default=Confidence.CERTAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place the user can look at.

    Attributes:
        role: whose place it is.
        subject: what it belongs to, as shown ("AQ-MedAI/Kimi-K25-eagle3 @ 3f9c1ab", "command line").
        file: path inside the subject, or "" for a place on the command line.
        line: 1-based line, if the file has lines.
        column: 1-based column of the first character.
        width: how many characters the span covers.
        pointer: JSON pointer of a configuration value ("/eagle_config/use_aux_hidden_state").
        tensor: name of a tensor.
        shape: its shape.
        argument: 0-based index into the command's argv.
        text: the source line itself, for a snippet.
        label: what is to be seen there, relative to the finding at hand.
    """

    role: Role
    subject: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    width: int | None = None
    pointer: str | None = None
    tensor: str | None = None
    shape: tuple[int, ...] | None = None
    argument: int | None = None
    text: str | None = None
    label: str = ""

    def saying(self, label: str) -> Location:
        """The same place with another label."""
        return Location(
            role=self.role,
            subject=self.subject,
            file=self.file,
            line=self.line,
            column=self.column,
            width=self.width,
            pointer=self.pointer,
            tensor=self.tensor,
            shape=self.shape,
            argument=self.argument,
            text=self.text,
            label=label,
        )


def whole_line(file: str, text: str, line: int) -> Location:
    """A line (1-based) of one of our own documents, without its indentation; line 1 of an empty one is empty."""
    shown = (text.splitlines() or [""])[line - 1]
    return Location(
        role="launch",
        subject=file,
        file=file,
        line=line,
        column=len(shown) - len(shown.lstrip()) + 1,
        width=max(len(shown.strip()), 1),
        text=shown,
    )


T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Located(Generic[T_co]):
    """A value and the place it was read from."""

    value: T_co
    at: Location


How = Literal["run", "read", "inferred"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why an engine claim is believed.

    Attributes:
        engine: "sglang", "vllm", or "" when the claim is arithmetic on the files.
        version: the version or span it was seen at ("0.4.6.post5 to 0.5.23").
        file: path inside the package ("srt/models/llama_eagle3.py").
        symbol: class or function ("LlamaModel.forward").
        how: seen by running the engine, by reading it, or inferred from reading.
        note: one sentence, when the symbol does not say it.
    """

    engine: str
    version: str
    file: str
    symbol: str
    how: How
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReplaceArgument:
    """Put ``value`` in place of the argv entry at ``index``."""

    index: int
    value: str


@dataclass(frozen=True, slots=True)
class AddArguments:
    """Append ``values`` to the command."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetConfig:
    """Set the value at a JSON pointer of the drafter's config.json, creating it if absent."""

    pointer: str
    value: JsonValue


@dataclass(frozen=True, slots=True)
class RemoveConfig:
    """Remove the value at a JSON pointer of the drafter's config.json."""

    pointer: str


@dataclass(frozen=True, slots=True)
class SetTensor:
    """Other values of a small integer tensor of the drafter's, in the dtype and shape it has."""

    name: str
    values: tuple[int, ...]


Edit = ReplaceArgument | AddArguments | SetConfig | RemoveConfig | SetTensor


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change. ``edits`` is empty when a machine cannot do it (a missing tensor, a retrained drafter)."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a rule yields: a finding before the linter has put the rule's code on it.

    Attributes:
        message: subject, measured numbers, expectation; no advice.
        locations: the first is the primary one.
        measured: the numbers the message rests on, by name.
        outcome: overrides the rule's own when the same cause has several consequences.
    """

    message: str
    locations: tuple[Location, ...]
    measured: Mapping[str, JsonValue] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    fix: Fix | None = None
    outcome: Outcome | None = None
    confidence: Confidence = Confidence.CERTAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A place where needs and deeds part, with everything needed to judge and mend it."""

    code: str
    name: str
    outcome: Outcome
    confidence: Confidence
    message: str
    locations: tuple[Location, ...]
    measured: Mapping[str, JsonValue]
    evidence: tuple[Evidence, ...]
    fix: Fix | None


@dataclass(frozen=True, slots=True)
class Skip:
    """A check that could not run, and why. ``needed`` skips make a clean check ``unknown`` (exit 3)."""

    code: str
    name: str
    reason: str
    needed: bool = False


Verdict = Literal["refuses", "silent", "slow", "hygiene", "ok", "unknown"]


class FindingsError(DrafterLintError):
    """Raised by :meth:`Report.raise_for_findings` when something reached the failing level."""
