"""Which of vLLM's two model runners serves: it decides which key the auxiliary layer ids are read from."""

from __future__ import annotations

from drafter_lint.engines.plan import RefusalKind
from drafter_lint.engines.vllm.case import Case
from drafter_lint.targets import Target

VARIABLE = "VLLM_USE_V2_MODEL_RUNNER"
_EXPERTS = ("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts")
_TRUE = {"1", "true", "yes", "on"}


def choose(case: Case, *, method: str | None, parallel_drafting: bool) -> str:
    """``v1`` or ``v2``."""
    asked = case.request.environment.get(VARIABLE)
    if asked is not None and not case.world.flag("runner.selectable"):
        case.ignore_flag(
            VARIABLE, asked.at, "this release has one model runner and no such variable", "runner.selectable"
        )
        asked = None
    if asked is not None:
        runner = "v2" if asked.value.strip().lower() in _TRUE else "v1"
        case.step("runner", f"{VARIABLE}={asked.value}: model runner {runner}", "runner.selectable", at=asked.at)
        back = _fallback(case, method, parallel_drafting=parallel_drafting) if runner == "v2" else ""
        if back and case.world.flag("runner.v2-refuses-parallel-drafting"):
            says = f"model runner V2 is forced, and it does not do {back}"
            keys = ("runner.v2-refuses-parallel-drafting", "runner.v2-methods")
            case.refuse(RefusalKind.OTHER, "config", says, at=asked.at, keys=keys)
        return runner
    runner, why = _default(case, case.target)
    if runner == "v2":
        back = _fallback(case, method, parallel_drafting=parallel_drafting)
        if back:
            runner, why = "v1", f"{why}, but V2 does not do {back}"
    change = _change(case, runner, method)
    case.step("runner", f"model runner {runner}: {why}{change}", "runner.default", "runner.v2-architectures")
    return runner


def _default(case: Case, target: Target) -> tuple[str, str]:
    law = case.world.text("runner.default")
    if law in {"v1", "v2"}:
        return law, f"the default of this release{' (V1 without Triton, as on a CPU)' if law == 'v2' else ''}"
    architecture = target.architecture.value if target.architecture else ""
    listed = architecture in case.world.names("runner.v2-architectures")
    dense = not any((value := target.text.integer(key)) and value.value > 0 for key in _EXPERTS)
    if law == "v2 for listed targets":
        return ("v2", f"{architecture} is on its list") if listed else ("v1", f"{architecture} is not on V2's list")
    if law == "v2 for listed dense targets":
        fits = listed and dense and target.quantization is None
        return (
            ("v2", f"{architecture} is on its list")
            if fits
            else ("v1", f"{architecture} is not on V2's list, or not dense")
        )
    hybrid = architecture in case.world.names("runner.hybrid-targets")
    if listed or (dense and not hybrid):
        return "v2", f"{architecture} is {'on its list' if listed else 'dense'}"
    return "v1", f"{architecture} is {'hybrid' if hybrid else 'a mixture of experts'} and not on V2's list"


def _fallback(case: Case, method: str | None, *, parallel_drafting: bool) -> str:
    """What V2 cannot do, as far as the request says; "" if nothing."""
    if parallel_drafting and method not in {"dflash", "dspark"}:
        return "parallel drafting for EAGLE"
    if method in {"eagle", "eagle3", "mtp", "dflash", "dspark", None}:
        stages = case.request.options.get("--pipeline-parallel-size")
        piped = stages is not None and stages.value not in {None, "1"}
        listed = case.world.text("runner.default") != "v2"
        return "EAGLE-3 with pipeline parallelism" if piped and listed and method == "eagle3" else ""
    if mixed_vocabularies(case) and case.world.text("draft-model.mixed-in-v2") == "left to v1":
        return "draft models of another vocabulary"
    return "" if method in case.world.names("runner.v2-methods") else f"method {method}"


def mixed_vocabularies(case: Case) -> bool:
    """True if the command lets the draft model have a vocabulary of its own, in a release that knows the key."""
    value = case.request.speculative_config.get("use_heterogeneous_vocab")
    known = case.world.text("draft-model.mixed-vocabularies") != "no key"
    return known and value is not None and value.value is True


def _change(case: Case, runner: str, method: str | None) -> str:
    """What the choice changes: which lists of layer ids are read, or how many prediction layers run."""
    if method == "mtp":
        several = runner == "v2" and case.world.flag("mtp.modules-v2")
        return (
            "; prediction layers are run one after the other" if several else "; the first prediction layer alone runs"
        )
    if method == "dflash":
        dropped = runner == "v1" and "unless" in case.world.text("block.reading-v1")
        return "; an eagle_config in the drafter's config takes target_layer_ids away" if dropped else ""
    if method not in {"eagle3", None} or "capture.reading-v2" not in case.world.facts:
        return ""
    if case.world.text("capture.reading-v1") == "top":
        return ""
    if runner == "v2":
        return "; eagle_config.eagle_aux_hidden_state_layer_ids is not read there"
    return "; eagle_config.eagle_aux_hidden_state_layer_ids is read here, and not by V2"
