"""Holds the plan against the truth: every recorded run, what was predicted for it, and whether the two agree."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from drafter_lint.checkpoint import Checkpoint
from drafter_lint.drafters import Trained
from drafter_lint.engines.plan import Plan
from drafter_lint.findings import Located, Location, Outcome, Role
from drafter_lint.launch import parse_command
from drafter_lint.linter import EngineChoice, Selection, check_pair, understand
from drafter_lint.recipe import Recipe
from drafter_lint.reference import Reference
from drafter_lint.report import Check
from truth_cases import TRUTH, Run, TruthCase

Fact = Literal["method", "boundaries", "embedding shared", "head shared", "dropped", "unfilled"]
FACTS: tuple[Fact, ...] = get_args(Fact)
#: Case, engine, version.
Key: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One case at one version: recorded against predicted.

    Attributes:
        case: its id.
        recorded: the outcome observed.
        predicted: the check's verdict.
        codes: the findings it rests on.
        agrees: True if the verdict means the recorded outcome.
        undecided: True if the report says that the files do not tell which boundaries the drafter needs, and nothing
            worse: it claims no verdict on that, so it cannot disagree.
        facts: for every detail that was recorded and tells, (recorded, predicted).
    """

    case: str
    engine: str
    version: str
    recorded: str
    predicted: str
    codes: tuple[str, ...]
    agrees: bool
    undecided: bool
    facts: Mapping[Fact, tuple[object, object]]


def listed(*, told: bool) -> frozenset[Key]:
    """What fixtures/truth/disagreements.toml says disagrees, each with its reason.

    Args:
        told: True for what still disagrees once the check is told what the drafter was trained with.
    """
    table = tomllib.loads((TRUTH / "disagreements.toml").read_text("utf-8"))
    return frozenset(
        (str(entry["case"]), str(entry["engine"]), str(version))
        for entry in table["disagreement"]
        if entry["reason"] and not (told and entry.get("told"))
        for version in entry["versions"]
    )


def disagreeing(rows: Iterable[Judgement]) -> frozenset[Key]:
    """The runs whose outcome is not what the check says."""
    return frozenset((row.case, row.engine, row.version) for row in rows if not row.agrees and not row.undecided)


def judge(case: TruthCase, *, told: bool) -> Iterator[Judgement]:
    """Predict every run of a case.

    Args:
        case: the case.
        told: True to tell the tool what the drafter was trained with, as its trainer would.
    """
    for run in case.runs:
        for version in run.versions:
            if not case.tells(run, version, "outcome"):
                continue
            check = predict(case, run, version, told=told)
            yield Judgement(
                case=case.id,
                engine=run.engine,
                version=version,
                recorded=run.outcome,
                predicted=check.verdict,
                codes=tuple(dict.fromkeys(f"{item.code} {item.outcome.value}" for item in check.findings)),
                agrees=means(check, run),
                undecided=_undecided(check),
                facts=dict(_facts(case, run, version, check)),
            )


def means(check: Check, run: Run) -> bool:
    """True if a check's verdict is what the recorded outcome calls for.

    ``loads`` says that loading was seen and drafting was not (or that acceptance is blind to the mutation): all it can
    contradict is a refusal, and where nothing was requested only one that comes before the first request.
    """
    if run.outcome == "loads":
        stages = {refusal.stage for plan in check.plans for refusal in plan.refusals}
        unseen = run.stage == "loaded" and stages == {"first-request"}
        return check.verdict != "unknown" and (check.verdict != "refuses" or unseen)
    if run.outcome == "ok":
        return check.verdict in ("ok", "slow", "hygiene")
    return check.verdict == run.outcome


def _undecided(check: Check) -> bool:
    """The aux rules say "not checked", and no other rule found the drafts wrong or the server down."""
    silent = any(item.outcome in (Outcome.SILENT, Outcome.REFUSES) for item in check.findings)
    return not silent and any(skip.name.startswith("aux-") for skip in check.not_checked)


def predict(case: TruthCase, run: Run, version: str, *, told: bool) -> Check:
    """Check a case as it was launched."""
    place = Location(role="launch", subject="environment")
    environment = {name: Located(value, place) for name, value in run.environment.items()}
    request = parse_command(run.launch, environment=environment)
    drafter = _checkpoint(case.drafter, f"./{case.drafter_folder}", "drafter")
    opened = understand(
        drafter, _checkpoint(case.target, "./target", "target"), trained_on=_trained(case) if told else None
    )
    return check_pair(opened, EngineChoice(name=run.engine, version=version, request=request), selection=Selection())


def _trained(case: TruthCase) -> Trained:
    """What whoever built the pair knows, and may say with --trained-on."""
    built = case.built
    state: Literal["before-norm", "after-norm"] | None = None
    if built.state is not None:
        state = "before-norm" if built.state.startswith("before") else "after-norm"
    return Trained(
        boundaries=tuple(sorted(built.boundaries)) if built.boundaries else None,
        norm_before_residual=built.norm_before_residual,
        state=state,
    )


def _checkpoint(recipe: Recipe, path: str, role: Role) -> Checkpoint:
    return Checkpoint(Reference(spelling=path, kind="local", name=path), recipe.source(), role=role)


def _facts(case: TruthCase, run: Run, version: str, check: Check) -> Iterator[tuple[Fact, tuple[object, object]]]:
    """The details that were recorded, beside what the plan says; nothing where the plan was refused before."""
    plan = check.plans[-1] if check.plans else None
    if plan is None or run.outcome == "refuses":
        return
    recorded: dict[str, tuple[Fact, object, object]] = {
        "method": ("method", run.method, plan.method),
        "aux_layers": ("boundaries", _sorted(run.aux_layers), _captured(plan)),
        "shares_embed": ("embedding shared", run.shares_embed, _from_target(plan, "embedding")),
        "shares_lm_head": ("head shared", run.shares_lm_head, _from_target(plan, "head")),
        "dropped": ("dropped", _sorted(run.dropped), _dropped(plan)),
        "unfilled": ("unfilled", _sorted(run.unfilled), _unfilled(plan)),
    }
    for field, (fact, seen, said) in recorded.items():
        if getattr(run, field) is not None and case.tells(run, version, field):
            yield fact, (seen, said)


def _sorted(values: Iterable[object] | None) -> list[object]:
    return sorted(values or [], key=lambda value: (isinstance(value, str), value))


def _captured(plan: Plan) -> list[int]:
    return sorted(plan.capture.boundaries) if plan.capture and plan.capture.active else []


def _from_target(plan: Plan, part: Literal["head", "embedding"]) -> bool:
    provision = plan.head if part == "head" else plan.embedding
    return provision is not None and provision.provider == "target"


def _dropped(plan: Plan) -> list[str]:
    """What reached no parameter. The recorder looked for whole rows: of a tensor cut along its rows it saw the rest."""
    return sorted(
        item.name for item in plan.tensors if item.fate in ("dropped", "consumed") or item.cut_along == "columns"
    )


def _unfilled(plan: Plan) -> list[str]:
    """Parameters no tensor of the file filled, recorded before anything is shared with the target."""
    filled = {item.parameter for item in plan.tensors if item.fate in ("taken", "cut")}
    return sorted(
        item.name for item in plan.parameters if item.state in ("unfilled", "shared") and item.name not in filled
    )
