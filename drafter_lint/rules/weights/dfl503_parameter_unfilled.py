"""A parameter of the draft model is filled by nothing.

## What it checks
Every parameter the engine builds for the drafter, against the tensors of the file.

## Why it bites
SGLang compares nothing after loading. vLLM does, but its EAGLE-3 class reports nothing to compare with. The parameter
keeps what was in memory, or ones, and the drafter runs.

## Fix
Add the tensor to the file, or correct the field that makes the engine build the parameter.

## Limits
Parameters that are bound to the target's, or that nothing reads, are left out; so are those whose tensor is missing
from the file altogether (tensor-missing, d2t-missing) or is there under a name the loader does not know
(tensor-dropped, tensor-refused).
"""

from __future__ import annotations

from drafter_lint.drafters import Eagle
from drafter_lint.engines.plan import ParameterState
from drafter_lint.findings import Fix, Found, Outcome
from drafter_lint.rule import Checks, rule
from drafter_lint.rules.earlier import absent_layers, files_absent
from drafter_lint.rules.files.core import missing_core
from drafter_lint.rules.shared import class_cause, listed, lost, method_at_odds, method_refused, refusals, told
from drafter_lint.rules.weights.stems import parts, stem
from drafter_lint.scope import Deployment

_FIX = Fix("add the tensor to the file, or correct the field that makes the engine build the parameter")


@rule("DFL503", "parameter-unfilled", Outcome.SILENT)
def check(at: Deployment[Eagle]) -> Checks:
    """One finding for all parameters nothing fills; another outcome where the engine looks."""
    stopped = refusals(at, "parameter-unfilled")
    if stopped:
        yield told(stopped, message="; ".join(refusal.says for refusal in stopped), fix=_FIX)
        return
    if class_cause(at) or files_absent(at.drafter):
        return
    elsewhere = [fate.name for fate in at.plan.tensors if fate.fate == "refused"]
    elsewhere += [fate.name for fate in lost(at)] + list(missing_core(at.drafter))
    explained = {stem(name) for name in elsewhere}
    if "d2t" not in at.drafter.canonical:
        explained.add("d2t")
    if at.drafter.use_aux_hidden_state and not at.drafter.use_aux_hidden_state.value:
        # NVIDIA/Model-Optimizer, hf_spec_export.py: a head on one state is written without fc and hidden_norm, and the
        # engines' norm of ones is what it was trained with.
        explained.add("hidden_norm")
    if method_at_odds(at) or method_refused(at):  # which of the target's tensors are bound depends on the method
        explained |= {"embed_tokens", "lm_head"}
    empty = [state for state in at.plan.parameters if _unfilled(state) and not parts(state.name) & explained]
    absent = absent_layers(at.drafter, [state.name for state in empty])
    empty = [state for state in empty if state.name not in absent]
    if not empty:
        return
    shown = [f"{state.name} ({'in part, ' if state.state == 'partly' else ''}{state.holds})" for state in empty]
    yield Found(
        message=f"{len(empty)} of {len(at.plan.parameters)} parameters are not filled from the file: {listed(shown)}",
        locations=(at.drafter.checkpoint.tensors.at(empty[0].name, "not in the file"),),
        measured={"unfilled": [state.name for state in empty[:20]], "parameters": len(at.plan.parameters)},
        evidence=at.plan.evidence_of("class"),
        fix=_FIX,
    )


def _unfilled(state: ParameterState) -> bool:
    return state.matters and state.state in {"unfilled", "partly"}
