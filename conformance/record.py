"""A record: what one run of one case showed, in the words of the truth, or why it was not run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.truth import Engine, Run, TruthCase
from conformance.workers.protocol import Seen
from drafter_lint.facts import version_of

#: A right pair accepts every draft token; what an engine's own rounding of the mean takes away is less.
_FULL_WITHIN = 0.3
#: Optional parameters, or ones that quantization fills.
_EXCUSED = ("mask_embedding", ".k_scale", ".v_scale", ".q_scale", ".prob_scale")
#: A drafter with one of these has a vocabulary of its own.
_OF_A_MAP = ("d2t", "t2d", "draft_id_to_target_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One case at one version.

    Attributes:
        case: its id.
        engine: the engine.
        version: the release that ran, "" if none did.
        run: the observation in the form of the truth, None if there is none.
        not_run: why there is none.
        said: the engine's words when it refused; they are for the reader and do not go into the truth.
        seconds: what it took.
    """

    case: str
    engine: Engine
    version: str
    run: Run | None = None
    not_run: str | None = None
    said: str | None = None
    seconds: float | None = None

    def line(self) -> str:
        """As one line of JSON."""
        fields: dict[str, object] = {"case": self.case, "engine": self.engine, "version": self.version}
        if self.run is not None:
            fields["run"] = plain(self.run)
        others = {"not_run": self.not_run, "said": self.said, "seconds": self.seconds}
        fields |= {name: value for name, value in others.items() if value is not None}
        return json.dumps(fields, ensure_ascii=False) + "\n"

    @classmethod
    def parse(cls, line: str) -> Record:
        """A record from its line.

        Raises:
            ValueError: the line is no record.
        """
        fields = json.loads(line)
        if not isinstance(fields, dict) or not {"case", "engine", "version"} <= fields.keys():
            raise ValueError(f"no record: {line[:80]!r}")
        run = fields.pop("run", None)
        return cls(run=None if run is None else Run.model_validate(run), **fields)


def plain(run: Run) -> dict[str, object]:
    """The fields of a run that say something, in the order in which the truth writes them."""
    fields: dict[str, object] = run.model_dump(exclude_defaults=True)
    return fields


def launch_of(case: TruthCase, engine: Engine) -> Run | None:
    """The newest recorded run of a case with an engine: its command is what is run again."""
    runs = [run for run in case.runs if run.engine == engine]
    return max(runs, key=lambda run: max(map(version_of, run.versions)), default=None)


def record(case: TruthCase, template: Run, seen: Seen) -> Record:
    """What was seen, judged as the truth judges it; of an engine that refused, not how it loaded."""
    engine = template.engine
    if seen.not_run is not None:
        return Record(
            case=case.id,
            engine=engine,
            version=seen.version,
            not_run=seen.not_run,
            said=seen.error_text,
            seconds=seen.seconds,
        )
    refused = seen.error_type is not None
    blind = is_blind(case)
    reasons = [] if refused or blind else list(_silent_by(case, seen))
    run = Run(
        engine=engine,
        versions=[seen.version],
        launch=template.launch,
        environment=template.environment,
        runner=template.runner,
        outcome="refuses" if refused else "loads" if blind else "silent" if reasons else "ok",
        stage=seen.stage,
        silent_by=reasons,
        speculates=refused or seen.method is not None,
        method=seen.method,
        draft_class=seen.draft_class,
        aux_layers=seen.aux_layers,
        dropped=None if refused else seen.dropped,
        unfilled=None if refused else seen.unfilled,
        partial=None if refused else seen.partial,
        shares_embed=None if refused else seen.shares_embed,
        shares_lm_head=None if refused else seen.shares_lm_head,
        accept_length=seen.accept_length,
        num_speculative_tokens=seen.num_speculative_tokens,
        error_type=seen.error_type,
        error_at=seen.error_at,
    )
    return Record(
        case=case.id, engine=engine, version=seen.version, run=run, said=seen.error_text, seconds=seen.seconds
    )


def is_blind(case: TruthCase) -> bool:
    """True if acceptance cannot tell what the case changes: it was recorded as ``loads`` although tokens came."""
    return any(run.outcome == "loads" and run.stage == "generated" for run in case.runs)


def accepts_all(run: Run) -> bool | None:
    """True if every draft token was accepted; None if that was not seen.

    How many of a wrong pair's tokens are accepted is chance, and so is everything where a parameter was never filled:
    it holds what the memory held.
    """
    if run.accept_length is None or run.num_speculative_tokens is None or {"unloaded", "partial"} & {*run.silent_by}:
        return None
    return run.accept_length >= 1 + run.num_speculative_tokens - _FULL_WITHIN


def silent_by(run: Run) -> list[str]:
    """The reasons that say something: none where acceptance is blind, and no acceptance where it is chance."""
    if run.outcome == "loads":
        return []
    reasons = {*run.silent_by}
    return sorted(reasons - {"accept"} if accepts_all(run) is None else reasons)


def _silent_by(case: TruthCase, seen: Seen) -> Iterator[str]:
    full = 1 + (seen.num_speculative_tokens or 0) - _FULL_WITHIN
    if seen.accept_length is not None and seen.accept_length < full and (seen.method or "").lower() != "dflash":
        yield "accept"
    if any(not _is_excused(case, seen, name) for name in seen.unfilled or ()):
        yield "unloaded"
    if seen.partial:
        yield "partial"
    if _lost(seen):
        yield "unused"


def _is_excused(case: TruthCase, seen: Seen, parameter: str) -> bool:
    """A parameter nothing has to fill: the target's is put in its place, or its default is right."""
    if "embed_tokens" in parameter and seen.shares_embed:
        return True
    if "lm_head" in parameter and seen.shares_lm_head:
        return True
    if parameter.endswith("draft_id_to_target_id"):
        return not any(name.endswith(_OF_A_MAP) for name in case.drafter.table())  # zeros map every id to itself
    return parameter.endswith(_EXCUSED)


def _lost(seen: Seen) -> Sequence[str]:
    """Tensors of the file that nothing holds, and no target's stands in for."""
    return [
        name
        for name in seen.dropped or ()
        if name not in seen.consumed
        and not name.endswith("t2d")  # the inverse of d2t, which no engine keeps
        and not (seen.shares_lm_head and name == "lm_head.weight")
        and not (seen.shares_embed and "embed_tokens" in name)
    ]
