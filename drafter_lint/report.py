"""The result of a run: one check per pair, engine and version, and the exit code they add up to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from drafter_lint.drafters import Recognition
from drafter_lint.engines.plan import Plan
from drafter_lint.errors import UsageError
from drafter_lint.facts import Knowledge
from drafter_lint.findings import Finding, FindingsError, Location, Outcome, Role, Skip, Verdict
from drafter_lint.launch import LaunchRequest
from drafter_lint.sources.base import Tally
from drafter_lint.targets import Target

FailOn = Literal["refuses", "silent", "slow", "hygiene", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A checkpoint as the report names it.

    Attributes:
        role: drafter or target.
        spelling: as typed.
        name: resolved id or path.
        commit: the commit every read went to, None where there is none.
        title: what it is, one phrase; "" if it could not be read.
        origin: "given", "claimed by the drafter", "inside the target".
        path: the local folder or file it was read from, as typed; "" for a repository of the Hub.
    """

    role: Role
    spelling: str
    name: str
    commit: str | None = None
    title: str = ""
    origin: str = "given"
    path: str = ""

    @property
    def shown(self) -> str:
        """Both spellings when they differ, and the commit."""
        name = f"{self.spelling} -> {self.name}" if self.spelling not in ("", self.name) else self.name
        return f"{name} @ {self.commit[:7]}" if self.commit else name


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSubject:
    """The engine of a check.

    Attributes:
        name: "sglang", "vllm".
        version: as asked for.
        knowledge: observed, bracketed, extrapolated or ambiguous.
        newest: the newest version read.
        basis: the read releases this check rests on.
        asked: False if the user named no engine.
    """

    name: str
    version: str
    knowledge: Knowledge
    newest: str
    basis: tuple[str, ...]
    asked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding somebody has taken responsibility for.

    Attributes:
        finding: as it was found; neither the verdict nor the exit code rests on it.
        reason: why it is suppressed, in the words of whoever wrote it.
        at: where that is written.
    """

    finding: Finding
    reason: str
    at: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One drafter, one target, one engine at one version, one set of flags.

    Attributes:
        verdict: the worst outcome found, "unknown" if something needed could not be read, else "ok".
        checked: how many rules ran to their end.
        plans: one, or two where two read releases around the version differ (the older first); none if no plan
            could be made.
        ran: the codes of the rules that ran to their end.
        source: where the command stands, if it was found in a document.
        suppressed: findings taken out of ``findings``, each with its reason.
        hidden: findings less sure than was asked for.
    """

    drafter: Subject
    target: Subject | None
    engine: EngineSubject | None
    request: LaunchRequest | None
    recognition: Recognition | None
    target_read: Target | None
    plans: tuple[Plan, ...]
    findings: tuple[Finding, ...]
    not_checked: tuple[Skip, ...]
    checked: int
    ran: tuple[str, ...] = ()
    source: Location | None = None
    suppressed: tuple[Suppressed, ...] = ()
    hidden: tuple[Finding, ...] = ()

    @property
    def unresolved(self) -> bool:
        """True if nothing is known but the place of a command that could not be resolved."""
        return self.source is not None and self.recognition is None and self.engine is None

    @property
    def alone(self) -> bool:
        """True if a drafter's own files were checked, without a target and without an engine."""
        return self.recognition is not None and self.engine is None

    @property
    def verdict(self) -> Verdict:
        """The worst outcome found; ``unknown`` if something needed could not be read and nothing worse was found."""
        worst = max((finding.outcome for finding in self.findings), key=lambda outcome: outcome.rank, default=None)
        unread = any(skip.needed for skip in self.not_checked)
        if unread and (worst is None or worst.rank < Outcome.SILENT.rank):
            return "unknown"
        return worst.value if worst else "ok"

    def fails(self, fail_on: FailOn, demanded: Collection[str] = ()) -> bool:
        """True if a finding reaches ``fail_on``, or is of a rule that was ``demanded`` by its code."""
        return any(_fails(finding, fail_on, demanded) for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What the run read.

    Attributes:
        requests: to any server.
        bytes: read, from wherever.
        seconds: the whole run.
        cached: how many of the bytes a Hub once sent and a cache held.
    """

    requests: int
    bytes: int
    seconds: float
    cached: int = 0

    @classmethod
    def of(cls, tally: Tally) -> Cost:
        """What was counted until now."""
        return cls(requests=tally.requests, bytes=tally.bytes, seconds=tally.seconds, cached=tally.cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a run found.

    Attributes:
        fail_on: from which outcome on a finding fails the run; "never" for none at all.
        demanded: codes of rules whose findings fail it whatever their outcome, because they were asked for.
    """

    checks: tuple[Check, ...]
    cost: Cost
    fail_on: FailOn = "silent"
    demanded: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 nothing at or above ``fail_on``, 1 findings, 3 something needed could not be read.

        Engines nobody asked for decide only when all of them fail.
        """
        groups: dict[tuple[str, str], list[Check]] = {}
        for check in self.checks:
            groups.setdefault((check.drafter.name, check.target.name if check.target else ""), []).append(check)
        return max((self._code(group) for group in groups.values()), key=(0, 3, 1).index, default=0)

    def _code(self, group: list[Check]) -> int:
        asked = [check for check in group if check.engine is None or check.engine.asked]
        codes = [
            1 if check.fails(self.fail_on, self.demanded) else 3 if check.verdict == "unknown" else 0 for check in group
        ]
        if asked:
            return max(codes, key=(0, 3, 1).index)
        return codes[0] if len(set(codes)) == 1 else 0 if 0 in codes else 3

    def raise_for_findings(self) -> None:
        """Raise if :attr:`exit_code` is 1.

        Raises:
            FindingsError: with one line per finding that failed the run.
        """
        if self.exit_code == 1:
            lines = [
                f"{finding.code} {finding.name}: {finding.message}"
                for check in self.checks
                for finding in check.findings
                if _fails(finding, self.fail_on, self.demanded)
            ]
            raise FindingsError("\n".join(dict.fromkeys(lines)))

    def render(self, format_: str = "text", *, color: bool = False, width: int = 100) -> str:
        """The report as text in one of the formats of ``--format``.

        Args:
            format_: "text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown" or "html".
            color: use ANSI colours where the format has them.
            width: columns to wrap at where the format wraps.

        Raises:
            UsageError: there is no such format.
        """
        # A report does not know how it is said; only this convenience does, and only when it is called.
        renderers = import_module("drafter_lint.renderers")
        style = import_module("drafter_lint.renderers.style").Style(color=color, width=width)
        if format_ not in renderers.RENDERERS:
            raise UsageError(f"no format called {format_!r}; there are {', '.join(renderers.RENDERERS)}")
        return str(renderers.render(self, format_, style))

    @property
    def summary(self) -> Mapping[str, int]:
        """How many checks ended in each verdict."""
        counts: dict[str, int] = {}
        for check in self.checks:
            counts[check.verdict] = counts.get(check.verdict, 0) + 1
        return counts


def _fails(finding: Finding, fail_on: FailOn, demanded: Collection[str]) -> bool:
    return fail_on != "never" and (finding.code in demanded or finding.outcome.rank >= Outcome(fail_on).rank)
