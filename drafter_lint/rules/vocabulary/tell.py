"""How a broken map is told of: what the files say of it, and what the engine at hand makes of it."""

from __future__ import annotations

from dataclasses import replace

from drafter_lint.drafters import Eagle
from drafter_lint.findings import Evidence, Found, Outcome, weakest
from drafter_lint.rules.shared import class_cause, method_refused, once, refusals, states_withheld
from drafter_lint.rules.vocabulary.drafted import Drafted, Fault, drafted_vocabulary
from drafter_lint.scope import Alone, Deployment, Known
from drafter_lint.targets import Target

_STOPS = {
    "arguments": "",
    "config": "; the engine refuses the config",
    "load": "; the engine stops while loading",
    "first-request": "; the first draft stops the engine",
}
#: Rules that warn of a refusal; where the plan has none, head and map are not built from the config's number.
_BUILT = {"head-rows", "draft-vocab-undeclared"}


def target_of(at: Known[Eagle]) -> Target | None:
    """The target, where one is known."""
    return None if isinstance(at, Alone) else at.target


def faulty(at: Known[Eagle], fault: Fault) -> Drafted | None:
    """The drafted vocabulary if this is what is wrong with it."""
    drafted = drafted_vocabulary(at.drafter, target_of(at))
    return drafted if drafted is not None and drafted.fault == fault else None


def told(at: Known[Eagle], name: str, found: Found) -> Found:
    """What a rule found in the files, with the outcome and the evidence of the plan where there is one.

    Args:
        at: the scope of the rule.
        name: of the rule: the refusals that follow from what it found are told with it.
        found: as it is without an engine.
    """
    if not isinstance(at, Deployment) or not at.plan.understood or not at.plan.speculates:
        return found
    if group := refusals(at, name):
        return replace(
            found,
            message=found.message + _STOPS[group[0].stage],
            evidence=_evidence(at, found, *(item for refusal in group for item in refusal.evidence)),
            outcome=Outcome.REFUSES,
            confidence=weakest(found.confidence, *(refusal.confidence for refusal in group)),
        )
    use = at.plan.map
    if use is None or class_cause(at) or states_withheld(at) or method_refused(at):
        return found  # what hides it is told elsewhere, and it is there still when that is mended
    if name in _BUILT and at.plan.tensors:
        return replace(found, message=f"{found.message}; here it loads all the same", outcome=Outcome.HYGIENE)
    if not name.startswith("d2t-"):
        return found
    evidence = _evidence(at, found, *use.evidence)
    if use.use in {"identity", "none"} and name != "d2t-missing":
        says = f"; here it is not applied: {use.says}"
        return replace(found, message=found.message + says, evidence=evidence, outcome=Outcome.HYGIENE)
    return replace(found, evidence=evidence)


def _evidence(at: Deployment[Eagle], found: Found, *planned: Evidence) -> tuple[Evidence, ...]:
    """What is known of this engine, and no other."""
    return once((*(item for item in found.evidence if item.engine in {"", at.plan.engine}), *planned))
